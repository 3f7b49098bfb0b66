package query

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// rollout stores the page views of two releases with the same code, hour by hour from a start time.
// A page view has slow(hour) samples and up to three more.
func rollout(t *testing.T, begin time.Time, hours [][2]int, slow func(hour int) int) *fixture.Stored {
	now := begin
	f := &fixture.Stored{Store: storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})}
	rng := rand.New(rand.NewPCG(5, 6))
	id := 0
	for hour, views := range hours {
		var traces []*trie.Trace
		for side, n := range views {
			for range n {
				tr := &trie.Trace{Trie: *trie.New()}
				id++
				tr.Context = trie.Context{Page: "/a", ViewID: fmt.Sprintf("view %011d", id), Interval: 10_000,
					Release: []string{"r1", "r2"}[side], Labels: trie.MakeLabels("device", "desktop")}
				for k := range slow(hour) + rng.IntN(4) {
					tr.Samples = append(tr.Samples, trie.Sample{Time: int64(10_000 * k),
						Node: tr.Insert(trie.Frame{Name: "render", Resource: "https://x.example/app.js", Line: 1,
							Column: 1})})
				}
				traces = append(traces, tr)
			}
		}
		f.Append(t, 0, traces)
		now = now.Add(time.Hour)
	}
	return f
}

// In a staged roll-out, differences between hours of the day must not look like a change: hours are
// strata. The later release has few page views in the busy, slow hours and many in the calm ones.
func TestCompareConcurrent(t *testing.T) {
	hours := [][2]int{{300, 0}, {240, 40}, {100, 60}, {60, 100}, {40, 200}, {10, 300}}
	f := rollout(t, fixture.Noon.Add(-8*time.Hour), hours, func(hour int) int { return 2 * (6 - hour) })
	of := func(release string) selection.Selection {
		return selection.Selection{Page: "/a", Where: fixture.Having(trie.MakeLabels("release", release))}
	}
	for _, method := range []Method{MethodViews, MethodSums} {
		q := CompareQuery{A: of("r1"), B: of("r2"), Method: method}
		all, err := localOf(f).Compare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		q.Concurrent = true
		got, err := localOf(f).Compare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		longer := func(w string) bool { return strings.HasPrefix(w, "visits lasted 0.0563 s in B") }
		if all.Total.Status != compare.Faster || !slices.ContainsFunc(all.Warnings, longer) ||
			slices.ContainsFunc(got.Warnings, longer) {
			t.Errorf("%s: without strata, the calm hours are not faster, or the warning about visits is missing: "+
				"%+v, %q, %q", method, all.Total, all.Warnings, got.Warnings)
		}
		if got.Total.Status != compare.WithinNoise || got.Functions[0].Status != compare.WithinNoise ||
			got.Views != (compare.Pair{A: 440, B: 400}) {
			t.Errorf("%s: %+v of %+v", method, got.Total, got.Views)
		}
		if len(got.Strata) != 4 || !strings.HasPrefix(got.Strata[0].Labels["hours"], "from ") {
			t.Errorf("%s: strata %+v", method, got.Strata)
		}
		if !slices.ContainsFunc(got.Warnings, func(w string) bool {
			return strings.HasPrefix(w,
				"4 hours are compared, pooled until both sides have at least 30 page views; ") && strings.HasSuffix(w,
				"310 of A's 750 page views and 300 of B's 700 are in other hours")
		}) {
			t.Errorf("%s: warnings %q", method, got.Warnings)
		}
		q.B = of("none")
		none, err := localOf(f).Compare(t.Context(), q)
		if err != nil || none.Enough || none.Views != (compare.Pair{}) || !strings.HasPrefix(strings.Join(none.Warnings,
			"\n"), "too few page views") {
			t.Errorf("%s: without shared hours: %v, %+v", method, err, none.Result)
		}
	}
}

// Hours of a small site are pooled, and differences between hours still do not look like a change.
func TestCompareConcurrentPooled(t *testing.T) {
	of := func(release string) selection.Selection {
		return selection.Selection{Page: "/a", Where: fixture.Having(trie.MakeLabels("release", release))}
	}
	day := func(hour int) int { return 6 + hour%24 } // five times as slow in the evening
	for name, share := range map[string]func(hour int) [2]int{
		"even":  func(int) [2]int { return [2]int{10, 10} },
		"ramp":  func(hour int) [2]int { return [2]int{30 - hour, 4 + hour} },
		"shift": func(hour int) [2]int { return [][2]int{{18, 2}, {2, 18}}[hour/4%2] },
	} {
		var hours [][2]int
		for hour := range 26 {
			hours = append(hours, share(hour))
		}
		f := rollout(t, fixture.Noon.Truncate(24*time.Hour).Add(-48*time.Hour), hours, day)
		q := CompareQuery{A: of("r1"), B: of("r2"), Method: MethodSums}
		all, err := localOf(f).Compare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		q.Concurrent = true
		got, err := localOf(f).Compare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if name == "ramp" && all.Total.Status != compare.Slower {
			t.Errorf("%s: without strata, the hours do not look like a change: %+v", name, all.Total)
		}
		if name == "shift" { // A and B alternate: no hour has both
			if got.Enough || got.Views != (compare.Pair{}) {
				t.Errorf("%s: %+v of %+v", name, got.Total, got.Views)
			}
			continue
		}
		if !got.Enough || got.Total.Status != compare.WithinNoise || got.Views.A < 200 {
			t.Errorf("%s: %+v of %+v, %q", name, got.Total, got.Views, got.Warnings)
		}
	}
}
