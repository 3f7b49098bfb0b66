package query

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
)

// leastNotExceeded is the definition of percentiles: the smallest value that at least a share of
// all values does not exceed.
func leastNotExceeded(values []float64, share float64) float64 {
	best := math.Inf(1)
	for _, v := range values {
		not := 0
		for _, x := range values {
			if x <= v {
				not++
			}
		}
		if float64(not) >= share*float64(len(values))-1e-6 {
			best = min(best, v)
		}
	}
	return best
}

// The time series, the table, the histogram and the list of page views agree on percentiles: the
// list exactly, the others to the width of a histogram bucket.
func TestPercentilesAreOfOneRule(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, n := range []int{1, 2, 3, 4, 7, 20, 36, 41} {
		now := fixture.Noon.Truncate(time.Hour)
		s := storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})
		var times []float64
		for view := range n {
			ms := 10 * (1 + r.IntN(200))
			times = append(times, float64(ms))
			fixture.AppendView(t, s, fixture.ViewTrace(r, view, ms))
		}
		now = now.Add(time.Minute)
		s.RollUp(t.Context())
		l, sel := Local{Reader: s}, selection.Selection{Page: "/feed", Since: now.Add(-time.Hour)}
		views, err := l.Views(t.Context(), ViewsQuery{Selection: sel})
		if err != nil {
			t.Fatal(err)
		}
		report, err := l.Report(t.Context(), sel)
		if err != nil {
			t.Fatal(err)
		}
		spreads := []Spread{report.Pages[0].Time}
		var bars []HistogramBar
		for _, step := range []time.Duration{0, time.Hour, time.Minute} {
			series, err := l.Series(t.Context(), SeriesQuery{Selection: sel, Step: step, Histogram: true})
			if err != nil {
				t.Fatal(err)
			}
			point := series.Groups[0].Points[0]
			spreads, bars = append(spreads, *point.Spread), point.Histogram
		}
		for i, share := range defaultQuantiles() {
			want := leastNotExceeded(times, share)
			if got := views.List[i].Time; math.Abs(got-want) > 1e-6 {
				t.Errorf("%d views: the page view at %g has %g ms, want %g", n, share, got, want)
			}
			bar := slices.IndexFunc(bars, func(b HistogramBar) bool { return b.Low <= want && want < b.High })
			for _, x := range spreads {
				if got := []Estimate{x.P50, x.P75, x.P95}[i].Value; bar < 0 || got < bars[bar].Low ||
					got >= bars[bar].High {
					t.Errorf("%d views: quantile %g is %g ms, want a value in the bucket of %g", n, share, got, want)
				}
			}
		}
	}
}
