package trie

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomTraces returns traces; the traces of a page view are consecutive.
func randomTraces(r *rand.Rand) []*Trace {
	var out []*Trace
	marked := r.IntN(2) == 0
	for range r.IntN(20) {
		out = append(out, randomTrace(r.Uint64()))
		if t := out[len(out)-1]; r.IntN(3) > 0 { // with the stacks of the first one
			t.Trie = out[0].Trie
			for i := range t.Samples {
				t.Samples[i].Node = NodeID(r.IntN(len(t.Nodes)))
			}
		}
		if !marked {
			for i := range out[len(out)-1].Samples {
				out[len(out)-1].Samples[i].Marker = MarkerNone
			}
		}
	}
	order := map[string]int{}
	for i, n := range r.Perm(len(out)) {
		order[out[i].Context.ViewID] = n
	}
	slices.SortStableFunc(out, func(a, b *Trace) int {
		return cmp.Compare(order[a.Context.ViewID], order[b.Context.ViewID])
	})
	return out
}

// FuzzSet checks that a set returns its traces, and that merging sets equals merging single traces,
// wherever a list of traces is cut into sets.
func FuzzSet(f *testing.F) {
	for i := range uint64(500) {
		f.Add(i)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 9))
		traces := randomTraces(r)
		bySet, byTrace := NewMerger(), NewMerger()
		group := func(m *Merger, t *Trace, s Slice) int {
			if s.Page == "span1" {
				return -1
			}
			return m.Group(append(MakeLabels("page", s.Page, "release", t.Context.Release), s.Labels...).Sort())
		}
		for left := traces; len(left) > 0; {
			n := 1 + r.IntN(len(left))
			set := NewSet(left[:n])
			checkSet(t, set, left[:n])
			checkSet(t, set.Canonical(), left[:n])
			for i := range set.Traces {
				x := &set.Traces[i]
				bySet.AddTrace(x, func(s Slice) int { return group(bySet, x, s) })
			}
			if r.IntN(3) == 0 && n < len(left) { // one by one between sets
				x := left[n]
				bySet.AddTrace(x, func(s Slice) int { return group(bySet, x, s) })
				n++
			}
			left = left[n:]
		}
		for _, x := range traces {
			byTrace.AddTrace(x, func(s Slice) int { return group(byTrace, x, s) })
		}
		if !bySet.Profile().Equal(byTrace.Profile()) {
			t.Error("merging sets and merging single traces give different profiles")
		}
	})
}

func checkSet(t *testing.T, s *Set, traces []*Trace) {
	t.Helper()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	for i, x := range traces {
		got := s.Trace(i)
		if err := got.Validate(); err != nil {
			t.Fatal(err)
		}
		// A set merges equal nodes of a trace, like a set of only this trace.
		if want := NewSet([]*Trace{x}).Trace(0); !got.Equal(want) {
			t.Errorf("trace %d of %d changed", i, len(traces))
		}
		if distinctNodes(x) && !got.Equal(x) {
			t.Errorf("trace %d of %d, whose nodes are distinct, changed", i, len(traces))
		}
		if !got.Profile().Equal(x.Profile()) {
			t.Errorf("trace %d of %d has different weights", i, len(traces))
		}
	}
}

// distinctNodes reports whether no two nodes of t have the same parent and frame.
func distinctNodes(t *Trace) bool {
	type call struct {
		parent NodeID
		frame  Frame
	}
	seen := map[call]bool{}
	for _, n := range t.Nodes[1:] {
		c := call{n.Parent, t.FrameOf(n.Frame)}
		if seen[c] {
			return false
		}
		seen[c] = true
	}
	return true
}

// TestSetOfNothing checks a set without traces.
func TestSetOfNothing(t *testing.T) {
	s := NewSet(nil).Canonical()
	if len(s.Traces) != 0 {
		t.Errorf("%d traces", len(s.Traces))
	}
}

// TestSetOf checks that a trace belongs to a set as long as it uses the set's tables.
func TestSetOf(t *testing.T) {
	s := NewSet([]*Trace{randomTrace(1), randomTrace(2)})
	x := s.Traces[1]
	if x.Set() != s || s.Trace(1).Set() != nil || x.Canonical().Set() != nil || s.Canonical().Traces[1].Set() == s {
		t.Error("tables and set disagree")
	}
	x.Frames = append(slices.Clone(x.Frames), FrameRow{})
	if x.Set() != nil {
		t.Error("a trace with other frames belongs to the set")
	}
}
