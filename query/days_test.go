package query

import (
	"math"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

// tomorrow is a reader whose clock is a day ahead.
type tomorrow struct{ store.Reader }

func (r tomorrow) Now() time.Time { return r.Reader.Now().Add(24 * time.Hour) }

// A day of a page has the same numbers as its report. It is available once the day is over.
func TestPageDays(t *testing.T) {
	l, _ := rolledField(t, 300)
	since, until := fixture.Noon.Add(-72*time.Hour), fixture.Noon.Add(72*time.Hour)
	if days, err := l.PageDays(t.Context(), "/feed", since, until); err != nil || len(days) > 0 {
		t.Errorf("a day that is not over: %+v, %v", days, err)
	}
	report, err := l.Report(t.Context(), selection.Selection{Page: "/feed"})
	if err != nil {
		t.Fatal(err)
	}
	l.Reader = tomorrow{l.Reader}
	days, err := l.PageDays(t.Context(), "/feed", since, until)
	if err != nil || len(days) != 1 {
		t.Fatalf("%d days, %v", len(days), err)
	}
	d, p := days[0], report.Pages[0]
	near := func(what string, got compare.Amount, want Spread) {
		t.Helper()
		mean := got.Sum / d.Views
		half := 1.96 * math.Sqrt(max(got.Squares/d.Views-mean*mean, 0)/d.Views)
		if math.Abs(mean-want.Mean.Value) > 1e-6 || math.Abs(half-(want.Mean.High-want.Mean.Value)) > 0.01*half+1e-9 {
			t.Errorf("%s: %g ± %g ms, want %+v", what, mean, half, want.Mean)
		}
	}
	if !d.Day.Day.Equal(fixture.Noon.Truncate(day)) || d.Views != float64(p.Views) ||
		len(d.Functions) != len(p.Functions) {
		t.Errorf("%s: %g views, %d functions", d.Day.Day, d.Views, len(d.Functions))
	}
	if len(d.Strata) != 2 || len(d.Versions) != 4 { // devices, and releases on them
		t.Errorf("%d kinds of devices and browsers, %d cells of browser versions", len(d.Strata), len(d.Versions))
	}
	near("page", d.Time, p.Time)
	for _, f := range p.Features {
		var a compare.Amount
		for _, s := range d.Strata {
			x := s.Features[f.Name]
			a = compare.Amount{Seen: a.Seen + x.Seen, Sum: a.Sum + x.Sum}
		}
		if a.Seen != float64(f.Views) || math.Abs(a.Sum-f.Time.Mean.Value*a.Seen) > 1e-6*a.Sum {
			t.Errorf("feature %s: %+v, want %+v", f.Name, a, f)
		}
	}
	got := map[trie.Frame]compare.Function{}
	for _, f := range d.Functions {
		got[f.Frame] = f
	}
	for _, f := range p.Functions {
		x := got[trie.Frame{Name: f.Name, Resource: f.Resource, Line: f.Line, Column: f.Column}]
		if len(x.Self) != 1 || x.Reach != float64(f.Reach) || math.Abs(x.Total/d.Views-f.Total.Mean.Value) > 1e-6 {
			t.Fatalf("%s: %+v, want %+v", f.Name, x, f)
		}
		near(f.Name, x.Self[0], f.Self)
		if x.Self[0].Sum > 0 && x.Self[0].Product < x.Self[0].Squares*(1-1e-9) {
			t.Errorf("%s: the product with the total time is %g, less than the square %g", f.Name, x.Self[0].Product,
				x.Self[0].Squares)
		}
	}
}

// The sums of page views by release and hour equal the total.
func TestReleaseViews(t *testing.T) {
	l, _ := rolledField(t, 300)
	sums := map[string]int64{}
	for hour := fixture.Noon.Add(-2 * time.Hour); hour.Before(fixture.Noon.Add(4 * time.Hour)); hour =
		hour.Add(time.Hour) {
		list, err := l.ReleaseViews(t.Context(), hour)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			if x.Page == "/feed" {
				sums[x.Release] += x.Views
			}
		}
	}
	for release, views := range sums {
		m, err := selection.NewMatcher("release", selection.Equal, release)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.Report(t.Context(), selection.Selection{Page: "/feed", Where: []selection.Matcher{m}})
		if err != nil || got.Pages[0].Views != views {
			t.Errorf("release %s: %d views, the report has %+v, %v", release, views, got.Pages, err)
		}
	}
	if len(sums) < 2 {
		t.Errorf("releases: %v", sums)
	}
}

// The hours of a release, including the current one, add up to its report.
func TestPageHours(t *testing.T) {
	l, _ := rolledField(t, 300)
	releases := []string{"r1", "r2", ""}
	lines, err := l.PageHours(t.Context(), "/feed", releases, fixture.Noon.Add(-12*time.Hour),
		fixture.Noon.Add(72*time.Hour))
	if err != nil || len(lines) != len(releases) {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	for i, release := range releases {
		sel := selection.Selection{Page: "/feed"}
		if release != "" {
			sel.Where = fixture.Having(trie.MakeLabels("release", release))
		}
		report, err := l.Report(t.Context(), sel)
		if err != nil || len(report.Pages) != 1 {
			t.Fatalf("%+v, %v", report, err)
		}
		p, sum := report.Pages[0], compare.Amount{}
		views, self := 0.0, map[string]float64{}
		for _, h := range lines[i] {
			views += h.Views
			sum.Sum += h.Time.Sum
			for _, f := range h.Functions {
				self[f.Frame.Name] += f.Self[0].Sum
			}
		}
		if len(lines[i]) < 2 || views != float64(p.Views) || math.Abs(sum.Sum-p.Time.Mean.Value*views) > 1e-6*sum.Sum {
			t.Errorf("%q: %d hours with %g page views and %g ms, want %+v", release, len(lines[i]), views, sum.Sum, p)
		}
		want := map[string]float64{}
		for _, f := range p.Functions {
			want[f.Name] += f.Self.Mean.Value * views
		}
		for name, ms := range want {
			if math.Abs(self[name]-ms) > 1e-6*ms+1e-6 {
				t.Errorf("%q: %s %g ms, want %g", release, name, self[name], ms)
			}
		}
	}
}
