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
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/symbols/tables"
)

// TestPlanted asks what the first page of the dashboard asks, and finds in the answers what docs/demo.md says is in the data.
func TestPlanted(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 11, 25, 15, 20, 0, 0, time.UTC)
	if err := Fill(t.Context(), dir, Options{Now: now, Views: Views}); err != nil {
		t.Fatal(err)
	}
	place, err := shared.OpenPlace(t.Context(), dir, shared.PlaceOptions{Now: func() time.Time { return now }, ReadOnly: true})
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
	t.Run("the store is as it should be", func(t *testing.T) {
		v, err := n.Verify(t.Context(), func(int, int, uint64) {})
		if err != nil || len(v.Findings) > 0 || v.Traces < Views {
			t.Errorf("%d traces: %v, %v", v.Traces, v.Findings, err)
		}
	})
	t.Run("the newest release is slower by the planted function", func(t *testing.T) {
		for _, page := range []string{"", Page} { // the first page of the dashboard, and the page that it names first
			c := changes(t, src, page, now)
			if f := largest(c); !c.Enough || c.Total.Status != compare.Slower || f.Name != Function || f.Resource != "src/lib/money.ts" || f.Status != compare.Slower && f.Status != compare.New {
				t.Errorf("page %q: %s by %.0f ms, most by %s %s", page, c.Total.Status, shown(&c.Total), f.Status, f.Name)
			}
		}
	})
	t.Run("it is what changed most on each page, since all show prices", func(t *testing.T) {
		for _, p := range pages {
			c := changes(t, src, p.page, now)
			if f := largest(c); !c.Enough || f.Name != Function {
				t.Errorf("page %s: %v page views, enough %v, most by %s %s", p.page, c.Views, c.Enough, f.Status, f.Name)
			}
		}
	})
	t.Run("the cause is the edit of the planted function", func(t *testing.T) {
		c := changes(t, src, Page, now)
		f := largest(c)
		for _, x := range []struct {
			what   watch.What
			change compare.Change
		}{{watch.What{Kind: watch.OfPage, Metric: "js"}, c.Total}, {watch.What{Kind: watch.OfFunction, Metric: "self", Function: &f.Place}, f.Change}} {
			found := watch.Change{What: x.what, Detector: watch.ByRelease, Release: "2.5.0", CompareRelease: "2.4.0", Begin: now.Add(-24 * time.Hour),
				Pages: []watch.PageChange{{Page: Page, Views: c.Views, Change: *x.change.Adjusted, Level: x.change.Level}}}
			causes, note, err := cause.Find(t.Context(), src, &found, now)
			if err != nil || len(causes) == 0 || causes[0].Function == nil || causes[0].Function.Name != Function || !strings.HasPrefix(causes[0].Text, Function+" was edited in release 2.5.0: src/lib/money.ts:7") {
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
		if err != nil || len(got) != 2 || !got[0].Blown || !got[0].Sure || got[0].Page != Page || got[1].Verdict != budget.OK || !got[1].Sure {
			t.Errorf("got %+v, %v", got, err)
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
		if s, err = src.Series(t.Context(), query.SeriesQuery{Selection: by("feature")}); err != nil || len(s.Groups) < 6 {
			t.Errorf("%d features, %v", len(s.Groups), err)
		}
	})
}

func changes(t *testing.T, src query.Source, page string, now time.Time) query.Comparison {
	t.Helper()
	c, err := Changes(t.Context(), src, page, now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// largest returns the function that changed most, of those that did for sure, as the dashboard lists them.
func largest(c query.Comparison) (f compare.FunctionChange) {
	sure := slices.DeleteFunc(slices.Clone(c.Functions), func(f compare.FunctionChange) bool { return !f.Status.Alarm() })
	if len(sure) == 0 {
		return f
	}
	return slices.MaxFunc(sure, func(a, b compare.FunctionChange) int {
		return cmp.Compare(math.Abs(shown(&a.Change)), math.Abs(shown(&b.Change)))
	})
}

// shown returns a change in ms per page view.
func shown(c *compare.Change) float64 { return c.Shown.Value }
