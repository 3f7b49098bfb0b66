package query

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Every mean reports the time without samples by the same rule: a long time between two samples is
// attributed to each of them by half. Means exclude the profiling script.
func TestUnsampled(t *testing.T) {
	f := fixture.New(t)
	report, err := localOf(f).Report(t.Context(), selection.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	gaps, scripted := 0, 0
	for _, p := range report.Pages {
		sel := selection.Selection{Page: p.Page}
		all, self, own := fixture.Naive(slices.Concat(f.First, f.Second), sel), int64(0), int64(0)
		for stack, us := range all {
			if stack != "stackless" && stack != "unsampled" {
				self += us
			}
			if strings.HasPrefix(stack, trie.FrameFieldtrie+" ") {
				own += us
			}
		}
		if own > 0 {
			scripted++
		}
		sampled := float64(self + all["stackless"])
		share := float64(all["unsampled"]) / (sampled + float64(all["unsampled"]))
		if all["unsampled"] > 0 {
			gaps++
		}
		mean := float64(self-own) / 1000 / float64(p.Views)
		likely := fixture.Likely(slices.Concat(f.First, f.Second), p.Page)
		scaled := max(mean*(1+likely/float64(self-own)), 0)
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }
		// the halves are in whole µs
		about := func(a, b float64) bool { return math.Abs(a-b) <= 1e-4*math.Max(1, math.Abs(b)) }
		if !near(p.Unsampled, share) || !near(p.Time.Mean.Value, mean) || !about(p.Scaled, scaled) ||
			!near(p.Own*float64(p.Views), float64(own)/1000) {
			t.Errorf("%s: %.4f unsampled, mean %.4f, scaled %.4f; want %.4f, %.4f, %.4f", p.Page, p.Unsampled,
				p.Time.Mean.Value, p.Scaled, share, mean, scaled)
		}
		series, err := localOf(f).Series(t.Context(), SeriesQuery{Selection: sel})
		if err != nil {
			t.Fatal(err)
		}
		if x := series.Groups[0].Points[0]; x.Views == p.Views && (!about(x.Scaled, scaled) || !near(x.Mean, mean) ||
			x.Own != own || x.Self != self) {
			t.Errorf("%s: the series has %+v, want %.4f, %.4f, %d of %d", p.Page, x, mean, scaled, own, self)
		}
	}
	if gaps < 2 || scripted < 2 {
		t.Errorf("%d pages with unsampled time, %d with the profiling script", gaps, scripted)
	}
}

// Nothing is scaled where the unsampled time is unknown.
func TestScaledNothing(t *testing.T) {
	x := (&seriesSums{}).point(time.Time{}, &pointSums{})
	if x.Scaled != 0 || math.IsNaN(x.Scaled) {
		t.Errorf("%v", x.Scaled)
	}
}
