package query

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/sums"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Report has the distributions of page views, by page. Times are in milliseconds per page view;
// intervals are of 95 %.
type Report struct {
	Pages []PageReport `json:"pages"` // those with the most views first
	Stats Stats        `json:"stats"`
}

// PageReport has the distributions and counts of one page.
type PageReport struct {
	Page  string `json:"page"`
	Views int64  `json:"views"` // profiled ones, counted once for each hour in which they sent traces
	// Population estimates the number of page views that these stand for, by their sampling shares.
	// A page view with an unknown share stands for itself.
	Population Estimate `json:"population"`
	// Coverage counts page views by outcome, as browsers reported them, for the whole page. It is
	// absent for a feature or other labels.
	Coverage  map[string]int64 `json:"coverage,omitempty"`
	Time      Spread           `json:"time"`       // with a stack on the main thread
	LongTasks Spread           `json:"long_tasks"` // part of Time in stretches of 50 ms or more
	// Unsampled is the share of the time, from 0 to 1, in which the browser took no samples. All
	// other values exclude this time, except Scaled: the mean of Time plus the estimated time of
	// missing samples, see [rollup.Silence]. Its interval is the interval of the mean, widened by
	// zero to twice the estimate. Both are 0 if unknown.
	Unsampled  float64 `json:"unsampled_share"`
	Scaled     float64 `json:"scaled_mean_ms"`
	ScaledLow  float64 `json:"scaled_low_ms,omitempty"`
	ScaledHigh float64 `json:"scaled_high_ms,omitempty"`
	// Own is the mean time of the profiling script. Functions lists it; all other times exclude it.
	Own      float64 `json:"own_mean_ms,omitempty"`
	Features []Part  `json:"features,omitempty"`
	Phases   []Part  `json:"phases,omitempty"`
	// Functions are the functions with the most self time; Others are the functions that are not
	// listed or were not stored separately. They are stored by release alone.
	Functions []FunctionReport `json:"functions,omitempty"`
	Others    OtherFunctions   `json:"other_functions"`
	Folded    int64            `json:"folded_views,omitempty"` // page views with too many labels to keep
}

// Part is the time of a feature or phase, in the page views that have it.
type Part struct {
	Name      string `json:"name"`
	Views     int64  `json:"views"`
	Time      Spread `json:"time"`
	LongTasks Spread `json:"long_tasks"`
}

// FunctionReport is the time of a function. Means are over all page views, percentiles over the
// page views in which it was seen.
type FunctionReport struct {
	Name     string `json:"name"`
	Resource string `json:"resource,omitempty"`
	Line     uint32 `json:"line,omitempty"`
	Column   uint32 `json:"column,omitempty"`
	Link     string `json:"source_url,omitempty"` // link to the source
	Reach    int64  `json:"reach"`                // page views in which it was seen
	Self     Spread `json:"self"`
	Total    Spread `json:"total"` // including callees
}

// OtherFunctions is the sum of unlisted functions.
type OtherFunctions struct {
	Self  float64 `json:"self_ms"` // mean over all page views
	Count int64   `json:"count"`   // a function that several hours did not keep counts more than once
}

// Estimate is a value and its interval.
type Estimate = sums.Estimate

// Spread is the distribution of a time over page views, in ms.
type Spread struct {
	Mean Estimate `json:"mean"`
	P50  Estimate `json:"p50"`
	P75  Estimate `json:"p75"`
	P95  Estimate `json:"p95"`
	// Few is set if a few page views have half of the total time or more: the mean then mostly
	// depends on them.
	Few *Few `json:"few,omitempty"`
}

// Few is the slowest 1 % of page views, at least one.
type Few struct {
	Views int64   `json:"views"`
	Share float64 `json:"share"` // share of the total time, from 0 to 1
}

// fewOf returns the slowest of n views if they have at least half of the time, or nil. Fewer than
// ten views are not enough to tell.
func fewOf(s *rollup.Spread, n int64) *Few {
	few := Few{Views: (n + 99) / 100}
	if n < 10 || s.Sum <= 0 {
		return nil
	}
	few.Share = min(math.Round(1000*s.Histogram.Largest(few.Views)/float64(s.Sum))/1000, 1)
	if few.Share < 0.5 {
		return nil
	}
	return &few
}

// reportedFunctions is the maximum number of functions in a report.
const reportedFunctions = 500

// Report implements [Source].
func (l Local) Report(ctx context.Context, sel selection.Selection) (Report, error) {
	r, err := newReporting(sel)
	if err != nil {
		return Report{}, err
	}
	if sel.Parts.Given() {
		return Report{}, selection.Refuse(
			"distributions are stored by function, not by part of the code: query the top functions or a " +
				"comparison instead")
	}
	r.naming = l.naming(sel)
	want := sel.Wanted()
	want.Details = true
	stats, err := l.eachRecord(ctx, sel, want, r.add)
	if err != nil {
		return Report{}, err
	}
	names := r.names()
	stats.Names = names.Coverage()
	reports := r.reports(names)
	for i := range reports {
		for k := range reports[i].Functions {
			f := &reports[i].Functions[k]
			f.Link = l.links().Of(names, trie.Frame{Name: f.Name, Resource: f.Resource, Line: f.Line, Column: f.Column})
		}
	}
	return Report{reports, stats}, nil
}

// reporting computes a Report.
type reporting struct {
	sums.Facet
	pages  map[string]*pageSums
	naming *naming.Naming
	own    rollup.Own
}

// pageSums adds up the rollups of a page, from which its [PageReport] is made.
type pageSums struct {
	all       rollup.Distribution
	parts     map[trie.Label]*rollup.Distribution
	functions *sums.Functions
	rest      rollup.Rest
	coverage  map[string]int64
	folded    int64
	self, own int64 // µs, like the time in silence; own is a part of self
	silence   rollup.Silence
}

// newReporting returns an error for labels without distributions.
func newReporting(sel selection.Selection) (*reporting, error) {
	if err := selection.CheckTimes(sel.Since, sel.Until); err != nil {
		return nil, err
	}
	sel.GroupBy = nil
	f, err := sums.FacetOf(sel)
	return &reporting{Facet: f, pages: map[string]*pageSums{}}, err
}

func (r *reporting) add(x store.Rolled) error {
	rec, stacks := x.Record, x.Stacks
	p := r.pages[x.Page]
	if p == nil {
		p = &pageSums{parts: map[trie.Label]*rollup.Distribution{}, functions: sums.NewFunctions(),
			coverage: map[string]int64{}}
		r.pages[x.Page] = p
	}
	r.addTimes(p, x)
	for i := range rec.Distributions {
		if d := &rec.Distributions[i]; r.TakesBase(d) {
			r.addDistribution(p, d)
		}
	}
	for i := range rec.Functions {
		of := &rec.Functions[i]
		if !r.TakesFunctions(of.Release) {
			continue
		}
		p.rest.Add(of.Rest)
		p.functions.Add(of, stacks, r.naming.ByRelease())
	}
	if r.Selection.OfPages() {
		for _, o := range rec.Outcomes {
			p.coverage[o.Reason] += o.Views
		}
	}
	return nil
}

// addTimes adds sampled and unsampled time, and the time of the profiling script.
func (r *reporting) addTimes(p *pageSums, x store.Rolled) {
	rec := x.Record
	taken := make([]bool, len(rec.Cells))
	for i, c := range rec.Cells {
		if taken[i] = r.Selection.TakesCell(c.Labels); taken[i] {
			p.silence.Stackless += c.Stackless
			p.silence.Unsampled += c.Unsampled
			p.silence.Likely += c.Likely
		}
	}
	rec.EachWeight(func(cell int, n trie.NodeID, self, _ int64) {
		if !taken[cell] {
			return
		}
		if p.self += self; r.own.Is(x.Stacks, n) {
			p.own += self
		}
	})
}

func (r *reporting) addDistribution(p *pageSums, d *rollup.Distribution) {
	if d.Labels.Value(trie.FrameOther) != "" {
		p.folded += d.Time.Count
	}
	part := sums.PartOf(d)
	if r.TakesPart(part) {
		p.all.AddAll(d)
	} else if r.Part == "" {
		if p.parts[part] == nil {
			p.parts[part] = &rollup.Distribution{}
		}
		p.parts[part].AddAll(d)
	}
}

// names returns the names of the functions of all pages.
func (r *reporting) names() *naming.Names {
	if r.naming == nil {
		return nil
	}
	for _, p := range r.pages {
		p.functions.See(r.naming, false)
	}
	return r.naming.Names()
}

func (r *reporting) reports(names *naming.Names) []PageReport {
	out := []PageReport{}
	for page, p := range r.pages {
		n := p.all.Time.Count
		missing := coverageOf(p.coverage, true)
		if n == 0 && len(missing) == 0 {
			continue
		}
		x := PageReport{Page: page, Views: n, Population: populationOf(&p.all, n), Coverage: missing, Folded: p.folded,
			Time: spreadOf(&p.all.Time, n), LongTasks: spreadOf(&p.all.Long, n),
			Unsampled: trie.Coverage{Stackless: p.silence.Stackless,
				Unsampled: p.silence.Unsampled}.UnsampledShare(p.self)}
		// sums include page views whose profiling stopped early
		x.Own = x.Time.Mean.Value * float64(p.own) / float64(max(p.self-p.own, 1))
		x.Scaled = scaled(x.Time.Mean.Value, p.self-p.own, p.silence.Likely)
		x.ScaledLow, x.ScaledHigh = widened(x.Time.Mean, x.Scaled)
		for part, d := range p.parts {
			y := Part{part.Value, d.Time.Count, spreadOf(&d.Time, d.Time.Count), spreadOf(&d.Long, d.Time.Count)}
			if part.Key == rollup.KeyFeature {
				x.Features = append(x.Features, y)
			} else {
				x.Phases = append(x.Phases, y)
			}
		}
		byTime := func(a, b Part) int {
			return cmp.Or(cmp.Compare(b.Time.Mean.Value*float64(b.Views), a.Time.Mean.Value*float64(a.Views)),
				cmp.Compare(a.Name, b.Name))
		}
		slices.SortFunc(x.Features, byTime)
		slices.SortFunc(x.Phases, byTime)
		p.reportFunctions(&x, p.functions.Named(names))
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b PageReport) int {
		return cmp.Or(cmp.Compare(b.Views, a.Views), cmp.Compare(a.Page, b.Page))
	})
	return out
}

func (p *pageSums) reportFunctions(x *PageReport, functions sums.Spreads) {
	frames := slices.SortedFunc(maps.Keys(functions), func(a, b trie.Frame) int {
		return cmp.Or(cmp.Compare(functions[b].Self.Sum, functions[a].Self.Sum), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	for i, frame := range frames {
		f := functions[frame]
		if i >= reportedFunctions {
			p.rest.Add(rollup.Rest{Functions: 1, Self: f.Self.Sum})
			continue
		}
		x.Functions = append(x.Functions, FunctionReport{
			Name: frame.Name, Resource: frame.Resource, Line: frame.Line, Column: frame.Column,
			Reach: f.Total.Count, Self: spreadOf(&f.Self, x.Views), Total: spreadOf(&f.Total, x.Views),
		})
	}
	x.Others = OtherFunctions{Self: float64(p.rest.Self) / 1000, Count: p.rest.Functions}
}

// spreadOf returns a distribution over n page views in milliseconds. Page views without any time
// count in the mean, but not in the percentiles.
func spreadOf(s *rollup.Spread, n int64) Spread {
	mean, half := s.Mean(n)
	out := Spread{Mean: interval(mean, half), Few: fewOf(s, n)}
	for q, to := range map[float64]*Estimate{0.5: &out.P50, 0.75: &out.P75, 0.95: &out.P95} {
		to.Value = s.Quantile(q) / 1000
		if low, high, ok := s.Histogram.QuantileInterval(q); ok {
			to.Low, to.High = low/1000, high/1000
		}
	}
	return out
}

// widened returns the interval of a mean plus its estimated missing time: from zero to twice the
// estimate.
func widened(mean Estimate, scaled float64) (low, high float64) {
	if mean.High == 0 {
		return 0, 0
	}
	more := 2 * (scaled - mean.Value)
	return max(mean.Low+min(more, 0), 0), mean.High + max(more, 0)
}

// interval returns the interval of a mean in µs. Its lower end is at least 0.
func interval(mean, half float64) Estimate {
	if math.IsInf(half, 1) { // a single page view has no interval
		return Estimate{Value: mean / 1000}
	}
	return Estimate{Value: mean / 1000, Low: max(mean-half, 0) / 1000, High: (mean + half) / 1000}
}

// populationOf is the Horvitz-Thompson estimate: each view counts 1/share, and the variance is the
// sum of (1/share)² - 1/share, because views are chosen independently. Views whose profiling
// stopped early are in no distribution, and stand for as many page views as the others.
func populationOf(d *rollup.Distribution, views int64) Estimate {
	each := float64(max(views, d.Time.Count)) / float64(max(d.Time.Count, 1))
	n := float64(d.Population) / 1000
	half := 1.96 * math.Sqrt(max(float64(d.PopulationSquares)/1000-n, 0))
	return Estimate{Value: each * n, Low: each * max(n-half, float64(d.Time.Count)), High: each * (n + half)}
}
