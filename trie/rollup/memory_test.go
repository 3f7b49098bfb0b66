package rollup

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Views with many functions of many releases, with each stack under many labels, use the most
// memory.
func TestMemoryIsBounded(t *testing.T) {
	lim := Limits{AllFunctions: 1000, Memory: 1 << 20}
	b := NewBuilder("/a", trie.New(), lim)
	var self, samples, most int64
	for n := range 60 {
		tr := &trie.Trace{Trie: *trie.New()}
		tr.Context = trie.Context{Page: "/a", ViewID: fmt.Sprint(n), Release: fmt.Sprint("r", n), Interval: 10_000}
		for i := range 400 {
			node := tr.Insert(trie.Frame{Name: "main"}, trie.Frame{Name: fmt.Sprint("f", i)})
			tr.Samples = append(tr.Samples, trie.Sample{Time: int64(i) * 10_000, Node: node})
		}
		for k := range int64(40) {
			tr.Context.Spans = append(tr.Context.Spans, trie.Span{Kind: trie.SpanFeature, Name: fmt.Sprint("f", n, k),
				Start: k * 100_000, Length: 100_000})
		}
		trie.SortSpans(tr.Context.Spans)
		addView(b, 1, tr)
		most = max(most, int64(b.weights.size+b.reach.size))
	}
	// One view more than the limit, and the rows of (other).
	if most > int64(lim.Memory)+1<<19 {
		t.Errorf("rows take %d bytes, want about %d at most", most, lim.Memory)
	}
	if b.told > lim.AllFunctions {
		t.Errorf("%d functions, want at most %d", b.told, lim.AllFunctions)
	}
	rec := decoded(t, b, Whole)
	functions, rest := 0, Rest{}
	for _, f := range rec.Functions {
		functions += len(f.Of)
		rest.Add(f.Rest)
		for _, x := range f.Of {
			rest.Self += x.Self.Sum
		}
	}
	s := NewSum(func(trie.Labels) (trie.Labels, bool) { return nil, true })
	s.Add(rec, b.stacks)
	p := s.Profile()
	self, samples = p.Groups[0].Sum()
	if p.Views != 60 || samples != 60*400 || rest.Self != self || functions > lim.AllFunctions {
		t.Errorf("%d views, %d samples, %d µs, %d µs by functions, of which there are %d", p.Views, samples, self,
			rest.Self, functions)
	}
	if rec.Folded([]string{KeyFeature}) == 0 || rec.Folded([]string{KeyFeature}) == 60 {
		t.Errorf("%d of 60 views lost their features", rec.Folded([]string{KeyFeature}))
	}
	// The heaviest function is kept, even if it was added late.
	heavy := &trie.Trace{Trie: *trie.New(), Context: trie.Context{Page: "/a", ViewID: "heavy", Release: "r1",
		Interval: 10_000}}
	node := heavy.Insert(trie.Frame{Name: "heavy"})
	for i := range int64(50) {
		heavy.Samples = append(heavy.Samples, trie.Sample{Time: i * 10_000, Node: node})
	}
	addView(b, 1, heavy)
	for n := range 3 {
		tr := smallTrace(rand.New(rand.NewPCG(1, uint64(n))), "x", 0)
		for i := range 400 {
			tr.Samples = append(tr.Samples, trie.Sample{Time: int64(i+2) * 10_000,
				Node: tr.Insert(trie.Frame{Name: fmt.Sprint("g", n, i)})})
		}
		addView(b, 1, tr)
	}
	found := false
	for _, f := range decoded(t, b, Whole).Functions {
		for _, x := range f.Of {
			found = found || f.Release == "r1" && b.stacks.FrameOf(x.Frame).Name == "heavy" && x.Self.Sum == 500_000
		}
	}
	if !found {
		t.Error("the heaviest function is among the rest")
	}
}

// If a record would exceed the limit of a sum, adding stops in the middle of the record.
func TestSumStopsInTime(t *testing.T) {
	b := NewBuilder("/a", trie.New(), Limits{})
	for n := range 40 {
		tr := &trie.Trace{Trie: *trie.New()}
		tr.Context = trie.Context{Page: "/a", ViewID: fmt.Sprint(n), Release: fmt.Sprint("r", n), Interval: 10_000}
		for i := range 3000 {
			tr.Samples = append(tr.Samples, trie.Sample{Time: int64(i) * 10_000,
				Node: tr.Insert(trie.Frame{Name: fmt.Sprint("f", n, i)})})
		}
		addView(b, 1, tr)
	}
	rec := decoded(t, b, Wide)
	sum := func(most int) (asked int, err error) {
		s := NewSum(func(l trie.Labels) (trie.Labels, bool) { return l, true })
		s.Bound(func(size int) error {
			if asked = max(asked, size); size > most {
				return fmt.Errorf("%d bytes", size)
			}
			return nil
		})
		err = s.Add(rec, b.stacks)
		if again := s.Add(rec, b.stacks); err != nil && again == nil {
			t.Error("a sum that exceeded its limit accepts more records")
		}
		return asked, err
	}
	whole, err := sum(1 << 30)
	if err != nil || whole < 5<<19 {
		t.Fatalf("the sum takes %d bytes, %v", whole, err)
	}
	if asked, err := sum(1 << 19); err == nil || asked > 2<<20 {
		t.Errorf("allocated %d bytes, %v, where 512 KiB are allowed", asked, err)
	}
}
