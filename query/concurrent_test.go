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

// rollout stores page views of two releases: the later one has few of them in the busy, slow hours and many in the calm ones.
// Its code is the same.
func rollout(t *testing.T) *fixture.Stored {
	now := fixture.Noon.Add(-8 * time.Hour)
	f := &fixture.Stored{Store: storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})}
	rng := rand.New(rand.NewPCG(5, 6))
	id := 0
	for hour, views := range [][2]int{{300, 0}, {240, 40}, {100, 60}, {60, 100}, {40, 200}, {10, 300}} {
		var traces []*trie.Trace
		for side, n := range views {
			for range n {
				tr := &trie.Trace{Trie: *trie.New()}
				id++
				tr.Context = trie.Context{Page: "/a", ViewID: fmt.Sprintf("view %011d", id), Interval: 10_000, Release: []string{"r1", "r2"}[side], Labels: trie.MakeLabels("device", "desktop")}
				for k := range 2*(6-hour) + rng.IntN(4) {
					tr.Samples = append(tr.Samples, trie.Sample{Time: int64(10_000 * k), Node: tr.Insert(trie.Frame{Name: "render", Resource: "https://x.example/app.js", Line: 1, Column: 1})})
				}
				traces = append(traces, tr)
			}
		}
		f.Append(t, 0, traces)
		now = now.Add(time.Hour)
	}
	return f
}

// In a roll-out in steps, the time of the day is no change: hours are strata.
func TestCompareConcurrent(t *testing.T) {
	f := rollout(t)
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
		longer := func(w string) bool { return strings.HasPrefix(w, "visits of B lasted for 0.0563 s") }
		if all.Total.Status != compare.Faster || !slices.ContainsFunc(all.Warnings, longer) || slices.ContainsFunc(got.Warnings, longer) {
			t.Errorf("%s: the calm hours are not faster, or not because of shorter visits: %+v, %q, %q", method, all.Total, all.Warnings, got.Warnings)
		}
		if got.Total.Status != compare.WithinNoise || got.Functions[0].Status != compare.WithinNoise || got.Views != (compare.Pair{A: 440, B: 400}) {
			t.Errorf("%s: %+v of %+v", method, got.Total, got.Views)
		}
		if len(got.Strata) != 4 || !strings.HasPrefix(got.Strata[0].Labels["hours"], "from ") {
			t.Errorf("%s: strata %+v", method, got.Strata)
		}
		if !slices.ContainsFunc(got.Warnings, func(w string) bool {
			return strings.HasPrefix(w, "hours in which both sides have at least 30 page views: 4, ") && strings.HasSuffix(w, "310 of A's 750 page views are of other hours, and 300 of B's 700")
		}) {
			t.Errorf("%s: warnings %q", method, got.Warnings)
		}
		q.B = of("none")
		none, err := localOf(f).Compare(t.Context(), q)
		if err != nil || none.Enough || none.Views != (compare.Pair{}) || !strings.HasPrefix(strings.Join(none.Warnings, "\n"), "too few page views") {
			t.Errorf("%s: without shared hours: %v, %+v", method, err, none.Result)
		}
	}
}

// joinHours has each hour once, in order, and about as many page views in each stratum.
func TestJoinHours(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for range 300 {
		var hours []Point
		var total, most int64
		at := fixture.Noon
		for range 1 + rng.IntN(60) {
			at = at.Add(time.Duration(1+rng.IntN(2)) * time.Hour)
			p := Point{Time: at, Views: 30 + rng.Int64N(300)}
			hours, total, most = append(hours, p), total+p.Views, max(most, p.Views)
		}
		views, i := map[string]int64{}, 0
		for _, s := range joinHours(hours) {
			for at := s.since; at.Before(s.until); at = at.Add(time.Hour) {
				if !hours[i].Time.Equal(at) {
					t.Fatalf("hour %v is %v", at, hours[i].Time)
				}
				views[s.stratum] += hours[i].Views
				i++
			}
		}
		if i != len(hours) || len(views) > mostBlocks {
			t.Fatalf("%d of %d hours in %d strata", i, len(hours), len(views))
		}
		for s, n := range views {
			if n > total/mostBlocks+most+1 {
				t.Errorf("%s has %d of %d page views", s, n, total)
			}
		}
	}
}
