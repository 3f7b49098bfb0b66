package rollup

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// wideTrace has n functions, each called by main and sampled once.
func wideTrace(view, prefix string, n int) *trie.Trace {
	t := &trie.Trace{Trie: *trie.New()}
	t.Context = trie.Context{Page: "/a", ViewID: view, Interval: 10_000}
	for i := range n {
		node := t.Insert(trie.Frame{Name: "main"}, trie.Frame{Name: fmt.Sprint(prefix, i)})
		t.Samples = append(t.Samples, trie.Sample{Time: int64(i) * 10_000, Node: node})
	}
	return t
}

// profileOf returns the data of a builder as one group, by the names on the stacks.
func profileOf(t *testing.T, b *Builder) (byStack map[string]trie.Weight, sum trie.Weight, views int64) {
	t.Helper()
	s := NewSum(func(trie.Labels) (trie.Labels, bool) { return nil, true })
	if err := s.Add(decoded(t, b, Whole), b.stacks); err != nil {
		t.Fatal(err)
	}
	p := s.Profile()
	byStack = map[string]trie.Weight{}
	for _, g := range p.Groups {
		for n, w := range g.Weights.All() {
			name := ""
			for a := range p.Trie.Stack(n) {
				name = p.Trie.Frame(a).Name + "/" + name
			}
			byStack[name] = w
			sum.Self += w.Self
			sum.Samples += w.Samples
		}
	}
	return byStack, sum, p.Views
}

// Before and after a flood of stacks that no two page views share, no stack of the site's own views
// is folded into (other).
func TestFloodOfStacks(t *testing.T) {
	lim := Limits{Nodes: 1000}
	honest := func(b *Builder, from, n int) {
		for i := range n {
			addView(b, 1, wideTrace(fmt.Sprint("honest", from+i), "honest", 100))
		}
	}
	flood := func(b *Builder, from, n int) {
		for i := range n {
			addView(b, 1, wideTrace(fmt.Sprint("flood", from+i), fmt.Sprintf("flood%d_", from+i), 300))
		}
	}
	b := NewWholeBuilder("/a", lim)
	flood(b, 0, 7)
	honest(b, 0, 20)
	flood(b, 7, 20)
	honest(b, 20, 20)
	if n := len(b.stacks.Nodes); n > lim.Nodes {
		t.Errorf("%d stacks, want at most %d", n, lim.Nodes)
	}
	check := func(b *Builder, when string) {
		t.Helper()
		got, sum, views := profileOf(t, b)
		for i := range 100 {
			if w := got[fmt.Sprintf("main/honest%d/", i)]; w.Samples != 40 || w.Self != 40*10_000 || w.Reach != 40 {
				t.Fatalf("%s: honest %d has %+v, want all of 40 views", when, i, w)
			}
		}
		if want := int64(27*300 + 40*100); sum.Samples != want || sum.Self != want*10_000 || views != 67 {
			t.Errorf("%s: %+v in %d views, want %d samples in 67", when, sum, views, want)
		}
		if other := got["main/(other)/"]; other.Samples == 0 || other.Reach > 27 {
			t.Errorf("%s: the others have %+v", when, other)
		}
	}
	check(b, "from traces")
	// The same with records whose table exceeds the limit.
	table := trie.New()
	all := NewWholeBuilder("/a", lim)
	for i := range 27 {
		x := NewBuilder("/a", table, Limits{})
		flood(x, i, 1)
		honest(x, i, 1)
		if i == 0 {
			honest(x, 27, 13)
		}
		all.AddRecord(decoded(t, x, Whole), table)
	}
	check(all, "from records")
	// And with a table that an earlier flood has filled.
	shared := trie.New()
	for i := range lim.Nodes + 10 {
		shared.Insert(trie.Frame{Name: fmt.Sprint("earlier", i)})
	}
	onto, err := b.Onto(shared)
	if err != nil {
		t.Fatal(err)
	}
	check(onto, "onto a full table")
	if n := len(shared.Nodes) - lim.Nodes - 11; n > lim.Nodes/sharedPart {
		t.Errorf("a full table has grown by %d stacks", n)
	}
}

// With any limit, nothing is lost: the sums, views and distributions are the same as in an
// unlimited builder.
func TestKeepLosesNothing(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 11))
		views := randomViews(r, 30)
		free := NewBuilder("/a", trie.New(), Limits{})
		b := NewWholeBuilder("/a", Limits{Nodes: 2 + r.IntN(40), Bytes: 20 + r.IntN(400)})
		for i, v := range views {
			addView(free, 1, v...)
			if i%3 == 0 && len(v) > 1 { // it grew
				addView(b, 1, v[0])
				addView(b, -1, v[0])
			}
			addView(b, 1, v...)
			if n := len(b.stacks.Nodes); n > b.lim.Nodes {
				t.Fatalf("seed %d: %d stacks, the most is %d", seed, n, b.lim.Nodes)
			}
		}
		_, want, wantViews := profileOf(t, free)
		got, sum, gotViews := profileOf(t, b)
		if sum != want || gotViews != wantViews {
			t.Fatalf("seed %d: %+v in %d views, want %+v in %d", seed, sum, gotViews, want, wantViews)
		}
		for stack, w := range got {
			if w.Reach > gotViews || w.Reach < 0 {
				t.Errorf("seed %d: %s has %+v of %d views", seed, stack, w, gotViews)
			}
		}
		a, c := decoded(t, free, Whole), decoded(t, b, Whole)
		var self, rest int64
		for _, f := range a.Functions {
			for i := range f.Of {
				self += f.Of[i].Self.Sum
			}
		}
		for _, f := range c.Functions {
			rest += f.Rest.Self
			for i := range f.Of {
				rest += f.Of[i].Self.Sum
			}
		}
		if self != rest || len(a.Distributions) != len(c.Distributions) {
			t.Errorf("seed %d: functions have %d µs, want %d; %d distributions, want %d", seed, rest, self,
				len(c.Distributions), len(a.Distributions))
		}
		for i := range a.Distributions {
			if a.Distributions[i].Time.Sum != c.Distributions[i].Time.Sum {
				t.Errorf("seed %d: distribution %d differs", seed, i)
			}
		}
	}
}
