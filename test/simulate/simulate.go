// Package simulate draws releases from real page views, to measure the power and the false
// alarms of comparisons.
//
// A page view of a release is one of the real ones, drawn with replacement, so the times of
// its functions are correlated as in reality. All its times are multiplied by the factor of
// its device class, and by a log-normal factor with mean 1 for the momentary speed of the
// device. A change is planted by multiplying the self time of one function. Each script of a
// page stands for a feature.
//
// Single page views are never constructed: the sums of a release follow from how often each
// real view was drawn on each device class, and from the sums of the factors and of their
// squares.
package simulate

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Device is a class of devices.
type Device struct {
	Name   string
	Factor float64 // slowdown of its page views
	Share  float64 // of page views; all shares sum to 1
	Every  int     // only each Every-th real page view is drawn; 0: all are
}

// Devices returns the default device classes.
func Devices() []Device {
	return []Device{{Name: "desktop", Factor: 1, Share: 0.4}, {Name: "mobile-high", Factor: 2, Share: 0.4},
		{Name: "mobile-low", Factor: 4, Share: 0.2}}
}

// Page is the real page views of one page, or of several, with their times by function.
type Page struct {
	Name      string
	Functions []trie.Frame // the heaviest first
	Mean      []float64    // by function: ms of a real page view
	views     []view
	lengths   int      // versions of each real page view, cut off at different times
	groups    []string // page of each view
	scripts   []string // features
	scriptOf  []int    // by function
}

// view is one real page view.
type view struct {
	group int
	spent []spent // by function, only those that have self time
	all   float64 // ms
	in    []float64
}

type spent struct {
	function int
	ms       float64
}

// NewPage reads the real page views of a page, one trace each.
func NewPage(name string, traces []*trie.Trace) (*Page, error) { return newPage(name, traces, 1) }

// NewPageOfLengths is like NewPage, but has five versions of each page view: complete, and left by
// the visitor after 60, 70, 80 and 90 % of its time.
func NewPageOfLengths(name string, traces []*trie.Trace) (*Page, error) {
	const lengths = 5
	var all []*trie.Trace
	for _, t := range traces {
		for i := range lengths {
			cut, n := *t, len(t.Samples)
			if n > 0 {
				end := t.Samples[n-1].Time * int64(6+i) / 10
				cut.Samples = t.Samples[:max(1, sort.Search(n, func(k int) bool { return t.Samples[k].Time > end }))]
			}
			all = append(all, &cut)
		}
	}
	return newPage(name, all, lengths)
}

func newPage(name string, traces []*trie.Trace, lengths int) (*Page, error) {
	p := &Page{Name: name, groups: []string{name}, lengths: lengths}
	at := map[trie.Frame]int{}
	for _, t := range traces {
		b := rollup.NewBuilder(name, trie.New(), rollup.Limits{Functions: 1 << 20})
		t.Context.Page = name
		b.Begin(1)
		b.Add(t)
		b.End()
		rec, err := b.Record()
		if err != nil {
			return nil, fmt.Errorf("page %s: %w", name, err)
		}
		var v view
		for _, release := range rec.Functions {
			for i := range release.Of {
				frame := b.Stacks().FrameOf(release.Of[i].Frame)
				v.spent = append(v.spent, spent{p.number(at, frame), float64(release.Of[i].Self.Sum) / 1000})
			}
		}
		p.views = append(p.views, v)
	}
	p.finish()
	return p, nil
}

// Mix returns the page views of all pages as one page. A function on several pages becomes
// one function.
func Mix(name string, pages []*Page) *Page {
	out := &Page{Name: name, lengths: 1}
	at := map[trie.Frame]int{}
	for g, p := range pages {
		out.groups = append(out.groups, p.Name)
		for _, v := range p.views {
			x := view{group: g}
			for _, s := range v.spent {
				x.spent = append(x.spent, spent{out.number(at, p.Functions[s.function]), s.ms})
			}
			out.views = append(out.views, x)
		}
	}
	out.finish()
	return out
}

func (p *Page) number(at map[trie.Frame]int, f trie.Frame) int {
	i, ok := at[f]
	if !ok {
		i = len(p.Functions)
		at[f] = i
		p.Functions = append(p.Functions, f)
	}
	return i
}

// finish sorts functions by time and sums the times of views by script.
func (p *Page) finish() {
	mean := make([]float64, len(p.Functions))
	order := make([]int, len(p.Functions))
	for _, v := range p.views {
		for _, s := range v.spent {
			mean[s.function] += s.ms / float64(len(p.views))
		}
	}
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(mean[j], mean[i]) })
	place := make([]int, len(order))
	old, scripts := p.Functions, map[string]int{}
	p.Functions = make([]trie.Frame, len(old))
	p.Mean = make([]float64, len(old))
	p.scriptOf = make([]int, len(old))
	for to, from := range order {
		place[from] = to
		p.Functions[to], p.Mean[to] = old[from], mean[from]
		script := old[from].Resource
		if _, ok := scripts[script]; !ok {
			scripts[script] = len(p.scripts)
			p.scripts = append(p.scripts, script)
		}
		p.scriptOf[to] = scripts[script]
	}
	for i := range p.views {
		v := &p.views[i]
		v.in = make([]float64, len(p.scripts))
		for k := range v.spent {
			s := &v.spent[k]
			s.function = place[s.function]
			v.all += s.ms
			v.in[p.scriptOf[s.function]] += s.ms
		}
	}
}

// Release is a number of drawn page views.
type Release struct {
	page    *Page
	devices []Device
	drawn   [][]drawn // by device and real view
}

// drawn is the sum of the page views drawn from one real view on one device class.
type drawn struct {
	views, factors, squares float64
}

// amount returns the amount of a function or feature that takes ms of a page view that takes all.
func (d drawn) amount(ms, all float64) compare.Amount {
	if ms == 0 {
		return compare.Amount{}
	}
	return compare.Amount{Seen: d.views, Sum: d.factors * ms, Squares: d.squares * ms * ms,
		Product: d.squares * ms * all}
}

// Draw draws page views; sigma is the standard deviation of the logarithm of the device's
// speed. Longer takes the longer of two lengths for each page view.
func (p *Page) Draw(rng *rand.Rand, views int, devices []Device, sigma float64, longer bool) Release {
	r := Release{p, devices, make([][]drawn, len(devices))}
	for d := range devices {
		r.drawn[d] = make([]drawn, len(p.views))
	}
	for range views {
		u, d := rng.Float64(), 0
		for u >= devices[d].Share && d < len(devices)-1 {
			u -= devices[d].Share
			d++
		}
		factor := devices[d].Factor * math.Exp(sigma*rng.NormFloat64()-sigma*sigma/2)
		v := rng.IntN(len(p.views))
		v -= v % max(devices[d].Every, 1)
		if other := rng.IntN(p.lengths); longer && other > v%p.lengths {
			v += other - v%p.lengths
		}
		x := &r.drawn[d][v]
		x.views++
		x.factors += factor
		x.squares += factor * factor
	}
	return r
}

// By selects the strata of page views.
type By struct {
	Device, Page bool
	// Summed keeps of functions only what rollups keep: their variation over all strata together.
	Summed bool
}

func (r Release) strata(by By) (n int, of func(device, group int) int) {
	n, devices := 1, 1
	if by.Device {
		devices = len(r.devices)
	}
	n = devices
	if by.Page {
		n *= len(r.page.groups)
	}
	return n, func(device, group int) int {
		s := 0
		if by.Page {
			s = group * devices
		}
		if by.Device {
			s += device
		}
		return s
	}
}

// Strata returns the labels of the strata, in the order of [Release.Side].
func (r Release) Strata(by By) []trie.Labels {
	n, of := r.strata(by)
	out := make([]trie.Labels, n)
	for d := range r.devices {
		for g := range r.page.groups {
			var pairs []string
			if by.Device {
				pairs = append(pairs, "device", r.devices[d].Name)
			}
			if by.Page {
				pairs = append(pairs, "page", r.page.groups[g])
			}
			out[of(d, g)] = trie.MakeLabels(pairs...)
		}
	}
	return out
}

// Side returns the sums of the release, by strata.
func (r Release) Side(by By) compare.Side {
	n, of := r.strata(by)
	p := r.page
	s := compare.Side{Views: make([]float64, n), Time: make([]compare.Amount, n)}
	amounts := make([]compare.Amount, n*(len(p.Functions)+len(p.scripts)))
	next := func() []compare.Amount {
		out := amounts[:n:n]
		amounts = amounts[n:]
		return out
	}
	for _, f := range p.Functions {
		s.Functions = append(s.Functions, compare.Function{Frame: f, Self: next()})
	}
	for _, name := range p.scripts {
		s.Features = append(s.Features, compare.Feature{Name: name, Time: next()})
	}
	for d := range r.devices {
		for v, x := range r.drawn[d] {
			if x.views == 0 {
				continue
			}
			viewed, to := &p.views[v], of(d, p.views[v].group)
			s.Views[to] += x.views
			plus(&s.Time[to], x.amount(viewed.all, viewed.all))
			for _, sp := range viewed.spent {
				f := &s.Functions[sp.function]
				plus(&f.Self[to], x.amount(sp.ms, viewed.all))
				f.Total += x.factors * sp.ms
				f.Reach += x.views
			}
			for i, ms := range viewed.in {
				plus(&s.Features[i].Time[to], x.amount(ms, viewed.all))
			}
		}
	}
	return s
}

// Slow multiplies the self time of a function in s, the release's side by the same strata,
// by factor. It returns a function that reverts the change.
func (r Release) Slow(s *compare.Side, by By, function int, factor float64) (undo func()) {
	was := *s
	p, feature := r.page, r.page.scriptOf[function]
	_, of := r.strata(by)
	s.Time = slices.Clone(s.Time)
	s.Features = slices.Clone(s.Features)
	s.Features[feature].Time = slices.Clone(s.Features[feature].Time)
	s.Functions = slices.Clone(s.Functions)
	for i := range s.Functions {
		s.Functions[i].Self = slices.Clone(s.Functions[i].Self)
	}
	for v := range p.views {
		viewed := &p.views[v]
		i := slices.IndexFunc(viewed.spent, func(x spent) bool { return x.function == function })
		if i < 0 {
			continue
		}
		more := viewed.spent[i].ms * (factor - 1)
		for d := range r.devices {
			x, to := r.drawn[d][v], of(d, viewed.group)
			replace := func(at []compare.Amount, ms, more, moreOfAll float64) {
				old, now := x.amount(ms, viewed.all), x.amount(ms+more, viewed.all+moreOfAll)
				at[to].Sum += now.Sum - old.Sum
				at[to].Squares += now.Squares - old.Squares
				at[to].Product += now.Product - old.Product
			}
			replace(s.Time, viewed.all, more, more)
			replace(s.Features[feature].Time, viewed.in[feature], more, more)
			for k, sp := range viewed.spent {
				if k == i {
					replace(s.Functions[sp.function].Self, sp.ms, more, more)
				} else {
					replace(s.Functions[sp.function].Self, sp.ms, 0, more)
				}
			}
		}
	}
	return func() { *s = was }
}

func plus(to *compare.Amount, x compare.Amount) {
	to.Seen += x.Seen
	to.Sum += x.Sum
	to.Squares += x.Squares
	to.Product += x.Product
}
