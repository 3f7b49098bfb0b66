package query

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

func TestReport(t *testing.T) {
	const views = 300
	l, all := rolledField(t, views)
	report, err := l.Report(t.Context(), selection.Selection{Page: "/feed"})
	if err != nil || len(report.Pages) != 1 {
		t.Fatalf("got %+v and %v", report, err)
	}
	if st := report.Stats; st.Hours != 3 || len(st.Warnings) > 0 {
		t.Errorf("stats: %+v", st)
	}
	p := report.Pages[0]
	self, _ := all.Profile().Groups[0].Sum()
	if p.Views != views || math.Abs(p.Time.Mean.Value*views-float64(self)/1000) > 1e-6 {
		t.Errorf("%d views of %g ms, want %d and %g in total", p.Views, p.Time.Mean.Value, views, float64(self)/1000)
	}
	if p.Population.Value != 10*views || !(p.Population.Low < 10*views && 10*views < p.Population.High) {
		t.Errorf("population: %+v", p.Population)
	}
	if p.Coverage["unsampled"] != 900 || p.Coverage["unsupported"] != 50 {
		t.Errorf("coverage: %v", p.Coverage)
	}
	if m := p.Time; math.Abs(m.P50.Value-595) > 25 || math.Abs(m.P95.Value-1045) > 40 || m.P50.Low > m.P50.Value ||
		m.P50.High < m.P50.Value || m.Mean.High <= m.Mean.Value {
		t.Errorf("time: %+v", m)
	}
	if p.LongTasks.Mean.Value != p.Time.Mean.Value { // each page view is one long stretch
		t.Errorf("long tasks: %+v, time: %+v", p.LongTasks.Mean, p.Time.Mean)
	}
	if len(p.Features) != 1 || p.Features[0].Views != views ||
		math.Abs(p.Features[0].Time.Mean.Value/p.Time.Mean.Value-0.25) > 0.02 {
		t.Errorf("features: %+v", p.Features)
	}
	if names := []string{p.Phases[0].Name, p.Phases[1].Name}; !slices.Contains(names, "load") ||
		!slices.Contains(names, "idle") {
		t.Errorf("phases: %+v", p.Phases)
	}
	var sum float64
	for _, f := range p.Functions {
		sum += f.Self.Mean.Value
		if f.Name == "main" && (f.Reach != views || f.Self.Mean.Value != 0 ||
			math.Abs(f.Total.Mean.Value-p.Time.Mean.Value) > 1e-9) {
			t.Errorf("main: %+v", f)
		}
	}
	if len(p.Functions) != 3 || math.Abs(sum-p.Time.Mean.Value) > 1e-9 {
		t.Errorf("functions sum up to %g of %g ms: %+v", sum, p.Time.Mean.Value, p.Functions)
	}
}

// Reports from traces equal reports from rollups.
func TestReportOfTraces(t *testing.T) {
	l, _ := rolledField(t, 60)
	for _, sel := range []selection.Selection{{Page: "/feed"}, {}, {Page: "/feed", Feature: "search"},
		{Page: "/feed", Where: fixture.Having(trie.MakeLabels("release", "r1"))},
		{Where: fixture.Having(trie.MakeLabels("device", "mobile-low", "phase", "load"))}} {
		sums, err := l.Report(t.Context(), sel)
		if err != nil {
			t.Fatal(err)
		}
		r, err := newReporting(sel)
		if err != nil {
			t.Fatal(err)
		}
		stats, err := l.eachRecord(t.Context(), sel, store.Wanted{None: true}, r.add)
		if err != nil {
			t.Fatal(err)
		}
		if stats.Traces != 60 {
			t.Errorf("%+v: read %d traces", sel, stats.Traces)
		}
		for i, p := range r.reports(nil) {
			p.Coverage = sums.Pages[i].Coverage // traces do not count page views without a profile
			if got, want := fmt.Sprintf("%+v", p), fmt.Sprintf("%+v", sums.Pages[i]); got != want {
				t.Errorf("%+v:\n got %s\nwant %s", sel, got, want)
			}
		}
	}
}

func TestReportRefuses(t *testing.T) {
	l, _ := rolledField(t, 3)
	for _, sel := range []selection.Selection{
		{Where: fixture.Having(trie.MakeLabels("navigation", "reload"))},
		{Where: fixture.Having(trie.MakeLabels("visibility", "hidden"))},
		{Feature: "search", Where: fixture.Having(trie.MakeLabels("phase", "load"))}, {Since: fixture.Noon,
			Until: fixture.Noon},
	} {
		if _, err := l.Report(t.Context(), sel); err == nil {
			t.Errorf("%+v is accepted", sel)
		} else if !strings.Contains(err.Error(), "are stored") && !strings.Contains(err.Error(), "before until") {
			t.Errorf("%+v: %v", sel, err)
		}
	}
}

// Queries about labels that rollups do not have read the traces.
func TestOtherLabels(t *testing.T) {
	l, _ := rolledField(t, 30)
	result, err := l.Profile(t.Context(), selection.Selection{Page: "/feed",
		Where: fixture.Having(trie.MakeLabels("navigation", ""))}, nil)
	if err != nil || result.Stats.Hours != 0 || result.Stats.Traces != 30 {
		t.Errorf("got %+v and %v", result.Stats, err)
	}
	if text := result.Stats.Read(); text != "" {
		t.Errorf("traces alone: %q", text)
	}
	if result, err = l.Profile(t.Context(), selection.Selection{Page: "/feed"}, nil); err != nil ||
		result.Stats.Read() != "3 hours summed up" {
		t.Errorf("got %q and %v", result.Stats.Read(), err)
	}
}
