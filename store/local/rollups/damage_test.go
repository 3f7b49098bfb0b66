package rollups

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

func wantDamage(tb testing.TB, err error) {
	tb.Helper()
	if !errors.Is(err, store.ErrDamaged) {
		tb.Fatalf("got error %v, want one about damage", err)
	}
}

// smallFile returns the bytes of a file with two hours and a few pages, and what it has.
func smallFile(tb testing.TB) ([]byte, *contents) {
	tb.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	dir, want := tb.TempDir(), newContents()
	s := load(tb, dir, nil)
	for i := range 2 {
		w, sum := randomHour(tb, r, s, want, Hours, hourStart(i), 4)
		commit(tb, w, sum)
	}
	data, err := os.ReadFile(filepath.Join(dir, Hours.Name(aDay)))
	if err != nil {
		tb.Fatal(err)
	}
	return data, want
}

// Whichever byte is another, it is told: by what reads it, and by Check. Nothing that can be
// read in spite of it is wrong.
func TestFlippedByte(t *testing.T) {
	data, want := smallFile(t)
	name := Hours.Name(aDay)
	told, whole := 0, 0
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= byte(1 + i%255)
		f, err := NewFile(bytes.NewReader(damaged), int64(len(damaged)), name, nil)
		if err != nil {
			wantDamage(t, err)
			continue
		}
		if err := f.Check(); err == nil {
			t.Fatalf("byte %d: nobody notices", i)
		} else {
			wantDamage(t, err)
		}
		got, n := readAll(t, f)
		if n > 0 {
			told++
		} else {
			whole++
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("byte %d:\ngot  %s\nwant %s", i, got, want)
			}
		}
		wantPart(t, got, want)
	}
	if header := len(appendHeader(nil, identity{}, want.sums)); whole != header || told == 0 {
		t.Errorf("got %d bytes that nothing reads but Check, want %d, those of the header", whole, header)
	}
}

// Ten thousand files, of each of which a stretch is random, zero, moved or gone: none is taken for
// whole, and nothing that can be read in spite of it is wrong.
func TestTenThousandDamages(t *testing.T) {
	data, want := smallFile(t)
	r := rand.New(rand.NewPCG(1, 10_000))
	times := 10_000
	if testing.Short() {
		times = 2_000
	}
	for n := range times {
		damaged := bytes.Clone(data)
		at := r.IntN(len(data))
		stretch := damaged[at:min(at+1+r.IntN(600), len(damaged))]
		switch r.IntN(4) {
		case 0:
			for i := range stretch {
				stretch[i] = byte(r.Uint32())
			}
		case 1:
			clear(stretch)
		case 2:
			copy(stretch, data[r.IntN(len(data)):])
		case 3:
			damaged = append(damaged[:at], damaged[at+len(stretch):]...)
		}
		if bytes.Equal(damaged, data) {
			continue
		}
		f, err := NewFile(bytes.NewReader(damaged), int64(len(damaged)), Hours.Name(aDay), nil)
		if err != nil {
			wantDamage(t, err)
			continue
		}
		if err := f.Check(); err == nil {
			t.Fatalf("damage %d at %d: nobody notices", n, at)
		}
		got, _ := readAll(t, f)
		wantPart(t, got, want)
	}
}

// wantPart fails if got has what want has not.
func wantPart(tb testing.TB, got, want *contents) {
	tb.Helper()
	if !reflect.DeepEqual(got.sums, want.sums) {
		tb.Fatalf("got sums %v, want %v", got.sums, want.sums)
	}
	for start, entries := range got.counts {
		if !reflect.DeepEqual(entries, want.counts[start]) {
			tb.Fatalf("got counts %v, want %v", entries, want.counts[start])
		}
	}
	for page, p := range got.pages {
		if !bytes.Equal(p.stacks, want.pages[page].stacks) {
			tb.Fatalf("got another stack table of %q", page)
		}
		for start, h := range p.hours {
			of := want.pages[page].hours[start]
			for level, record := range h.records {
				if h.expected != of.expected || record != nil && !bytes.Equal(record, of.records[level]) {
					tb.Fatalf("got another record of %q, %d, level %d", page, start, level)
				}
			}
		}
	}
}

// A file that was cut off anywhere is damaged, and nothing else.
func TestCutOff(t *testing.T) {
	data, _ := smallFile(t)
	for n := range data {
		_, err := NewFile(bytes.NewReader(data[:n]), int64(n), "x", nil)
		wantDamage(t, err)
	}
}

// A block of one page in the place of another is found out, although it is whole.
func TestSwappedBlocks(t *testing.T) {
	id := identity{Hours, Minutes(aDay)}
	places := []place{
		{kind: kindRecord, page: "/a", start: 1}, {kind: kindRecord, page: "/b", start: 1}, {kind: kindRecord, page: "/a", start: 2},
		{kind: kindRecord + 1, page: "/a", start: 1}, {kind: kindCounts, start: 1}, {kind: kindCounts, of: 1}, {kind: kindCounts, of: 1, start: 1},
	}
	seen := map[uint32]place{}
	for _, id := range []identity{id, {Days, id.start}, {Hours, id.start + 1440}} {
		for _, p := range places {
			sum := id.checksum(p, []byte("block"))
			if other, ok := seen[sum]; ok {
				t.Errorf("%v and %v have the same checksum", p, other)
			}
			seen[sum] = p
		}
	}
}

// openBytes opens a file that is in memory.
func openBytes(tb testing.TB, data []byte) *File {
	tb.Helper()
	f, err := NewFile(bytes.NewReader(data), int64(len(data)), "x", nil)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// spot is a byte of a file, and what of the file it damages.
type spot struct {
	at   int64
	page string // "" for the catalogue of hour
	kind kind
	hour uint32
}

// spots returns one byte of each block of f.
func spots(tb testing.TB, f *File) (out []spot) {
	tb.Helper()
	for _, r := range f.index.runs {
		_, d, err := f.readRun(r)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, spot{at: r.offset + 1, page: r.page, kind: kindDirectory})
		d.each(func(p place, l *located) error {
			out = append(out, spot{r.offset + l.offset + 1, r.page, p.kind, p.start})
			return nil
		})
	}
	for i, s := range f.index.sums {
		for _, c := range f.index.counts[i] {
			out = append(out, spot{c.offset + 1, "", kindCounts, s.Start})
		}
	}
	return out
}

// editDamaged writes hour 9 of some pages beside a file with one damaged byte. It returns the
// new file, what would be in it without the damage, and what the writer says.
func editDamaged(t *testing.T, data []byte, want *contents, at int64, pages ...string) (*File, *contents, []error) {
	t.Helper()
	dir, data, want := t.TempDir(), bytes.Clone(data), want.clone()
	data[at] ^= 1
	if err := os.WriteFile(filepath.Join(dir, Hours.Name(aDay)), data, 0o600); err != nil {
		t.Fatal(err)
	}
	s := load(t, dir, nil)
	w, err := s.Edit(Hours, hourStart(9))
	if err != nil {
		t.Fatal(err)
	}
	sum := Sum{Start: hourStart(9)}
	want.begin(sum)
	r := rand.New(rand.NewPCG(3, 3))
	for _, page := range pages {
		put(t, w, want, page, randomTrace(r, page), randomTrace(r, page))
		sum.Traces += 2
	}
	want.sums = withSum(want.sums, sum)
	f := commit(t, w, sum)
	return f, want, w.Damaged()
}

// wantTold fails unless all of want that f has not got is told: by an error about damage, or
// by a count of traces without the records.
func wantTold(t *testing.T, f *File, want *contents) (told int) {
	t.Helper()
	for _, s := range want.sums {
		var got []entry
		err := f.Counts(s.Start, func(page string, tag store.Tag, n Count) { got = append(got, entry{page, tag, n}) })
		if err != nil {
			wantDamage(t, err)
			told++
		} else if !reflect.DeepEqual(got, want.counts[s.Start]) {
			t.Errorf("got counts %v, want %v", got, want.counts[s.Start])
		}
	}
	for page, p := range want.pages {
		stacks, err := f.Stacks(page)
		if err != nil {
			wantDamage(t, err)
			told++
			continue
		}
		for start, h := range p.hours {
			if n, err := f.Expected(page, start); err != nil || n != h.expected {
				t.Errorf("traces of %q, %d: got %d, %v, want %d", page, start, n, err, h.expected)
			}
			for level, record := range h.records {
				rec, _, err := f.Record(page, start, rollup.Level(level), stacks)
				if err != nil {
					wantDamage(t, err)
				}
				if rec == nil {
					told++
					continue
				}
				at := place{kind: kindRecord + kind(level), page: page, start: start}
				if got, _ := f.readRecord(at, rollup.Level(level)); !bytes.Equal(got, record) {
					// Numbers of nodes differ in a table that was begun anew.
					t.Errorf("got another record of %q, %d, level %d", page, start, level)
				}
			}
		}
	}
	return told
}

// A file with a damaged block takes one more hour, whatever the block is of. All else goes
// on to be read, what is damaged goes on to be told, and the writer names it.
func TestEditDamaged(t *testing.T) {
	data, want := smallFile(t)
	f := openBytes(t, data)
	for _, x := range spots(t, f) {
		pages := []string{"/page/00a", "/page/99"} // beside those that there are
		got, want, damaged := editDamaged(t, data, want, x.at, pages...)
		if len(damaged) != 1 || !errors.Is(damaged[0], store.ErrDamaged) {
			t.Fatalf("%v: got damage %v, want one error", x, damaged)
		}
		if err := got.Check(); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%v: check of the new file: got %v, want damage", x, err)
		}
		if told := wantTold(t, got, want); told != 1 {
			t.Errorf("%v: got %d things that are damaged, want 1", x, told)
		}
	}
}

// A page whose table or directory is damaged gets a new table when it gets a new hour. Its
// old records are lost, and how many traces they had is not.
func TestTableBegunAnew(t *testing.T) {
	data, want := smallFile(t)
	f := openBytes(t, data)
	for _, x := range spots(t, f) {
		if x.page == "" {
			continue
		}
		got, want, damaged := editDamaged(t, data, want, x.at, x.page)
		if len(damaged) != 1 {
			t.Fatalf("%v: got damage %v, want one error", x, damaged)
		}
		lost := 1
		if x.kind == kindStacks || x.kind == kindDirectory {
			lost = 0
			for start, h := range want.pages[x.page].hours {
				for _, record := range h.records {
					if start != hourStart(9) && record != nil {
						lost++
					}
				}
			}
			if err := got.Check(); err != nil {
				t.Errorf("%v: check of the new file: %v", x, err)
			}
		}
		if told := wantTold(t, got, want); told != lost {
			t.Errorf("%v: got %d things that are lost, want %d", x, told, lost)
		}
	}
}

// Where the directory of a page and a catalogue are damaged, nobody knows how many traces of
// the page there were. One is the least that can be told.
func TestTableBegunAnewUncounted(t *testing.T) {
	data, want := smallFile(t)
	f := openBytes(t, data)
	run, start := f.index.runs[0], f.index.sums[0].Start
	data[f.index.counts[0][0].offset] ^= 1
	got, _, damaged := editDamaged(t, data, want, run.offset, run.page)
	if n, err := got.Expected(run.page, start); err != nil || n != 1 || len(damaged) != 2 {
		t.Errorf("got %d traces, %v, damage %v; want 1, and two errors", n, err, damaged)
	}
}

// A file that has become shorter while it is open can not be copied, and is set aside.
func TestEditCutOff(t *testing.T) {
	dir := t.TempDir()
	path, want := writeFile(t, dir, 2)
	s := load(t, dir, nil)
	if err := os.Truncate(path, headSize); err != nil {
		t.Fatal(err)
	}
	w, sum := randomHour(t, rand.New(rand.NewPCG(1, 1)), s, newContents(), Hours, hourStart(9), 0)
	_, err := w.Commit(sum)
	wantDamage(t, err)
	if err := s.SetAside(s.Files()[0], err); err != nil {
		t.Fatal(err)
	}
	if a := s.Aside(); len(a) != 1 || !reflect.DeepEqual(a[0].Sums, want.sums) || a[0].Reason != err.Error() || len(s.Files()) > 0 {
		t.Errorf("got aside %v, want %s with sums %v and reason %v", a, path, want.sums, err)
	}
	next := newContents()
	w, sum = randomHour(t, rand.New(rand.NewPCG(1, 1)), s, next, Hours, hourStart(9), 3)
	wantContents(t, commit(t, w, sum), next)
}
