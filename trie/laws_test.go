package trie

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The fuzzer's input is seeds, so a failure is described by a few numbers.
func addSeeds(f *testing.F) {
	for i := range uint64(60) {
		f.Add(3*i, 3*i+1, 3*i+2)
	}
}

func FuzzMergeLaws(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, x, y, z uint64) {
		a, b, c := randomProfile(x), randomProfile(y), randomProfile(z)
		before := a.Canonical()
		equal := func(law string, got, want *Profile) {
			t.Helper()
			if err := got.Validate(); err != nil {
				t.Errorf("%s: %v", law, err)
			}
			if !got.Equal(want) {
				t.Errorf("merge is not %s", law)
			}
		}
		equal("commutative", Merge(a, b), Merge(b, a))
		equal("associative", Merge(Merge(a, b), c), Merge(a, Merge(b, c)))
		equal("one with its identity", Merge(a, NewProfile()), a)
		equal("undone by subtraction", Subtract(Merge(a, b), b), a)
		equal("commuting with coalescing", Merge(a, b).Coalesce(nil), Merge(a.Coalesce(nil), b.Coalesce(nil)))
		equal("unchanged by coalescing again", Merge(a, b).Coalesce(nil).Coalesce(nil),
			Merge(a, b).Coalesce(nil))
		if !before.Equal(a) {
			t.Errorf("merge changed its input")
		}
		if got, want := selfSum(Merge(a, b)), selfSum(a)+selfSum(b); got != want {
			t.Errorf("total of merge %d µs, of its inputs %d µs", got, want)
		}
	})
}

func selfSum(p *Profile) (sum int64) {
	for i := range p.Groups {
		self, _ := p.Groups[i].Sum()
		sum += self
	}
	return sum
}

// FuzzSlices cuts traces at random spans: the merged slices equal the complete trace.
func FuzzSlices(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, x, _, _ uint64) {
		trace := randomTrace(x)
		if err := trace.Validate(); err != nil {
			t.Fatal(err)
		}
		checkSlices(t, trace)
		whole := trace.Profile()
		cut := NewMerger()
		cut.AddTrace(trace, func(s Slice) int {
			labels := append(Labels{{"page", s.Page}}, s.Labels...)
			for _, f := range s.Features {
				labels = append(labels, Label{"feature", f})
			}
			return cut.Group(labels.Sort())
		})
		a, ca := whole.Canonical(), Coverage{}
		b := Merge(cut.Profile()).withoutLabels().Canonical()
		wa, ca := a.Flat()
		wb, cb := b.Flat()
		if !a.equalTables(&b.Trie) {
			t.Fatal("the slices have different stacks from the complete trace")
		}
		for n := range wa {
			if wa[n].Self != wb[n].Self || wa[n].Samples != wb[n].Samples {
				t.Errorf("node %d: complete %+v, slices %+v", n, wa[n], wb[n])
			}
			if wb[n].Reach < wa[n].Reach {
				t.Errorf("node %d: the view reached it in no slice", n)
			}
		}
		if ca != cb {
			t.Errorf("complete %+v, slices %+v", ca, cb)
		}
		if ca.Idle > ca.Stackless {
			t.Errorf("more idle than stackless time: %+v", ca)
		}
		if n := len(trace.Samples); n > 0 {
			span := trace.Samples[n-1].Time - trace.Samples[0].Time + int64(trace.Context.Interval)
			if got := selfSum(whole) + ca.Stackless + ca.Unsampled; got != span {
				t.Errorf("weights sum to %d µs, the trace spans %d µs", got, span)
			}
		}
	})
}

// checkSlices checks that the slices of a trace cover all time, that each differs from the previous
// one, and, for each moment, its page, features and labels.
func checkSlices(t *testing.T, trace *Trace) {
	t.Helper()
	end := int64(math.MinInt64)
	for i, s := range trace.Slices() {
		if s.Start != end || s.End <= s.Start {
			t.Errorf("slice %d: from %d to %d after %d", i, s.Start, s.End, end)
		}
		end = s.End
		if i > 0 {
			last := trace.Slices()[i-1]
			if last.Start, last.End = s.Start, s.End; reflect.DeepEqual(last, s) {
				t.Errorf("slice %d equals the previous one", i)
			}
		}
		for _, moment := range []int64{s.Start, s.End - 1} {
			page, features, labels := trace.Context.Page, map[string]bool{}, map[string]string{}
			for _, x := range trace.Context.Spans {
				if moment < x.Start || moment >= x.End() {
					continue
				}
				switch key, value, _ := strings.Cut(x.Name, "="); x.Kind {
				case SpanPage:
					page = x.Name
				case SpanFeature:
					features[x.Name] = true
				case SpanLabel:
					labels[key] = value
				}
			}
			same := s.Page == page && len(s.Features) == len(features) && len(s.Labels) == len(labels)
			for _, l := range s.Labels {
				same = same && labels[l.Key] == l.Value
			}
			for _, f := range s.Features {
				same = same && features[f]
			}
			if !same || s.Labels.validate() != nil || !slices.IsSorted(s.Features) {
				t.Errorf("slice %d: got %+v, want %s, %v, %v", i, s, page, features, labels)
			}
		}
	}
	if end != math.MaxInt64 {
		t.Errorf("the slices end at %d", end)
	}
}

// withoutLabels folds all groups into one.
func (p *Profile) withoutLabels() *Profile {
	out := &Profile{Trie: p.Trie, Views: p.Views, Traces: p.Traces}
	w, c := p.Flat()
	for n := range w {
		out.Add(nil, NodeID(n), w[n])
	}
	out.Group(nil).Coverage = c
	return out
}

func FuzzPrune(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, x, y, n uint64) {
		p := Merge(randomProfile(x), randomProfile(y))
		most := int(n % 20)
		pruned := p.Prune(most)
		if err := pruned.Validate(); err != nil {
			t.Fatal(err)
		}
		if got, want := selfSum(pruned), selfSum(p); got != want {
			t.Errorf("total %d µs after pruning, %d µs before", got, want)
		}
		if got := 1 + 2*most + 1; len(pruned.Nodes) > got {
			t.Errorf("%d nodes, want at most %d and one (other) each", len(pruned.Nodes), most)
		}
		if !p.Prune(len(p.Nodes)).Equal(p) {
			t.Error("pruning to all nodes changed the profile")
		}
	})
}

func FuzzCanonical(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, x, y, _ uint64) {
		trace := randomTrace(x)
		c := trace.Canonical()
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		if !c.equalTables(&c.Canonical().Trie) {
			t.Error("the canonical form of a trace is not its own canonical form")
		}
		frames := map[Frame]bool{}
		for i := range c.Frames {
			f := c.FrameOf(FrameID(i))
			if frames[f] {
				t.Errorf("frame %d, %v, occurs twice", i, f)
			}
			frames[f] = true
		}
		if !c.Equal(trace) {
			t.Error("the canonical trace differs")
		}
		if !c.Profile().Equal(trace.Profile()) {
			t.Error("the canonical trace has different weights")
		}
		p := randomProfile(y)
		walked := p.Canonical()
		next := NodeID(1)
		for n, depth := range walked.Preorder() {
			if n != next {
				t.Fatalf("node %d where preorder has %d", n, next)
			}
			if int(walked.Depths()[n]) != depth {
				t.Fatalf("node %d: depth %d, walked at %d", n, walked.Depths()[n], depth)
			}
			next++
		}
		var sorted = slices.IsSortedFunc(walked.Groups, func(a, b Group) int {
			return bytes.Compare(a.Labels.appendKey(nil), b.Labels.appendKey(nil))
		})
		if len(walked.Groups) > 0 && walked.Groups[0].Labels == nil && !sorted {
			t.Error("groups are not sorted")
		}
	})
}
