package rollup

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Products equal the sum over single page views, each in its own record.
func TestProducts(t *testing.T) {
	type key struct {
		release string
		trie.Frame
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		views := scriptedViews(randomViews(r, 1+r.IntN(12)))
		got, want := map[key]float64{}, map[key]float64{}
		times, wantTimes := map[string]Moments{}, map[string]Moments{}
		for _, v := range views {
			one := NewBuilder("/a", trie.New(), Limits{})
			addView(one, 1, v...)
			rec := decoded(t, one, Whole)
			all := rec.weightWithoutOwn(one.stacks)
			for _, of := range rec.Functions {
				m := wantTimes[of.Release]
				m.Add(all, 1)
				wantTimes[of.Release] = m
				for i := range of.Of {
					beside, frame := float64(all), one.stacks.FrameOf(of.Of[i].Frame)
					if frame.Name == trie.FrameFieldtrie {
						beside = 0
					}
					want[key{of.Release, frame}] += float64(of.Of[i].Self.Sum) * beside
				}
			}
		}
		sum := inPieces(t, r, views)
		for _, of := range decoded(t, sum, Whole).Functions {
			times[of.Release] = of.Views
			for i := range of.Of {
				got[key{of.Release, sum.stacks.FrameOf(of.Of[i].Frame)}] = of.Of[i].Product()
			}
		}
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(times, wantTimes) {
			t.Fatalf("seed %d: got %v of %v, want %v of %v", seed, got, times, want, wantTimes)
		}
	}
}

// weightWithoutOwn returns all self time except the profiling script's.
func (r *Record) weightWithoutOwn(stacks *trie.Trie) (sum int64) {
	r.EachWeight(func(_ int, n trie.NodeID, self, _ int64) {
		if n == trie.Root || stacks.Frame(n).Name != trie.FrameFieldtrie {
			sum += self
		}
	})
	return sum
}
