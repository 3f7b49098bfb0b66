package rollup

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Products are those of single page views, each in a record of its own.
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
			times[of.Release] = *of.Views
			for i := range of.Of {
				got[key{of.Release, sum.stacks.FrameOf(of.Of[i].Frame)}] = of.Of[i].Product()
			}
		}
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(times, wantTimes) {
			t.Fatalf("seed %d: got %v of %v, want %v of %v", seed, got, times, want, wantTimes)
		}
	}
}

// weightWithoutOwn returns all self time but that of the profiling script.
func (r *Record) weightWithoutOwn(stacks *trie.Trie) (sum int64) {
	r.EachWeight(func(_ int, n trie.NodeID, self, _ int64) {
		if n == trie.Root || stacks.Frame(n).Name != trie.FrameFieldtrie {
			sum += self
		}
	})
	return sum
}

// oldViews are the page views of the records in testdata, which older versions of this package wrote.
func oldViews() [][]*trie.Trace { return randomViews(rand.New(rand.NewPCG(32, 1)), 20) }

// Records of older versions say all that they did, and nothing of what they do not know.
func TestOlderVersions(t *testing.T) {
	for version, vitals := range map[byte]int{1: 0, 2: 9} {
		now := buildVitals(randomVitals(rand.New(rand.NewPCG(32, 2)), vitals))
		for _, v := range oldViews() {
			addView(now, 1, v...)
		}
		data, err := os.ReadFile(filepath.Join("testdata", "record-"+string('0'+version)))
		if err != nil {
			t.Fatal(err)
		}
		old, err := Decode(data, now.stacks)
		if err != nil {
			t.Fatal(err)
		}
		if data[0] != version {
			t.Fatalf("version %d, want %d", data[0], version)
		}
		want := decoded(t, now, Whole)
		for i := range want.Functions {
			of := &want.Functions[i]
			of.Views = nil
			for k := range of.Of {
				of.Of[k].beside = product{}
			}
		}
		if !reflect.DeepEqual(old.Functions, want.Functions) || !reflect.DeepEqual(old.Vitals, want.Vitals) || !reflect.DeepEqual(old.Distributions, want.Distributions) {
			t.Errorf("version %d: got %+v, want %+v", version, old, want)
		}
		// What samples are missing for is an estimate by the share of what was sampled.
		self, estimated := make([]float64, len(old.Cells)), 0
		old.EachWeight(func(c int, _ trie.NodeID, us, _ int64) { self[c] += float64(us) })
		for i, c := range old.Cells {
			if want := self[i] / (self[i] + float64(c.Stackless)) * float64(c.Unsampled); self[i] > 0 && math.Abs(float64(c.Likely)-want) > 1 {
				t.Errorf("version %d: %d µs are likely missing, want %g", version, c.Likely, want)
			}
			if c.Likely > 0 {
				estimated++
			}
		}
		if estimated == 0 {
			t.Errorf("version %d: nothing is estimated", version)
		}
		// The sum of an old and a new one knows no products, in either order.
		var sums [][]byte
		for _, order := range [][]*Record{{old, decoded(t, now, Whole)}, {decoded(t, now, Whole), old}} {
			b := NewBuilder("/a", now.stacks, Limits{})
			for _, rec := range order {
				b.AddRecord(rec, now.stacks)
			}
			for _, of := range decoded(t, b, Whole).Functions {
				if of.Views != nil {
					t.Errorf("version %d: %q knows %+v", version, of.Release, *of.Views)
				}
			}
			sums = append(sums, b.Encode(Whole, true))
		}
		if !bytes.Equal(sums[0], sums[1]) {
			t.Errorf("version %d: the order of adding matters", version)
		}
	}
}
