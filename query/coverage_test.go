package query_test

import (
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Page views that reported Web Vitals and a profile are lost if no trace has arrived. No response
// shows the counts that this is computed from. Profiles that arrive in an earlier hour than their
// reports are not lost.
func TestLost(t *testing.T) {
	now := fixture.Noon
	s := storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})
	s.CountViews("/feed", rollup.OutcomeProfiled, 40)
	s.CountViews("/feed", "unsampled", 900)
	s.CountViews("/shop", rollup.OutcomeProfiled, 7)
	s.RollUp(t.Context())
	now = now.Add(time.Hour)
	s.CountViews("/feed", rollup.OutcomeReported, 45)
	s.CountViews("/shop", rollup.OutcomeReported, 6)
	now = now.Add(time.Hour)
	s.RollUp(t.Context())
	local := query.Local{Reader: s}
	q := query.SeriesQuery{Selection: selection.Selection{GroupBy: []string{selection.KeyPage},
		Since: fixture.Noon.Add(-time.Hour)}, Coverage: true}
	series, err := local.Series(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	list := query.ListOf(selection.KeyPage, series, 0, true)
	if want := map[string]int64{"unsampled": 900, query.OutcomeLost: 5}; len(list.Values) != 1 ||
		!maps.Equal(list.All.Missing, want) {
		t.Errorf("%d pages without %v, want %v", len(list.Values), list.All.Missing, want)
	}
	q.Step = time.Hour
	if series, err = local.Series(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	for _, g := range series.Groups {
		for _, p := range g.Points {
			if want := map[string]int64{"unsampled": 900}; !maps.Equal(p.Coverage, want) {
				t.Errorf("at %s without %v, want %v", p.Time, p.Coverage, want)
			}
		}
	}
}

// Page views whose profiling stopped early stand for other page views, too, but no list has more
// page views than they stand for.
func TestStoppedViewsStandForOthers(t *testing.T) {
	now := fixture.Noon
	s := storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 12 {
		tr := fixture.ViewTrace(r, n, 100)
		tr.Context.SamplingShare = 1
		if n%4 == 0 {
			tr.Context.Labels = trie.MakeLabels("phase", "idle", rollup.KeyStopped, "cost")
		}
		fixture.AppendView(t, s, tr)
	}
	now = now.Add(time.Hour)
	s.RollUp(t.Context())
	sel := selection.Selection{GroupBy: []string{selection.KeyPage}}
	series, err := query.Local{Reader: s}.Series(t.Context(), query.SeriesQuery{Selection: sel})
	if err != nil || len(series.Groups) != 1 {
		t.Fatal(err, len(series.Groups))
	}
	if p := series.Groups[0].Points[0]; p.Views != 12 || p.StandsFor() != 12 {
		t.Errorf("%d page views stand for %g, want 12 for 12", p.Views, p.StandsFor())
	}
}
