// Package compare tells changes of page views from noise.
//
// The input is two selections of page views, the sides A and B, as sums: the time and the sum of
// its squares, for the page, for each feature and for each function, by stratum. A stratum is a
// kind of page view, such as a device class with a browser. Rollups store these sums, so the cost
// of a comparison does not depend on the number of page views.
//
// # Estimator
//
// B is re-weighted to A's traffic. With w_s the share of A's page views in stratum s, the change is
// the sum over strata of w_s times the difference of the means of s. The rest of the plain
// difference of means is the mix effect: the difference that B would show with the same code, only
// because of different visitors.
//
// The variance is the sum of w_s²·(v_A/n_A + v_B/n_B) with the variances v within a stratum
// (Welch). If the pooled variance is larger, it replaces both v: a rare function that the smaller
// side happens to miss has no variance there, and would be reported as gone. Intervals and p-values
// are those of Student's t with the degrees of freedom of Welch and Satterthwaite.
//
// # Browser versions
//
// Strata have a browser without its version: each version is new for a few weeks, and few page
// views of a release share versions with another release. But a version can be faster or slower. So
// versions are random effects, estimated from contrasts of versions within a side, day and device
// (package browsers). Let d_m be the share of version m in B minus its share in A, within the
// family, δ_m the effect of the version, Σ the covariance of the effects, and µ the mean of B in
// the stratum. Then the change of the page is reduced by the sum of d_m·δ_m·µ and has an additional
// variance of µ²·d'Σd. Versions on both sides have well-known effects and add little variance; a
// version that only B has adds the full variance between versions. If both sides cover the same
// time, d is near 0.
//
// Rollups have no functions by browser, so features and functions get the correction of the page,
// and additional variance for effects of their own: the variance between versions, with a standard
// deviation of at least 1 %. Relative to the rest of the page view, only a function's own effect
// remains, because the rest contains the effect on the page.
//
// # Functions
//
// The time of a function varies with the device and with what the visitor does, like the time of
// all other functions. So a function is tested relative to the rest of the page view, if the sums
// include the covariance of both ([Amount.Product]). This test needs half of the page views. The
// result is the plain change, or the change relative to the rest if only that test is significant
// ([Change.ByRest]). A function that changed in proportion to the rest of its page views is
// [WithPage], which is no alarm.
//
// # One number
//
// [Change.Shown] is the change that every screen shows. [Change.Mean] holds A's mean, and B's mean
// with A's traffic and browser versions. They differ by exactly the change, and percentages are
// relative to A's mean. The measured means, the mix effect and the effect of browser versions
// explain the change; they are not alternatives to it.
//
// # False alarms
//
// Functions are tested together by the procedure of Benjamini and Hochberg, weighted so that
// functions with much of the page's time need less evidence. Features are a second family, and the
// page's total is a single test. The three share [Options.FalseDiscovery]: a fifth for the total, a
// fifth for features and the rest for functions. So if nothing changed, a comparison reports
// anything at all with at most that probability. Only functions seen often enough, on both sides
// together, are tested; this choice is independent of a difference between the sides.
//
// Intervals have the level at which the test was decided, so words and numbers agree: the interval
// of a change excludes 0, and the interval of noise includes it. The mix effect has an interval,
// too. With too few page views, only the measured difference is reported.
package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Amount is the time that the page views of one stratum spent in one function, feature or page.
// Page views without it count as 0 in means: their number is the stratum's page views minus Seen.
type Amount struct {
	Seen float64 // page views in which it was seen; may be unknown (0) where Sum > 0
	Sum  float64 // ms
	// Squares is the sum over page views of the square of each one's time, ms². 0 with Sum > 0
	// means unknown; then there is a change, but no interval and no alarm.
	Squares float64
	// Product is the sum over page views of its time times all JavaScript of the view, ms². 0 with
	// Sum > 0 means unknown; then the function is compared without regard to the rest of the view.
	Product float64
}

// vague reports whether the variance of the time is unknown.
func (a Amount) vague() bool { return a.Sum > 0 && a.Squares == 0 }

// Plus returns the amount of both in one.
func (a Amount) Plus(b Amount) Amount {
	return Amount{a.Seen + b.Seen, a.Sum + b.Sum, a.Squares + b.Squares, a.Product + b.Product}
}

// Function is the time that page views spent in a function.
type Function struct {
	Frame trie.Frame
	// Self is its self time by stratum. A single Amount with several strata is the sum over all of
	// them; then the function cannot be adjusted for the traffic mix.
	Self  []Amount
	Total float64 // ms in all views, including callees
	Reach float64 // page views in which it was on a stack
	Code  Code    // evidence from symbols
}

// Feature is the time that page views spent in a feature.
type Feature struct {
	Name string
	Time []Amount // by stratum, as Function.Self
}

// Side is one selection. All slices are by stratum: the same strata, in the same order, on both
// sides. Missing entries at the end of a slice count as 0.
type Side struct {
	Views    []float64 // page views
	Time     []Amount  // all of the page view
	Features []Feature
	// Functions have no duplicates, and their self times are parts of Time. If only one side lacks
	// separate data of a function, it must not leave the function out, or the function looks new or
	// gone: see Amount.Squares.
	Functions []Function
	// Versions has the page views by stratum and browser version, such as "Chrome 158". Cells has
	// the page views and times by day, device and version. Without them, effects of versions look
	// like changes.
	Versions []map[string]float64
	Cells    []browsers.Cell
}

// Input is the input of a comparison. A is before, B after.
type Input struct {
	Strata []trie.Labels
	A, B   Side
	// Browsers is the evidence of other pages of the site about browser versions.
	Browsers browsers.Evidence
}

// Options configures a comparison. Zero fields mean the defaults.
type Options struct {
	MinViews       int     // minimum page views of a side: 100
	FalseDiscovery float64 // share of false alarms among alarms: 0.05
	// Lines is the maximum distance, in lines, of a function from its expected place, which is
	// shifted like the other functions of its file: 50. It is a fifth for functions without a name.
	Lines     int
	MinSeen   int // minimum page views, of both sides together, for a test: 10
	Functions int // maximum number of listed functions: 500
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

// The shares of the total and of the features in [Options.FalseDiscovery].
const (
	totalShare   = 0.2
	featureShare = 0.2
)

// Compare returns the changes from A to B. Sums that are negative or not numbers count as 0.
func Compare(in Input, o Options) Result {
	o = o.withDefaults()
	c := newComparison(in, o)
	r := Result{
		Views:          Pair{sum(in.A.Views), sum(in.B.Views)},
		MinViews:       o.MinViews,
		FalseDiscovery: o.FalseDiscovery,
		Method: "Welch, from sums of squares by stratum; functions adjusted for the rest of the page view where " +
			"products are known",
		Strata: c.report(in),
	}
	if r.Enough = c.enough(); r.Enough {
		r.Uncovered = new(finite(c.uncovered))
	}
	r.Warnings = c.warnings(r)
	r.Total, _ = c.change(in.A.Time, in.B.Time, false)
	r.BrowserVersions = c.mixOfVersions.versions()
	r.Features = c.features(in)
	functions := c.functions(in)
	c.decide(&r, functions, in)
	r.list(functions, o.Functions)
	if w := r.versionWarning(); w != "" {
		r.Warnings = append(r.Warnings, w)
	}
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
		change, _ := c.change(byName[name].a, byName[name].b, true)
		out = append(out, FeatureChange{Name: name, Change: change})
	}
	return out
}

func (c *comparison) functions(in Input) []FunctionChange {
	pairs := match(in.A.Functions, in.B.Functions, c.o.Lines)
	out := make([]FunctionChange, 0, len(pairs))
	for _, p := range pairs {
		var none Function
		var f FunctionChange
		a, b := &none, &none
		if p.a >= 0 {
			a = &in.A.Functions[p.a]
			f.Place = PlaceOf(a.Frame)
		}
		if p.b >= 0 {
			b = &in.B.Functions[p.b]
			f.Place = PlaceOf(b.Frame)
		}
		if p.a >= 0 && p.b >= 0 && a.Frame != b.Frame {
			f.From = new(PlaceOf(a.Frame))
		}
		f.moved, f.pair = p.moved, p
		f.Code = codeOf(a, b, p)
		if f.Change, f.Unadjusted = c.change(a.Self, b.Self, true); f.leftOut() {
			continue
		}
		f.TotalMean = Pair{ratio(a.Total, c.all.a), ratio(b.Total, c.all.b)}
		f.Reach = Pair{positive(a.Reach), positive(b.Reach)}
		out = append(out, f)
	}
	return out
}

// decide sets everything that depends on all tests together.
func (c *comparison) decide(r *Result, functions []FunctionChange, in Input) {
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
	c.besides(in, functions, rest)
	for _, x := range c.families(functions, rest) {
		r.Tested += c.discover(x.changes, x.share)
	}
	for i := range functions {
		f := &functions[i]
		if f.Status == WithinNoise && f.moved {
			f.Status = Moved
		}
		f.Share = r.share(f.Shown.Value)
	}
	r.NotEdited = notEdited(functions)
	slices.SortStableFunc(r.Features, func(x, y FeatureChange) int { return cmp.Compare(y.size(), x.size()) })
}

// tested is the decision about a test, as part of its family.
type tested struct {
	q       float64
	decided float64 // the level: a test is a discovery if its p is at most this
	alone   float64 // the level if the family has no other discovery
}

// levels decides a family of tests with a share of the false discoveries. Changes that are not
// tested are not in the result.
func (c *comparison) levels(family []*Change, share float64) map[*Change]tested {
	var p, time []float64
	var of []*Change
	for _, x := range family {
		if x.tested {
			p, time, of = append(p, x.P), append(time, x.Measured.A*c.all.a+x.Measured.B*c.all.b), append(of, x)
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
	out := make(map[*Change]tested, len(of))
	for i, x := range of {
		alone := min(c.o.FalseDiscovery*share*weight[i]/float64(len(p)), c.o.FalseDiscovery)
		out[x] = tested{q[i], min(alone*float64(max(found, 1)), c.o.FalseDiscovery), alone}
	}
	return out
}

// discover sets Q, status and intervals of a family of tests with a share of the false discoveries,
// and returns the number of tests.
func (c *comparison) discover(family []*Change, share float64) (tests int) {
	levels := c.levels(family, share)
	for _, x := range family {
		t, ok := levels[x]
		if !ok {
			t = tested{1, c.o.FalseDiscovery, c.o.FalseDiscovery}
		}
		x.Q = t.q
		c.settle(x, t.alone, t.decided)
	}
	return len(levels)
}

// settle sets the intervals of a change at a level and, by them, its status. alone is the level if
// only one test of the family finds something.
func (c *comparison) settle(x *Change, alone, level float64) {
	x.Level = 1 - level
	x.Shown = x.measured.estimate(x.Measured.B-x.Measured.A, level)
	if !c.enough() || !x.tested {
		level = 0
	}
	if x.Adjusted != nil {
		*x.Adjusted = x.adjusted.estimate(x.Adjusted.Value, level)
		if x.Mix != nil {
			*x.Mix = x.mix.estimate(x.Mix.Value, level)
		}
		if x.Browser != nil {
			*x.Browser = x.browser.estimate(x.Browser.Value, level)
		}
	}
	err := x.adjusted.err
	if x.Beside != nil {
		*x.Beside, err = x.beside.estimate(x.Beside.Value, level/2), x.beside.err
		alone /= 2
	}
	x.Status = c.status(x, level)
	if x.Status == WithinNoise && x.P <= level {
		x.Beside = nil // contradicts the measured change
	}
	x.show()
	if x.Adjusted != nil && level > 0 {
		x.Detectable = new(finite((math.Sqrt2*math.Erfcinv(alone) + zPower) * err))
	}
}

// zPower is the 0.9 quantile of the normal distribution: how many standard errors beyond the
// threshold a change must be to be found nine times out of ten.
const zPower = 1.2815515655446004

func (c *comparison) status(x *Change, level float64) Status {
	switch {
	case !c.enough():
		return TooFew
	case !x.tested:
		return NotKnown
	case x.P > level || !x.agrees():
		if x.Beside != nil && !x.Adjusted.holds0() {
			return WithPage
		}
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
		out = append(out, fmt.Sprintf(
			"too few page views to detect changes: %d are needed on each side, A has %.0f and B has %.0f; %s",
			c.o.MinViews, c.all.a, c.all.b, more))
	case !r.Enough:
		out = append(out, fmt.Sprintf(
			"too few page views of the traffic that both sides have: %d are needed on each, A has %.0f and B has "+
				"%.0f; %s",
			c.o.MinViews, c.covered.a, c.covered.b, more))
	case c.uncovered > 0.01:
		out = append(out, fmt.Sprintf("%.0f %% of A's page views are not compared: B has too few of such traffic",
			100*c.uncovered))
	}
	return out
}
