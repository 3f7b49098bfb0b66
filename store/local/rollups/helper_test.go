package rollups

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// contents is what a file has, as plain maps.
type contents struct {
	sums   []Sum
	pages  map[string]pageContents
	counts map[uint32][]entry // by start
}

type pageContents struct {
	stacks []byte // all of the table
	hours  map[uint32]hourContents
}

type hourContents struct {
	expected uint64
	records  [levels][]byte
}

func newContents() *contents {
	return &contents{pages: map[string]pageContents{}, counts: map[uint32][]entry{}}
}

// clone returns a copy that can be changed.
func (c *contents) clone() *contents {
	out := newContents()
	out.sums = slices.Clone(c.sums)
	for page, p := range c.pages {
		hours := map[uint32]hourContents{}
		for start, h := range p.hours {
			hours[start] = h
		}
		out.pages[page] = pageContents{p.stacks, hours}
	}
	for start, entries := range c.counts {
		out.counts[start] = entries
	}
	return out
}

// begin says that what there is of start is replaced.
func (c *contents) begin(s Sum) {
	c.sums = withSum(c.sums, s)
	delete(c.counts, s.Start)
	for _, p := range c.pages {
		delete(p.hours, s.Start)
	}
}

// end forgets pages that have nothing left.
func (c *contents) end() {
	for page, p := range c.pages {
		if len(p.hours) == 0 {
			delete(c.pages, page)
		}
	}
}

// readAll reads all that a file has through its methods. Damage is counted, and what it hit
// is left out; any other error ends the test.
func readAll(tb testing.TB, f *File) (c *contents, damaged int) {
	tb.Helper()
	bad := func(err error) bool {
		if err == nil {
			return false
		}
		wantDamage(tb, err)
		damaged++
		return true
	}
	c = newContents()
	c.sums = f.Sums()
	for _, s := range c.sums {
		var entries []entry
		if !bad(f.Counts(s.Start, func(page string, t store.Tag, n Count) { entries = append(entries, entry{page, t, n}) })) && entries != nil {
			c.counts[s.Start] = entries
		}
	}
	for page := range f.Pages() {
		p := pageContents{hours: map[uint32]hourContents{}}
		stacks, err := f.Stacks(page)
		if bad(err) {
			continue
		}
		p.stacks = rollup.EncodeStacks(stacks, rollup.SizeOf(trie.New()))
		for _, s := range c.sums {
			var h hourContents
			h.expected, err = f.Expected(page, s.Start)
			if bad(err) {
				continue
			}
			for level := range h.records {
				rec, n, err := f.Record(page, s.Start, rollup.Level(level), stacks)
				if bad(err) || rec == nil {
					continue
				}
				h.records[level], err = f.readRecord(place{kind: kindRecord + kind(level), page: page, start: s.Start}, rollup.Level(level))
				if err != nil || len(h.records[level]) != n || rec.Level != rollup.Level(level) {
					tb.Fatalf("record of %q, %v: got %d bytes of level %d, %v; want %d of level %d", page, s, len(h.records[level]), rec.Level, err, n, level)
				}
			}
			if h.expected > 0 {
				p.hours[s.Start] = h
			}
		}
		c.pages[page] = p
	}
	return c, damaged
}

// wantContents fails unless f has what want has.
func wantContents(tb testing.TB, f *File, want *contents) {
	tb.Helper()
	got, damaged := readAll(tb, f)
	if damaged > 0 || !reflect.DeepEqual(got, want) {
		tb.Fatalf("%s: %d damaged\ngot  %s\nwant %s", f.Name(), damaged, got, want)
	}
	if err := f.Check(); err != nil {
		tb.Fatalf("check: %v", err)
	}
}

func (c *contents) String() string {
	out := fmt.Sprint(c.sums)
	for _, page := range slices.Sorted(func(yield func(string) bool) {
		for page := range c.pages {
			if !yield(page) {
				return
			}
		}
	}) {
		p := c.pages[page]
		out += fmt.Sprintf("\n  %q stacks %d bytes", page, len(p.stacks))
		for _, s := range c.sums {
			if h, ok := p.hours[s.Start]; ok {
				out += fmt.Sprintf(", %d: %d traces %d+%d+%d bytes", s.Start, h.expected, len(h.records[0]), len(h.records[1]), len(h.records[2]))
			}
		}
	}
	for _, s := range c.sums {
		out += fmt.Sprintf("\n  %d counts: %v", s.Start, c.counts[s.Start])
	}
	return out
}

// aDay is the start of what tests write.
var aDay = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// hourStart returns the start of an hour of aDay.
func hourStart(n int) uint32 { return Minutes(aDay) + uint32(60*n) }

// randomTrace returns a trace with some of the stacks that there are.
func randomTrace(r *rand.Rand, page string) *trie.Trace {
	t := &trie.Trace{Trie: *trie.New()}
	t.Context.Page, t.Context.ViewID, t.Context.Interval = page, fmt.Sprintf("view%012d", r.IntN(1e6)), 10_000
	t.Context.Release = []string{"r1", "r2"}[r.IntN(2)]
	t.Context.Labels = trie.MakeLabels("device", []string{"mobile-low", "desktop-high"}[r.IntN(2)], "phase", "load")
	time := int64(0)
	for range 1 + r.IntN(6) {
		var stack []trie.Frame
		for range 1 + r.IntN(4) {
			stack = append(stack, trie.Frame{Name: string(rune('a' + r.IntN(12))), Resource: "https://x.example/app.js", Line: 1})
		}
		t.Samples = append(t.Samples, trie.Sample{Time: time, Node: t.Insert(stack...)})
		time += int64(r.IntN(45_000))
	}
	return t
}

// put adds up traces of a page, and puts them into w and want.
func put(tb testing.TB, w *Writer, want *contents, page string, traces ...*trie.Trace) {
	tb.Helper()
	table, size, err := w.Stacks(page)
	if err != nil {
		tb.Fatal(err)
	}
	if got := rollup.SizeOf(table); got != size {
		tb.Fatalf("size of the stack table: got %v, want %v", size, got)
	}
	b := rollup.NewBuilder(page, table, rollup.Limits{})
	for _, t := range traces {
		b.Begin(1)
		b.Add(t)
		b.End()
	}
	h := hourContents{expected: uint64(len(traces))}
	for level := range h.records {
		h.records[level] = b.Encode(rollup.Level(level), true)
	}
	if err := w.Put(page, table, h.expected, h.records); err != nil {
		tb.Fatal(err)
	}
	p, ok := want.pages[page]
	if !ok {
		p.hours = map[uint32]hourContents{}
	}
	p.stacks = rollup.EncodeStacks(table, rollup.SizeOf(trie.New()))
	p.hours[w.sum.Start] = h
	want.pages[page] = p
}

// randomHour writes an hour of some pages to a file and to want. It does not commit.
func randomHour(tb testing.TB, r *rand.Rand, s *Shelf, want *contents, span Span, start uint32, pages int) (*Writer, Sum) {
	tb.Helper()
	sum := Sum{Start: start, First: int64(start) * 60e6, Last: int64(start)*60e6 + r.Int64N(1e9), Missing: uint64(r.IntN(3))}
	if span == Days {
		for i := range 1 + r.IntN(24) {
			sum.Sources = append(sum.Sources, start+uint32(60*i))
		}
	}
	w, err := s.Edit(span, start, sum.Sources...)
	if err != nil {
		tb.Fatal(err)
	}
	want.begin(sum)
	for i := range pages {
		if r.IntN(3) == 0 {
			continue
		}
		page := fmt.Sprintf("/page/%02d", i)
		var traces []*trie.Trace
		for range 1 + r.IntN(3) {
			traces = append(traces, randomTrace(r, page))
		}
		put(tb, w, want, page, traces...)
		sum.Traces += uint64(len(traces))
		tags := []store.Tag{{}, {Key: "browser", Value: "Chrome 156"}, {Key: "release", Value: "r1"}}
		for _, i := range r.Perm(len(tags)) {
			w.Count(page, tags[i], Count{Traces: uint64(len(traces)), First: sum.First, Last: sum.Last - int64(i)})
		}
		for i, t := range tags {
			want.counts[start] = append(want.counts[start], entry{page, t, Count{Traces: uint64(len(traces)), First: sum.First, Last: sum.Last - int64(i)}})
		}
	}
	want.sums = withSum(want.sums, sum)
	want.end()
	return w, sum
}

// load returns the files of sums in dir, of which all must be fine.
func load(tb testing.TB, dir string, c *Cache) *Shelf {
	tb.Helper()
	s, err := Load(dir, Options{Cache: c})
	if err != nil {
		tb.Fatal(err)
	}
	if len(s.Faulty()) > 0 {
		tb.Fatalf("faulty: %v", s.Faulty())
	}
	return s
}

func newCache(tb testing.TB) *Cache {
	tb.Helper()
	c, err := NewCache()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func commit(tb testing.TB, w *Writer, sum Sum) *File {
	tb.Helper()
	f, err := w.Commit(sum)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// resealed returns a trailer with the checksum that its bytes should have.
func resealed(end []byte) []byte {
	at := trailerSize - magicSize - 4
	binary.BigEndian.PutUint32(end[at:], crc32.Checksum(end[:at], castagnoli))
	return end
}
