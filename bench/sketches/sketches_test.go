// Package sketches measures the histograms of rollups beside DDSketch, at the same
// accuracy: rollups need sums that are exact in any order, and views that can be taken out
// again, so it is about what that costs.
package sketches

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/DataDog/sketches-go/ddsketch"
	"google.golang.org/protobuf/proto"

	"github.com/fieldtrie/fieldtrie/rollup"
	"github.com/fieldtrie/fieldtrie/trie"
)

// values are times of page views in µs: log-normal, with a median of 0.4 s.
func values(n int) []int64 {
	r := rand.New(rand.NewPCG(1, 1))
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(math.Exp(r.NormFloat64()*1.1) * 400_000)
	}
	return out
}

func newDD(tb testing.TB) *ddsketch.DDSketch {
	s, err := ddsketch.NewDefaultDDSketch(0.016)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// ownSize returns the bytes of a stored histogram, beside what one of one value takes.
func ownSize(vs []int64) float64 {
	encode := func(vs []int64) int {
		b := rollup.NewBuilder("/a", trie.New(), rollup.Limits{})
		for _, v := range vs {
			t := &trie.Trace{Trie: *trie.New(), Gapless: true, End: v}
			t.Context.Page = "/a"
			t.Samples = []trie.Sample{{Node: t.Insert(trie.Frame{Name: "f"})}}
			b.Begin(1)
			b.Add(t)
			b.End()
		}
		// Views are in the distribution of the page, and twice in that of their function;
		// long tasks are the same times again.
		return len(b.Encode(rollup.Whole, true))
	}
	return float64(encode(vs)-encode(vs[:1])) / 4
}

func BenchmarkSize(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		vs := values(n)
		s := newDD(b)
		for _, v := range vs {
			_ = s.Add(float64(v))
		}
		data, err := proto.Marshal(s.ToProto())
		if err != nil {
			b.Fatal(err)
		}
		name := map[int]string{100: "100", 10_000: "10000"}[n]
		b.Run("rollup/"+name, func(b *testing.B) { b.ReportMetric(ownSize(vs), "bytes") })
		b.Run("ddsketch/"+name, func(b *testing.B) { b.ReportMetric(float64(len(data)), "bytes") })
	}
}

func BenchmarkAdd(b *testing.B) {
	vs := values(1 << 12)
	b.Run("rollup", func(b *testing.B) {
		var h rollup.Histogram
		for i := 0; b.Loop(); i++ {
			h.Add(vs[i%len(vs)], 1)
		}
	})
	b.Run("ddsketch", func(b *testing.B) {
		s := newDD(b)
		for i := 0; b.Loop(); i++ {
			_ = s.Add(float64(vs[i%len(vs)]))
		}
	})
}

func BenchmarkMerge(b *testing.B) {
	vs := values(1000)
	b.Run("rollup", func(b *testing.B) {
		var from rollup.Histogram
		for _, v := range vs {
			from.Add(v, 1)
		}
		for b.Loop() {
			var to rollup.Histogram
			to.AddAll(&from)
			to.AddAll(&from)
		}
	})
	b.Run("ddsketch", func(b *testing.B) {
		from := newDD(b)
		for _, v := range vs {
			_ = from.Add(float64(v))
		}
		for b.Loop() {
			to := newDD(b)
			_ = to.MergeWith(from)
			_ = to.MergeWith(from)
		}
	})
}

// BenchmarkQuantile reports the largest error of some quantiles, relative to the value.
func BenchmarkQuantile(b *testing.B) {
	vs := values(20_000)
	sorted := slices.Clone(vs)
	var h rollup.Histogram
	s := newDD(b)
	for _, v := range vs {
		h.Add(v, 1)
		_ = s.Add(float64(v))
	}
	slices.Sort(sorted)
	worst := func(quantile func(float64) float64) (worst float64) {
		for q := 0.01; q < 1; q += 0.01 {
			want := float64(sorted[int(q*float64(len(sorted)-1))])
			worst = max(worst, math.Abs(quantile(q)-want)/want)
		}
		return worst
	}
	b.Run("rollup", func(b *testing.B) { b.ReportMetric(100*worst(h.Quantile), "%-error") })
	b.Run("ddsketch", func(b *testing.B) {
		b.ReportMetric(100*worst(func(q float64) float64 { v, _ := s.GetValueAtQuantile(q); return v }), "%-error")
	})
}
