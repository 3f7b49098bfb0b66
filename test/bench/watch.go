package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sync/atomic"

	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/test/simulate"
	"github.com/fieldtrie/fieldtrie/test/simulate/site"
)

// The number of profiled page views a day in a replayed month of a page.
const (
	quietViews = 5_000
	busyViews  = 20_000
)

// watching replays months of a site, with and without planted changes, and counts what the
// detectors report.
func watching(traces []trace, seeds int, progress io.Writer) ([]figure, error) {
	pages, err := simulatedPages(traces, simulate.NewPage)
	if err != nil {
		return nil, err
	}
	w := &watched{pages: pages, seeds: seeds, progress: progress}
	quiet := w.months("without a change", quietViews, func(*site.Plan) bool { return true })
	busy := w.months("without a change, many page views", busyViews, func(p *site.Plan) bool {
		p.Edits = editedFunctions
		return true
	})
	harm := w.months("with harmful releases", busyViews, func(p *site.Plan) bool { p.Harm(); return true })
	small := w.months("5 % of a function with 2 %", busyViews, func(p *site.Plan) bool {
		p.Slow(0.02, 1.05)
		return true
	})
	known := w.months("the same with symbols", busyViews, func(p *site.Plan) bool {
		p.Edits = editedFunctions
		p.Slow(0.02, 1.05)
		return true
	})
	creep := w.months("1 % a day", busyViews, func(p *site.Plan) bool { p.Creep(); return true })
	spike := w.months("a spike", busyViews, func(p *site.Plan) bool { p.Spike(); return true })
	of := w.months("a spike of a function", busyViews, func(p *site.Plan) bool { p.SpikeOf(0.05); return true })
	refactor := w.months("a refactoring", busyViews, (*site.Plan).Refactor)
	versions := w.months("browser versions that differ by 3 %", quietViews, func(p *site.Plan) bool {
		p.Browsers(0.03)
		return true
	})
	slower := w.months("a browser version that is 6 % slower", busyViews, func(p *site.Plan) bool {
		p.NewVersion(0.06)
		return true
	})
	if w.err != nil {
		return nil, w.err
	}
	within := func(m *month, hours int) float64 {
		n := 0
		for _, h := range m.delays {
			if h <= hours {
				n++
			}
		}
		return float64(n) / float64(max(m.runs, 1))
	}
	days := float64(30 * (quiet.runs + busy.runs))
	n := float64(quiet.wrong + busy.wrong)
	return []figure{
		{"watch/page_days", days, "page-days without a change", ""},
		{"watch/false_reports", 1000 * n / days, "in 1,000 page-days", "<= 1"},
		{"watch/false_reports_high", 1000 * (n + 1.92 + math.Sqrt(3.84*(n+0.96))) / days,
			"the end of its interval of 95 %", ""},
		{"watch/true_reports", float64(harm.right) / float64(max(harm.right+harm.wrong, 1)),
			"of those with harmful releases", ">= 0.7"},
		{"watch/harm_found", float64(harm.found) / float64(max(harm.planted, 1)), "of the harmful releases", ""},
		{"watch/found_in_24h", within(&known, 24), "of runs: 5 % of an edited function with 2 % of the page", ">= 0.8"},
		{"watch/found_in_24h_without_symbols", within(&small, 24), "of the same", ""},
		{"watch/found_in_48h", within(&small, 48), "of the same", ""},
		{"watch/versions_reports", 1000 * float64(versions.all) / float64(max(30*versions.runs, 1)),
			"in 1,000 page-days", "<= 1"},
		{"watch/version_called_browser", float64(slower.browser) / float64(max(slower.all, 1)),
			"of the reports", ">= 0.9"},
		{"watch/version_called_release", float64(slower.release) / float64(max(slower.all, 1)), "of the reports",
			"<= 0.02"},
		{"watch/creep_in_14d", within(&creep, 14*24), "of runs", "1"},
		{"watch/spike_reports", float64(spike.all+of.all) / float64(max(spike.runs+of.runs, 1)), "a run", "<= 0"},
		{"watch/refactor_reports", float64(refactor.all) / float64(max(refactor.runs, 1)), "a run", "<= 0"},
		{"watch/refactor_moved", float64(refactor.moved) / float64(max(refactor.runs, 1)),
			"of runs: shown as moved", ""},
	}, nil
}

// watched replays months.
type watched struct {
	pages    []*simulate.Page
	seeds    int
	progress io.Writer
	err      error
}

// month is what was reported in months of one kind.
type month struct {
	runs              int
	all, right, wrong int
	moved             int // runs with a moved change
	planted, found    int // changes
	delays            []int
	browser, release  int // reports with a browser version or a release as their cause
}

// months replays one month of each page and seed.
func (w *watched) months(what string, views float64, plant func(*site.Plan) bool) (out month) {
	results := make([]*month, len(w.pages)*w.seeds)
	var failed atomic.Pointer[error]
	forEach(len(results), func(i int) {
		p := site.Month(w.pages[i/w.seeds], views, uint64(i%w.seeds))
		if !plant(&p) {
			return
		}
		found, err := site.Run(site.New(p), watch.Settings{})
		if err != nil {
			failed.Store(&err)
			return
		}
		results[i] = monthOf(&p, found)
	})
	if err := failed.Load(); err != nil {
		w.err = fmt.Errorf("%s: %w", what, *err)
	}
	for _, m := range results {
		if m == nil {
			continue
		}
		out.runs += m.runs
		out.all, out.right, out.wrong, out.moved = out.all+m.all, out.right+m.right, out.wrong+m.wrong,
			out.moved+m.moved
		out.browser, out.release = out.browser+m.browser, out.release+m.release
		out.planted, out.found, out.delays = out.planted+m.planted, out.found+m.found, append(out.delays, m.delays...)
	}
	fmt.Fprintf(w.progress, "%-36s %4d months: %d reports, %d true, %d false; %d of %d found\n", what, out.runs,
		out.all, out.right, out.wrong, out.found, out.planted)
	return out
}

func monthOf(p *site.Plan, found []watch.Change) *month {
	out := &month{runs: 1, planted: len(p.Effects)}
	for _, c := range found {
		if c.Direction == watch.Moved {
			out.moved = 1
		}
	}
	for _, c := range site.Reports(found) {
		out.all++
		if slices.ContainsFunc(c.Causes, func(x watch.Cause) bool { return x.Kind == watch.CauseBrowser }) {
			out.browser++
		}
		if c.Detector == watch.ByRelease {
			out.release++
		}
		if p.True(&c) {
			out.right++
		} else {
			out.wrong++
		}
	}
	for i := range p.Effects {
		if h, ok := p.Delay(i, found); ok {
			out.found++
			out.delays = append(out.delays, h)
		}
	}
	return out
}
