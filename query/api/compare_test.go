package api

import (
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

func releases(a, b string) (selection.Selection, selection.Selection) {
	of := func(r string) selection.Selection {
		return selection.Selection{Page: "/feed", Where: fixture.Having(trie.MakeLabels("release", r))}
	}
	return of(a), of(b)
}

// Both methods agree with each other and with the report where all of them are exact.
func TestCompare(t *testing.T) {
	l, _ := rolledField(t, 600)
	a, b := releases("r1", "r2")
	got := map[query.Method]query.Comparison{}
	for _, m := range []query.Method{query.MethodViews, query.MethodSums} {
		c, err := l.Compare(t.Context(), query.CompareQuery{A: a, B: b, Method: m})
		if err != nil {
			t.Fatal(err)
		}
		if !c.Enough || c.Views != (compare.Pair{A: 300, B: 300}) || len(c.Strata) != 2 || len(c.Functions) != 3 ||
			len(c.Features) != 1 {
			t.Fatalf("%s: %+v", m, c)
		}
		got[m] = c
	}
	sums, views := got[query.MethodSums], got[query.MethodViews]
	if !reflect.DeepEqual(sums.Total, views.Total) || !reflect.DeepEqual(sums.Features, views.Features) ||
		!reflect.DeepEqual(sums.Strata, views.Strata) {
		t.Errorf("sums: %+v\nviews: %+v", sums, views)
	}
	for side, sel := range map[string]selection.Selection{"A": a, "B": b} {
		r, err := l.Report(t.Context(), sel)
		if err != nil {
			t.Fatal(err)
		}
		mean := map[string]float64{"A": sums.Total.Mean.A, "B": sums.Total.Mean.B}[side]
		if math.Abs(mean-r.Pages[0].Time.Mean.Value) > 1e-9 {
			t.Errorf("side %s: mean %g, the report has %g", side, mean, r.Pages[0].Time.Mean.Value)
		}
	}
	for i := range sums.Functions {
		x, y := sums.Functions[i], views.Functions[i]
		if x.Place != y.Place || math.Abs(x.Mean.A-y.Mean.A) > 1e-9 || math.Abs(x.Shown.Value-y.Shown.Value) > 1e-9 {
			t.Errorf("sums: %+v\nviews: %+v", x, y)
		}
		// Scaled variances are at least the variances of the page views, apart from chance.
		if x.Adjusted.High != nil && *x.Adjusted.High-x.Adjusted.Value < 0.8*(*y.Adjusted.High-y.Adjusted.Value) {
			t.Errorf("%s: sums %+v, views %+v", x.Name, x.Adjusted, y.Adjusted)
		}
	}
}

// The trees of both sides have the means of the comparison: B is adjusted to A's traffic, and the
// profiling script is excluded.
func TestSidesHaveTheMeans(t *testing.T) {
	l, _ := rolledField(t, 600)
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 56))
		a, b := releases("r1", "r2")
		if rnd.IntN(2) == 0 { // sides with different traffic
			a.Where = append(a.Where, fixture.Having(trie.MakeLabels("device", "desktop-high"))...)
		}
		if rnd.IntN(2) == 0 { // over all pages
			a.Page, b.Page = "", ""
		}
		o := compare.Options{MinViews: 2 + rnd.IntN(400)}
		c, err := l.Compare(t.Context(), query.CompareQuery{A: a, B: b, Options: o})
		if err != nil {
			t.Fatal(err)
		}
		treeA, treeB, err := query.Sides(t.Context(), l, a, b, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := withoutOwn(treeB, treeA, "", 10_000)
		if err != nil {
			t.Fatal(err)
		}
		mean := func(us, views int64) float64 { return float64(us) / 1000 / float64(max(views, 1)) }
		got := compare.Pair{A: mean(tree.Base.Total, tree.Base.Views), B: mean(tree.Total, tree.Views)}
		if want := c.Total.Mean; math.Abs(got.A-want.A)+math.Abs(got.B-want.B) > 1e-3*(1+want.A+want.B) {
			t.Errorf("seed %d, %v of %d page views: the trees have %v, the comparison has %v", seed, c.Views,
				o.MinViews, got, want)
		}
	}
}

// Without strata, rollups give the same results for functions as single page views, also relative
// to the rest of the page view.
func TestComparePlainMethods(t *testing.T) {
	l, _ := rolledField(t, 600)
	a, b := releases("r1", "r2")
	var got [2]query.Comparison
	for i, m := range []query.Method{query.MethodViews, query.MethodSums} {
		c, err := l.Compare(t.Context(), query.CompareQuery{A: a, B: b, Method: m, Plain: true})
		if err != nil {
			t.Fatal(err)
		}
		got[i] = c
	}
	if x, y := fixture.AsJSON(t, got[0].Functions), fixture.AsJSON(t, got[1].Functions); x != y {
		t.Errorf("views: %s\nsums: %s", x, y)
	}
	if !slices.ContainsFunc(got[0].Functions, func(f compare.FunctionChange) bool { return f.Beside != nil }) {
		t.Error("no function was tested relative to the rest")
	}
}

// A side compared with itself has no change, and a daemon returns the same result.
func TestCompareRemote(t *testing.T) {
	l, _ := rolledField(t, 300)
	srv := httptest.NewServer(Handler(l, Options{Now: fixture.Now}))
	defer srv.Close()
	r, err := NewRemote(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	a, b := releases("r1", "r2")
	for _, q := range []query.CompareQuery{{A: a, B: a}, {A: a, B: b}, {A: a, B: b, Concurrent: true},
		{A: selection.Selection{}, B: b}, {A: a, B: selection.Selection{Feature: "search"}},
		{A: selection.Selection{Until: fixture.Noon}, B: selection.Selection{Since: fixture.Noon}}} {
		want, err := l.Compare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Compare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		want.StatsA, want.StatsB, got.StatsA, got.StatsB = query.Stats{}, query.Stats{}, query.Stats{}, query.Stats{}
		if x, y := fixture.AsJSON(t, got), fixture.AsJSON(t, want); x != y {
			t.Errorf("%+v: got %s, want %s", q, x, y)
		}
		if same := reflect.DeepEqual(q.A, q.B); same && (got.Total.Shown.Value != 0 ||
			got.Functions[0].Status != compare.WithinNoise) {
			t.Errorf("one side compared with itself: %+v", got.Result)
		}
	}
	if _, err := r.Compare(t.Context(), query.CompareQuery{A: a, B: b, Method: "guess"}); err == nil {
		t.Error("an unknown method is accepted")
	}
}
