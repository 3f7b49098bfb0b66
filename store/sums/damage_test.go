package sums

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func wantDamage(tb testing.TB, err error) {
	tb.Helper()
	if !errors.Is(err, ErrDamaged) {
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
	id := identity{Hours, minutes(aDay)}
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

// What is damaged within is found out by what reads it, and is not copied into a new file.
func TestEditDamaged(t *testing.T) {
	dir := t.TempDir()
	data, want := smallFile(t)
	path := filepath.Join(dir, Hours.Name(aDay))
	f, err := NewFile(bytes.NewReader(data), int64(len(data)), "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	last := f.index.runs[len(f.index.runs)-1]
	data[last.offset+last.length-1] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	s := load(t, dir, nil)
	w, sum := randomHour(t, rand.New(rand.NewPCG(1, 1)), s, newContents(), Hours, hourStart(9), 1)
	_, err = w.Commit(sum)
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
