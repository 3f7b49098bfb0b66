package demo

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/budget"
	"github.com/fieldtrie/fieldtrie/query/cause"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/symbols/tables"
)

// TestPlanted queries the demo as the dashboard does and compares the responses with docs/demo.md.
// [TestTruth] compares releases.
func TestPlanted(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 11, 25, 15, 20, 0, 0, time.UTC)
	if err := Fill(t.Context(), dir, Options{Now: now, Views: Views}); err != nil {
		t.Fatal(err)
	}
	place, err := shared.OpenPlace(t.Context(), dir, shared.PlaceOptions{Now: func() time.Time {
		return now
	}, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	n, err := shared.OpenReader(t.Context(), place, shared.Options{})
	if err != nil {
		t.Fatal(err)
	}
	library, err := tables.OpenReader(n.Symbols())
	if err != nil {
		t.Fatal(err)
	}
	owners, err := Owners()
	if err != nil {
		t.Fatal(err)
	}
	src := query.Local{Reader: n, Symbols: naming.New(library), Owners: func() *owner.Rules { return owners }}
	t.Run("the store is intact", func(t *testing.T) {
		v, err := n.Verify(t.Context(), func(int, int, uint64) {})
		if err != nil || len(v.Findings) > 0 || v.Traces < Views {
			t.Errorf("%d traces: %v, %v", v.Traces, v.Findings, err)
		}
	})
	t.Run("symbols identify the planted functions", func(t *testing.T) {
		var want, got []string
		p := openPool(t)
		for n := range p.functions.texts {
			f := p.functions.frame[p.releases[After]][n]
			want = append(want, p.functions.releases[p.releases[After]].table.Find(f.Line, f.Column).Name)
		}
		for _, x := range []query.EditsQuery{{A: "2.3.0", B: Before}, {A: Before, B: After}} {
			e, err := src.Edits(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range e.Functions {
				if f.Change == edits.Edited || f.Change == edits.Added {
					got = append(got, f.Place.Name)
				}
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) || !slices.Equal(got, []string{Function, "indexed", "searchProducts/map()"}) {
			t.Errorf("edited are %q, planted are %q", got, want)
		}
	})
	t.Run("the cause is the edit of the planted function", func(t *testing.T) {
		c, err := Changes(t.Context(), src, Page, now)
		if err != nil {
			t.Fatal(err)
		}
		f := largest(c)
		for _, x := range []struct {
			what   watch.What
			change compare.Change
		}{{watch.What{Kind: watch.OfPage, Metric: "js"}, c.Total}, {watch.What{Kind: watch.OfFunction, Metric: "self",
			Function: &f.Place}, f.Change}} {
			found := watch.Change{What: x.what, Detector: watch.ByRelease, Release: "2.5.0", CompareRelease: "2.4.0",
				Begin: now.Add(-24 * time.Hour),
				Pages: []watch.PageChange{{Page: Page, Views: c.Views, Change: *x.change.Adjusted,
					Level: x.change.Level}}}
			causes, note, err := cause.Find(t.Context(), src, &found, now)
			if err != nil || len(causes) == 0 || causes[0].Function == nil || causes[0].Function.Name != Function ||
				!strings.HasPrefix(causes[0].Text, Function+" was edited in release 2.5.0: src/lib/money.ts:7") {
				t.Errorf("%s: %+v, %q, %v", x.what.Kind, causes, note, err)
			}
			for _, c := range causes {
				t.Log(c.Text)
			}
		}
	})
	t.Run("one of two budgets is blown", func(t *testing.T) {
		file, err := Budgets()
		if err != nil {
			t.Fatal(err)
		}
		got, err := budget.Evaluate(t.Context(), src, file, now)
		if err != nil || len(got) != 2 || !got[0].Blown || !got[0].Sure || got[0].Page != Page ||
			got[1].Verdict != budget.OK || !got[1].Sure {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("profiling costs next to nothing", func(t *testing.T) {
		c, err := src.Cost(t.Context(), selection.Selection{Since: now.Add(-days * 24 * time.Hour), Until: now})
		if err != nil || len(c.Arms) != 2 || c.Arms[0].Views < Views*9/10 || c.Arms[1].Views < Views*9/10 ||
			c.Fair == nil || !*c.Fair {
			t.Fatalf("%+v, %v", c, err)
		}
		for _, v := range c.Vitals {
			for _, d := range v.Differences {
				if d.What == "geomean" && (d.Relative == nil || d.Relative.Low > 0.005 || d.Relative.High < 0 ||
					d.Relative.High > 0.1) {
					t.Errorf("%s: %+v", v.Name, d.Relative)
				}
			}
		}
	})
	t.Run("page views without a profile, features and vitals", func(t *testing.T) {
		by := func(key string) selection.Selection {
			return selection.Selection{Since: now.Add(-days * 24 * time.Hour), Until: now, GroupBy: []string{key}}
		}
		s, err := src.Series(t.Context(), query.SeriesQuery{Selection: by("page"), Coverage: true})
		if err != nil || len(s.Groups) != len(pages) {
			t.Fatalf("%d pages, %v", len(s.Groups), err)
		}
		for _, g := range s.Groups {
			if c := g.Points[0].Coverage; c["unsampled"] == 0 || c["unsupported"] == 0 {
				t.Errorf("%v: coverage %v", g.Labels, c)
			}
		}
		v, err := src.Vitals(t.Context(), by("page"))
		if err != nil || len(v.Pages) != len(pages) {
			t.Errorf("vitals of %d pages, %v", len(v.Pages), err)
		}
		if s, err = src.Series(t.Context(), query.SeriesQuery{Selection: by("feature")}); err != nil ||
			len(s.Groups) < 6 {
			t.Errorf("%d features, %v", len(s.Groups), err)
		}
	})
}

// largest returns the function with the largest significant change, in the dashboard's order.
func largest(c query.Comparison) (f compare.FunctionChange) {
	sure := slices.DeleteFunc(slices.Clone(c.Functions), func(f compare.FunctionChange) bool {
		return !f.Status.Alarm()
	})
	if len(sure) == 0 {
		return f
	}
	return slices.MaxFunc(sure, func(a, b compare.FunctionChange) int {
		return cmp.Compare(math.Abs(shown(&a.Change)), math.Abs(shown(&b.Change)))
	})
}

// shown returns a change in ms per page view.
func shown(c *compare.Change) float64 { return c.Shown.Value }
