package verdict

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
)

// The result depends only on how much of a change is left, in both directions. It is never based on
// an interval that allows both results.
func TestMended(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 2))
	words := map[Repair]int{}
	for range 5000 {
		size := (rng.Float64() - 0.5) * 200
		left, half := size*(2*rng.Float64()-0.5), math.Abs(size)*rng.ExpFloat64()/3
		x := query.Comparison{Result: compare.Result{Views: compare.Pair{A: 1000, B: 800}, MinViews: 100, Enough: true}}
		x.Total = compare.Change{Level: 0.95, Adjusted: &compare.Estimate{Value: left, Low: new(left - half),
			High: new(left + half)}}
		c := watch.Change{What: watch.What{Kind: watch.OfPage, Metric: "js"}, Pages: []watch.PageChange{{Page: "/",
			Change: compare.Estimate{Value: size}}}}
		got := OfMending(&c, &x)
		low, high := left/size-half/math.Abs(size), left/size+half/math.Abs(size)
		const near = 1e-9 // distance from a bound where rounding decides
		if min(math.Abs(low-0.5), math.Abs(high-0.5), math.Abs(half/math.Abs(size)-0.25)) < near {
			continue
		}
		want := NotKnown
		switch {
		case high < 0.5:
			want = Mended
		case low > 0.5:
			want = NotMended
		case high-low < 0.5:
			want = HalfMended
		}
		if got.Repair != want || (got.Missing > 0) != (want == NotKnown) || got.Reason == "" {
			t.Fatalf("%g (±%g) left of %g: %+v, not %s", left, half, size, got, want)
		}
		words[want]++
		if x.Enough = false; OfMending(&c, &x).Repair != NotKnown {
			t.Fatal("too few page views give a verdict")
		}
	}
	for _, w := range []Repair{Mended, NotMended, HalfMended, NotKnown} {
		if words[w] < 100 {
			t.Errorf("%s occurred %d times", w, words[w])
		}
	}
}

// The compared time is before the change, and never includes its begin.
func TestBefore(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 30, 0, 0, time.UTC)
	c := watch.Change{Release: "b", CompareRelease: "a", Begin: now.Add(-50 * time.Hour),
		Pages: []watch.PageChange{{Page: "/"}}}
	for _, release := range []string{"", "c"} {
		q, err := Before(&c, release, now)
		if err != nil || q.A.Until.After(c.Begin) || q.B.Since.Before(c.Begin) || len(q.A.Where) != 1 ||
			q.A.Where[0].Value != "a" || (len(q.B.Where) == 1) != (release == "c") {
			t.Errorf("%q: %+v, %v", release, q, err)
		}
	}
}
