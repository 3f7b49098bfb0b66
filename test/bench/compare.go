package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"text/tabwriter"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/test/simulate"
	"github.com/fieldtrie/fieldtrie/trie"
)

const (
	comparedViews = 5000 // a side
	fewViews      = 200  // a side, where false alarms are counted with few views
	plantedFactor = 1.05
	machineSigma  = 0.2 // spread of the logarithm of a machine's speed from view to view
	plantedIn     = 3   // the heaviest functions of each page
)

// comparisons simulates releases from the given page views, and counts how often a
// comparison finds a planted slowdown, and how often it reports one that was not planted.
func comparisons(traces []trace, runs int, progress io.Writer) ([]figure, error) {
	pages, err := simulatedPages(traces, simulate.NewPage)
	if err != nil {
		return nil, err
	}
	byLength, err := simulatedPages(traces, simulate.NewPageOfLengths)
	if err != nil {
		return nil, err
	}
	all := simulate.Mix("(all)", pages)
	alarms := append(alarmFigures(pages, all, runs), restFigures(pages, byLength, runs)...)
	alarms = append(alarms, sumsFigures(pages, runs)...)
	alarms = append(alarms, buildFigures(pages, runs)...)
	alarms = append(alarms, versionFigures(pages, runs)...)
	found := plant(pages, runs)
	if err := found.print(progress); err != nil {
		return nil, err
	}
	return append(append(alarms, found.figures()...), strataFigures(pages, all, runs)...), nil
}

// simulatedPages groups traces by page.
func simulatedPages(traces []trace, read func(name string, traces []*trie.Trace) (*simulate.Page,
	error)) ([]*simulate.Page, error) {
	views := map[string][]*trie.Trace{}
	var names []string
	for _, t := range traces {
		decoded, err := encode.DecodeTraceJSON(t.json, encode.Limits{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		page := decoded.Context.Page
		if views[page] == nil {
			names = append(names, page)
		}
		views[page] = append(views[page], decoded)
	}
	var out []*simulate.Page
	for _, name := range names {
		p, err := read(name, views[name])
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func scenario(views, runs int) simulate.Scenario {
	return simulate.Scenario{ViewsA: views, ViewsB: views, A: simulate.Devices(), B: simulate.Devices(),
		Sigma: machineSigma, Runs: runs, Seed: 1}
}

// forEach calls f for each number below n, on all processors, the highest first.
func forEach(n int, f func(i int)) {
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for before := range n {
		free <- struct{}{}
		wait.Go(func() {
			f(n - 1 - before)
			<-free
		})
	}
	wait.Wait()
}

// alarmFigures counts comparisons that report changes where there are none.
func alarmFigures(pages []*simulate.Page, all *simulate.Page, runs int) []figure {
	same, shifted, uneven, few := scenario(comparedViews, runs), scenario(comparedViews, runs), scenario(comparedViews,
		runs), scenario(fewViews, runs)
	for d, share := range []float64{0.2, 0.4, 0.4} {
		shifted.B[d].Share = share
	}
	uneven.ViewsB = comparedViews / 10
	device := simulate.By{Device: true}
	type counts struct{ plain, shift, blind, uneven, few simulate.Alarms }
	of := make([]counts, len(pages)+1)
	forEach(len(of), func(i int) {
		if i == len(pages) {
			fewer := same
			fewer.Runs = max(runs/5, 1) // each takes fifty times as long as one of a page
			of[i].plain = fewer.Alarms(all, simulate.By{Device: true, Page: true})[0]
			return
		}
		same, shifted, uneven, few := same, shifted, uneven, few
		same.Seed, shifted.Seed, uneven.Seed, few.Seed = 4*uint64(i), 4*uint64(i)+1, 4*uint64(i)+2, 4*uint64(i)+3
		of[i].plain = same.Alarms(pages[i], device)[0]
		of[i].shift = shifted.Alarms(pages[i], device)[0]
		shifted.Runs = max(runs/10, 1) // nearly all are false
		of[i].blind = shifted.Alarms(pages[i], simulate.By{})[0]
		of[i].uneven = uneven.Alarms(pages[i], device)[0]
		of[i].few = few.Alarms(pages[i], device)[0]
	})
	var mean counts
	for _, x := range of[:len(pages)] {
		n := float64(len(pages))
		mean.plain.Any += x.plain.Any / n
		mean.plain.Tested += x.plain.Tested / n
		mean.shift.Any += x.shift.Any / n
		mean.blind.Any += x.blind.Any / n
		mean.uneven.Any += x.uneven.Any / n
		mean.few.Any += x.few.Any / n
		for _, a := range []simulate.Alarms{x.plain, x.shift, x.uneven, x.few} {
			mean.plain.Rows, mean.plain.False, mean.plain.Contradicted = mean.plain.Rows+a.Rows,
				mean.plain.False+a.False, mean.plain.Contradicted+a.Contradicted
		}
	}
	return []figure{
		{"compare/false_alarms", mean.plain.Any, "of runs", "<= 0.05"},
		{"compare/false_alarms_uneven", mean.uneven.Any, "of runs", "<= 0.05"},
		{"compare/false_alarms_few", mean.few.Any, "of runs", "<= 0.05"},
		{"compare/false_alarms_mix", mean.shift.Any, "of runs", "<= 0.05"},
		{"compare/false_alarms_mix_uncorrected", mean.blind.Any, "of runs", ""},
		{"compare/false_alarms_all_pages", of[len(pages)].plain.Any, "of runs", "<= 0.05"},
		{"compare/rows", float64(mean.plain.Rows), "rows of equal releases", ""},
		{"compare/rows_false", 1e6 * float64(mean.plain.False) / float64(max(mean.plain.Rows, 1)),
			"in a million rows", ""},
		{"compare/rows_contradicted", float64(mean.plain.Contradicted), "rows", "<= 0"},
		{"compare/tested_functions", mean.plain.Tested, "functions a page", ""},
		{"compare/tested_functions_all_pages", of[len(pages)].plain.Tested, "functions", ""},
	}
}

// planted is the power to find a slowdown of one function.
type planted struct {
	page     *simulate.Page
	at       simulate.Power         // at comparedViews, on all device classes
	one      simulate.Power         // on one device class
	by       map[int]simulate.Power // by page views, of the heaviest function of a page
	heaviest bool
}

type plantings []planted

// otherViews are further numbers of page views at which the heaviest functions are tested.
func otherViews() []int { return []int{1000, 2000, 10_000} }

func plant(pages []*simulate.Page, runs int) plantings {
	of := make([][]planted, len(pages))
	device := simulate.By{Device: true}
	forEach(len(pages), func(i int) {
		p := pages[i]
		var functions []int
		for f := range min(plantedIn, len(p.Functions)) {
			functions = append(functions, f)
		}
		one := scenario(comparedViews, runs)
		one.A = []simulate.Device{{Name: "desktop", Factor: 1, Share: 1}}
		one.B = one.A
		alone := one.Power(p, device, functions, plantedFactor)
		for k, x := range scenario(comparedViews, runs).Power(p, device, functions, plantedFactor) {
			of[i] = append(of[i], planted{page: p, at: x, one: alone[k], heaviest: k == 0,
				by: map[int]simulate.Power{}})
		}
		for _, views := range otherViews() {
			for k, x := range scenario(views, runs).Power(p, device, functions[:1], plantedFactor) {
				of[i][k].by[views] = x
			}
		}
	})
	return slices.Concat(of...)
}

// print prints a table of the heaviest function of each page.
func (ps plantings) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "ms\tcv\t1,000\t2,000\t5,000\t10,000\tsmallest found\tone class: cv\t5,000\t  function\t")
	for _, p := range ps {
		if !p.heaviest {
			continue
		}
		name := p.page.Functions[p.at.Function].Name
		fmt.Fprintf(t, "%.0f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.1f %%\t%.2f\t%.2f\t  %q of %s\t\n",
			p.page.Mean[p.at.Function], p.at.Variation,
			p.by[1000].Found, p.by[2000].Found, p.at.Found, p.by[10_000].Found, 100*p.at.Detectable, p.one.Variation,
			p.one.Found, name, p.page.Name)
	}
	return t.Flush()
}

// figures returns the share of the functions for which the target power is reached.
func (ps plantings) figures() []figure {
	const power = 0.9
	var reached, reachedOne, wrong, steady, steadyReached float64
	var variation, detectable, views []float64
	for _, p := range ps {
		each := 1 / float64(len(ps))
		wrong += each * p.at.False
		for _, x := range []struct {
			simulate.Power
			to *float64
		}{{p.at, &reached}, {p.one, &reachedOne}} {
			if x.Found >= power {
				*x.to += each
			}
			if x.Variation <= steadyVariation {
				steady++
				if x.Found >= power {
					steadyReached++
				}
			}
		}
		variation = append(variation, p.at.Variation)
		detectable = append(detectable, 100*p.at.Detectable)
		short := p.at.Detectable / (plantedFactor - 1)
		views = append(views, comparedViews*short*short)
	}
	return []figure{
		{"compare/power_steady", steadyReached / max(steady, 1), "of functions with cv <= 0.45", "1"},
		{"compare/steady", steady, "of them", ""},
		{"compare/power_reached", reached, "of the 3 heaviest of each page", ""},
		{"compare/power_reached_one_class", reachedOne, "of the same, one device class", ""},
		{"compare/cv_median", median(variation), "of mean", ""},
		{"compare/detectable_median", median(detectable), "%", ""},
		{"compare/views_median", median(views), "views a side for 5 %", ""},
		{"compare/false_discoveries", wrong, "of alarms", "<= 0.05"},
	}
}

// steadyVariation is the coefficient of variation up to which a change of 5 % can be found
// nine times out of ten with 5,000 views per side, among a few hundred other functions.
const steadyVariation = 0.45

// strataFigures measures how much narrower intervals become by strata.
func strataFigures(pages []*simulate.Page, all *simulate.Page, runs int) []figure {
	var ratios []float64
	s := scenario(comparedViews, max(runs/50, 1))
	heaviest := func(p *simulate.Page, by simulate.By) simulate.Power {
		return s.Power(p, by, []int{0}, plantedFactor)[0]
	}
	width := func(p *simulate.Page, by simulate.By) float64 { return heaviest(p, by).Variation }
	for _, p := range pages {
		ratios = append(ratios, width(p, simulate.By{Device: true})/width(p, simulate.By{}))
	}
	both := heaviest(all, simulate.By{Device: true, Page: true})
	return []figure{
		{"compare/interval_by_device", median(ratios), "of that without strata", ""},
		{"compare/interval_by_page", both.Variation / width(all, simulate.By{Device: true}),
			"of the width by device alone, all pages as one", ""},
		{"compare/detectable_all_pages", 100 * both.Detectable, "%, heaviest function of all pages as one", ""},
	}
}
