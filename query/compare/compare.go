// Package compare tells changes of page views from noise.
//
// Two selections of page views, the sides A and B, are given as sums: for the page, for
// each feature and for each function, how much time there was and the sum of its squares,
// by stratum, which is a kind of page view such as a device class with a browser. That is
// what rollups keep, so a comparison costs the same however many page views there were.
//
// # Estimator
//
// B is re-weighted to A's traffic. With w_s the share of A's page views in stratum s, the
// change is the sum over strata of w_s times the difference of the means of s. What is
// left of the plain difference of means is the mix effect: what B would have shown with
// the same code, only because other people came.
//
// The variance is the sum of w_s²·(v_A/n_A + v_B/n_B) with the variances v within a
// stratum (Welch). Where that is larger, both v are replaced by the pooled one: a rare
// function that a smaller side happens not to have seen shows no variance there, and
// would be called gone. Intervals and p-values are those of Student's t with the degrees
// of freedom of Welch and Satterthwaite.
//
// # False alarms
//
// Functions are tested together by the procedure of Benjamini and Hochberg, with weights
// by which those that take much of the page's time need less evidence; features too, and
// the page's total is one test. These three share [Options.FalseDiscovery]: a fifth
// for the total, a fifth for features and the rest for functions, so that a comparison in
// which nothing changed shows anything at all with at most that probability. Only
// functions that were seen often enough are tested, on both sides together, which says
// nothing about a difference between them.
//
// Intervals have the level at which the test was decided, so that words and numbers agree: what is
// called a change has an interval without 0, and what is within noise has one that holds 0.
// How much traffic contributes has an interval, too. With too few page views nothing is
// said but the difference as it was measured.
package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Amount is what the page views of one stratum spent on one thing. Page views in which it
// was not seen count as 0 in means: their number is that of the stratum's views less Seen.
type Amount struct {
	Seen float64 // page views in which it was seen; may be unknown (0) where Sum > 0
	Sum  float64 // ms
	// Squares is the sum over page views of the square of each one's time, ms². 0 where
	// Sum > 0 means that it is not known; then there is a change, but no interval and no alarm.
	Squares float64
}

// vague reports whether it is not known how the time varies.
func (a Amount) vague() bool { return a.Sum > 0 && a.Squares == 0 }

func (a Amount) plus(b Amount) Amount {
	return Amount{a.Seen + b.Seen, a.Sum + b.Sum, a.Squares + b.Squares}
}

// Function is what page views spent in one function.
type Function struct {
	Frame trie.Frame
	// Self is its own time by stratum. One Amount where there are several strata is that of
	// all of them together; then the function can not be corrected for the traffic mix.
	Self  []Amount
	Total float64 // ms in all views, with what it called
	Reach float64 // page views in which it was on a stack
}

// Feature is what page views spent in one feature.
type Feature struct {
	Name string
	Time []Amount // by stratum, as Function.Self
}

// Side is one selection. All slices are by stratum: the same strata, in the same order, on
// both sides. What is missing at the end of a slice counts as 0.
type Side struct {
	Views    []float64 // page views
	Time     []Amount  // all of the page view
	Features []Feature
	// Functions are each there once, and their self times are parts of Time. One that a side
	// spent time in but that was not kept by itself must not be left out of that side alone,
	// or it is taken for new or gone: see Amount.Squares.
	Functions []Function
}

// Input is what is compared. A is what was before, B what came after.
type Input struct {
	Strata []trie.Labels
	A, B   Side
}

// Options say how to compare. The zero value stands for the defaults.
type Options struct {
	MinViews       int     // page views that a side must have: 100
	FalseDiscovery float64 // share of false alarms among alarms: 0.05
	// Lines is how far a function may be from where the others of its file went and still
	// be the same for sure: 50. It is a fifth for functions that have no name.
	Lines     int
	MinSeen   int // page views in which a thing must have been seen, on both sides together, to be tested: 10
	Functions int // how many functions are listed: 500
}

func (o Options) withDefaults() Options {
	set := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	set(&o.MinViews, 100)
	set(&o.Lines, 50)
	set(&o.MinSeen, 10)
	set(&o.Functions, 500)
	if !(o.FalseDiscovery > 0 && o.FalseDiscovery < 1) {
		o.FalseDiscovery = 0.05
	}
	return o
}

// The shares of [Options.FalseDiscovery] that the total and the features have of it.
const (
	totalShare   = 0.2
	featureShare = 0.2
)

// Compare says what changed from A to B. Sums that are negative or not numbers count as 0.
func Compare(in Input, o Options) Result {
	o = o.withDefaults()
	c := newComparison(in, o)
	r := Result{
		Views:          Pair{sum(in.A.Views), sum(in.B.Views)},
		MinViews:       o.MinViews,
		FalseDiscovery: o.FalseDiscovery,
		Method:         "Welch, from sums of squares by stratum",
		Strata:         c.report(in),
	}
	if r.Enough = c.enough(); r.Enough {
		r.Uncovered = new(finite(c.uncovered))
	}
	r.Warnings = c.warnings(r)
	r.Total, _ = c.change(in.A.Time, in.B.Time)
	r.Features = c.features(in)
	functions := c.functions(in)
	c.decide(&r, functions)
	r.list(functions, o.Functions)
	return r
}

func (c *comparison) features(in Input) []FeatureChange {
	type both struct{ a, b []Amount }
	byName := map[string]*both{}
	var names []string
	at := func(name string) *both {
		if byName[name] == nil {
			byName[name] = &both{}
			names = append(names, name)
		}
		return byName[name]
	}
	for _, f := range in.A.Features {
		at(f.Name).a = f.Time
	}
	for _, f := range in.B.Features {
		at(f.Name).b = f.Time
	}
	slices.Sort(names)
	out := []FeatureChange{}
	for _, name := range names {
		change, _ := c.change(byName[name].a, byName[name].b)
		out = append(out, FeatureChange{Name: name, Change: change})
	}
	return out
}

func (c *comparison) functions(in Input) []FunctionChange {
	pairs := match(in.A.Functions, in.B.Functions, c.o.Lines)
	out := make([]FunctionChange, len(pairs))
	for i, p := range pairs {
		var none Function
		a, b, f := &none, &none, &out[i]
		if p.a >= 0 {
			a = &in.A.Functions[p.a]
			f.Place = placeOf(a.Frame)
		}
		if p.b >= 0 {
			b = &in.B.Functions[p.b]
			f.Place = placeOf(b.Frame)
		}
		if p.a >= 0 && p.b >= 0 && a.Frame != b.Frame {
			f.From = new(placeOf(a.Frame))
		}
		f.moved = p.moved
		f.Change, f.Unadjusted = c.change(a.Self, b.Self)
		f.TotalMean = Pair{ratio(a.Total, c.all.a), ratio(b.Total, c.all.b)}
		f.Reach = Pair{positive(a.Reach), positive(b.Reach)}
	}
	return out
}

// decide fills in what depends on all tests together.
func (c *comparison) decide(r *Result, functions []FunctionChange) {
	changes := []*Change{&r.Total}
	c.discover(changes, totalShare)
	rest := 1 - totalShare
	if len(r.Features) > 0 {
		changes = changes[:0]
		for i := range r.Features {
			changes = append(changes, &r.Features[i].Change)
		}
		c.discover(changes, featureShare)
		rest -= featureShare
	}
	changes = changes[:0]
	for i := range functions {
		changes = append(changes, &functions[i].Change)
	}
	r.Tested = c.discover(changes, rest)
	for i := range functions {
		f := &functions[i]
		if f.Status == WithinNoise && f.moved {
			f.Status = Moved
		}
		f.Share = r.share(f.Change.Shown().Value)
	}
	slices.SortStableFunc(r.Features, func(x, y FeatureChange) int { return cmp.Compare(y.size(), x.size()) })
}

// discover sets q, status and intervals of a family of tests, which has a share of the false
// discoveries, and returns how many were tested.
func (c *comparison) discover(family []*Change, share float64) (tested int) {
	var p, time []float64
	for _, x := range family {
		if x.tested {
			p, time = append(p, x.P), append(time, x.Mean.A*c.all.a+x.Mean.B*c.all.b)
		}
	}
	weight := weights(time)
	q := adjust(p, weight)
	found := 0
	for i := range q {
		q[i] = min(q[i]/share, 1)
		if q[i] <= c.o.FalseDiscovery {
			found++
		}
	}
	for _, x := range family {
		alone, level := c.o.FalseDiscovery, c.o.FalseDiscovery
		x.Q = 1
		if x.tested {
			x.Q = q[tested]
			alone = min(c.o.FalseDiscovery*share*weight[tested]/float64(len(p)), c.o.FalseDiscovery)
			level = min(alone*float64(max(found, 1)), c.o.FalseDiscovery)
			tested++
		}
		c.settle(x, alone, level)
	}
	return tested
}

// settle sets the status of a change and, by the same level, its intervals. alone is the level of a test that
// is the only one of its family to find something.
func (c *comparison) settle(x *Change, alone, level float64) {
	x.Level = 1 - level
	x.Status = c.status(x, level)
	x.Difference = x.measured.estimate(x.Difference.Value, level)
	if x.Adjusted == nil {
		return
	}
	if x.Status == NotKnown {
		level = 0
	}
	*x.Adjusted = x.adjusted.estimate(x.Adjusted.Value, level)
	if x.Mix != nil {
		*x.Mix = x.mix.estimate(x.Mix.Value, level)
	}
	if level > 0 {
		x.Detectable = new(finite((math.Sqrt2*math.Erfcinv(alone) + zPower) * x.adjusted.err))
	}
}

// zPower is the quantile 0.9 of the normal distribution: how many standard errors beyond
// the threshold a change must be to be found nine times of ten.
const zPower = 1.2815515655446004

func (c *comparison) status(x *Change, level float64) Status {
	switch {
	case !c.enough():
		return TooFew
	case !x.tested:
		return NotKnown
	case x.P > level:
		return WithinNoise
	case x.only == onlyA:
		return Gone
	case x.only == onlyB:
		return New
	case x.Adjusted.Value > 0:
		return Slower
	}
	return Faster
}

func (c *comparison) warnings(r Result) (out []string) {
	const more = "ask for a longer time, wait for more, or lower --min-views (min_views)"
	switch {
	case min(c.all.a, c.all.b) < float64(c.o.MinViews):
		out = append(out, fmt.Sprintf("too few page views to say what changed: %d are needed on each side, A has %.0f and B has %.0f; %s",
			c.o.MinViews, c.all.a, c.all.b, more))
	case !r.Enough:
		out = append(out, fmt.Sprintf("too few page views of devices and browsers that both sides have: %d are needed on each, A has %.0f and B has %.0f; %s",
			c.o.MinViews, c.covered.a, c.covered.b, more))
	case c.uncovered > 0.01:
		out = append(out, fmt.Sprintf("%.0f %% of A's page views are of traffic that B has hardly any of; the changes are without them", 100*c.uncovered))
	}
	return out
}
