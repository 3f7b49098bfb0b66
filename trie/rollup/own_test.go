package rollup

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// The time of page views equals the time of the same traces with the script's samples without a
// stack.
func TestOwn(t *testing.T) {
	samples := 0
	for seed := range uint64(60) {
		views := scriptedViews(randomViews(rand.New(rand.NewPCG(seed, 41)), 12))
		for _, set := range []bool{false, true} {
			if set {
				views = inSets(rand.New(rand.NewPCG(seed, 42)), views)
			}
			with, without := NewBuilder("/a", trie.New(), Limits{}), NewBuilder("/a", trie.New(), Limits{})
			for _, v := range views {
				addView(with, 1, v...)
				var silent []*trie.Trace
				for _, tr := range v {
					x := *tr
					x.Samples = append([]trie.Sample{}, tr.Samples...)
					for i := range x.Samples {
						// The browser's own work, on top of a stack and with its own time.
						s := &x.Samples[i]
						if s.Node != trie.Root && s.OnTop() == (trie.Frame{}) &&
							tr.Frame(s.Node).Name == trie.FrameFieldtrie {
							s.Node, s.Marker = trie.Root, trie.MarkerNone
							samples++
						}
					}
					silent = append(silent, &x)
				}
				addView(without, 1, silent...)
			}
			got, want := decoded(t, with, Whole), decoded(t, without, Whole)
			if len(got.Distributions) != len(want.Distributions) {
				t.Fatalf("seed %d: %d distributions, want %d", seed, len(got.Distributions), len(want.Distributions))
			}
			for i := range got.Distributions {
				x, y := got.Distributions[i], want.Distributions[i]
				if !reflect.DeepEqual(x.Labels, y.Labels) || !reflect.DeepEqual(x.Time, y.Time) ||
					x.Long.Sum > x.Time.Sum || x.Long.Sum < y.Long.Sum {
					t.Fatalf("seed %d: got %+v, want the time of %+v", seed, x, y)
				}
			}
		}
	}
	if samples < 100 {
		t.Errorf("%d samples of the script", samples)
	}
}

// scripted returns t with the functions of a line replaced by the profiling script.
func scripted(t *trie.Trace) *trie.Trace {
	return t.Coalesce(func(f trie.Frame) trie.Frame {
		if f.Line == 3 {
			return trie.Frame{Name: trie.FrameFieldtrie}
		}
		return f
	})
}

func scriptedViews(views [][]*trie.Trace) [][]*trie.Trace {
	for _, v := range views {
		for i := range v {
			v[i] = scripted(v[i])
		}
	}
	return views
}
