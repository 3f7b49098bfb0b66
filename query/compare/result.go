package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Status is the result for a function, a feature or the page.
type Status string

// Statuses of a change. Slower, Faster, New and Gone are alarms: the change is significant after
// the correction for the number of tests, and its interval excludes 0.
const (
	Slower Status = "slower"
	Faster Status = "faster"
	New    Status = "new"  // significant, and seen in B alone
	Gone   Status = "gone" // significant, and seen in A alone
	// Moved is a function with the same name and no significant change of time, but another place:
	// in another file, or far from the new place of its neighbours.
	Moved Status = "moved"
	// WithPage is a function that changed in proportion to the rest of its page views. Its interval
	// excludes 0, but it is no alarm.
	WithPage Status = "with the page"
	// WithinNoise means tested without a detected change: the interval includes 0.
	WithinNoise Status = "within noise"
	// NotKnown means not tested in a comparison with enough page views: it was seen in fewer
	// than Options.MinSeen of them, or its variance is unknown. It has no interval.
	NotKnown Status = "not known"
	// TooFew is the status of everything in a comparison with too few page views to detect
	// changes.
	TooFew Status = "too few views"
)

// Alarm reports whether s is a significant change.
func (s Status) Alarm() bool { return s == Slower || s == Faster || s == New || s == Gone }

// Result is the changes from A to B. Times are in milliseconds per page view.
type Result struct {
	Views          Pair      `json:"views"`
	MinViews       int       `json:"min_views"` // needed on each side
	Enough         bool      `json:"enough"`    // both sides have them
	FalseDiscovery float64   `json:"false_discovery"`
	Method         string    `json:"method"` // of the intervals
	Total          Change    `json:"total"`  // of the page
	Strata         []Stratum `json:"strata"`
	// Uncovered is the share of A's views in strata that were left out because B hardly has
	// them. It is null if Enough is false, as the strata are then too small to tell.
	Uncovered *float64        `json:"uncovered"`
	Features  []FeatureChange `json:"features"`
	// Functions lists the significant changes first, then the others, each by size of the change.
	Functions []FunctionChange `json:"functions"`
	Tested    int              `json:"tested_functions"`
	// NotEdited summarizes the functions that screens fold, see [Result.Folded]. It is nil if no
	// function that ran is known to be edited.
	NotEdited *NotEdited `json:"not_edited,omitempty"`
	Rest      Rest       `json:"rest"`
	// BrowserVersions lists the browser versions of both sides, if known, the largest difference in
	// share first.
	BrowserVersions []BrowserVersion `json:"browser_versions,omitempty"`
	Warnings        []string         `json:"warnings,omitempty"`
}

// Pair is a number for each side.
type Pair struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// Estimate is a value with its interval, which is absent if unknown.
type Estimate struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// Change is the change of a time. Unknown values are null, never 0.
type Change struct {
	// Mean is A's mean, and B's with A's traffic and browser versions. B less A is Shown.
	Mean Pair `json:"mean_ms"`
	// Shown is the change that every screen shows: with A's traffic, in the strata that both sides
	// have. With too few page views, it is the measured difference. Its interval excludes 0 exactly
	// if the status is an alarm or WithPage.
	Shown Estimate `json:"change_ms"`
	// ByRest reports that Shown is the change relative to the rest of the page view, because only
	// that change is significant. Plain is then the change in absolute time.
	ByRest bool      `json:"at_equal_rest,omitempty"`
	Plain  *Estimate `json:"plain_change_ms,omitempty"`
	// Measured holds the means over all page views. B minus A is the sum of Adjusted, Mix, Browser
	// and LeftOut.
	Measured Pair `json:"measured_ms"`
	// Mix is the effect of B's traffic mix alone. It is null if it cannot be separated from the
	// change: there are too few page views, or Unadjusted is set.
	Mix *Estimate `json:"mix_ms"`
	// Browser is the effect of B's browser versions alone, see the package comment. It is null if
	// they are unknown.
	Browser *Estimate `json:"browser_ms"`
	// LeftOut is the contribution of A's strata that were left out: its cause is unknown.
	LeftOut *float64 `json:"left_out_ms"`
	// Adjusted is the change with A's traffic, in absolute time. It is nil if there are too few
	// page views.
	Adjusted *Estimate `json:"-"`
	// Beside is the change of a function relative to the rest of the page view: the change that
	// would remain if all other JavaScript had taken as long as before, see the package comment. If
	// set, it determines the status: its interval excludes 0 for an alarm, and includes 0 for
	// WithinNoise.
	Beside *Estimate `json:"-"`
	// Level is the level of all intervals of this change, such as 0.95. Changes selected among
	// many have intervals corrected for the selection, after Benjamini and Yekutieli, "False
	// Discovery Rate–Adjusted Multiple Confidence Intervals for Selected Parameters", J. Am.
	// Stat. Assoc. 100 (2005).
	Level    float64  `json:"level"`
	Relative *float64 `json:"relative,omitempty"` // Shown divided by A's mean: at least -1
	P        float64  `json:"p"`                  // of no change, two-sided; 1 if it was not tested
	// Q is P corrected for all tests: the smallest false discovery rate at which this is a
	// discovery. It is an alarm if both Q and P are at most Result.FalseDiscovery.
	Q float64 `json:"q"`
	// Detectable is the size of a change that nine of ten such comparisons would detect. They may
	// detect smaller ones, too. It includes sampling noise, which only more page views or a shorter
	// sampling interval reduce: a function with short runs of m ms per page view has a variance of
	// at least m times the interval.
	Detectable *float64 `json:"detectable_ms"`
	Status     Status   `json:"status"`

	adjusted, measured, mix, browser, beside deviation

	base   float64 // A's mean in the strata of both
	scale  float64 // of Beside, where it is shown
	tested bool
	only   only
}

// times returns an estimate multiplied by a factor above 0.
func (e *Estimate) times(factor float64) Estimate {
	out := Estimate{Value: finite(e.Value * factor)}
	if e.Low != nil && e.High != nil {
		out.Low, out.High = new(*e.Low*factor), new(*e.High*factor)
	}
	return out
}

// leftOut reports whether all of the time is in strata that are compared with nothing.
func (c *Change) leftOut() bool {
	return c.Adjusted != nil && c.base == 0 && c.Adjusted.Value == 0 && c.Measured.A+c.Measured.B > 0
}

// show sets Shown, Mean and Relative by the status and the intervals.
func (c *Change) show() {
	switch {
	case c.Status.Alarm() && c.Beside != nil && c.Adjusted.holds0():
		c.ByRest, c.Plain, c.Shown = true, c.Adjusted, c.Beside.times(c.scale)
	case c.Adjusted != nil:
		c.Shown = *c.Adjusted
	}
	if c.Adjusted == nil {
		return
	}
	c.Mean = Pair{c.base, max(c.base+c.Shown.Value, 0)}
	if c.base > 0 {
		c.Relative = new(finite(max(c.Shown.Value/c.base, -1)))
	}
}

// agrees reports whether the plain change has the direction of the change relative to the rest, and
// a similar size.
func (c *Change) agrees() bool {
	if c.Beside == nil {
		return true
	}
	plain, beside := c.Adjusted.Value, c.Beside.Value
	return plain*beside > 0 && math.Abs(plain) >= math.Abs(beside)/2
}

// holds0 reports whether an interval is unknown or includes 0.
func (e *Estimate) holds0() bool { return e.Low == nil || *e.Low <= 0 && *e.High >= 0 }

// only is the side that has a value while the other has none.
type only uint8

const (
	onlyNone only = iota
	onlyA
	onlyB
)

// FeatureChange is the change of a feature's time.
type FeatureChange struct {
	Name string `json:"name"`
	Change
}

// Place is a function by name and place.
type Place struct {
	Name     string `json:"name"`
	Resource string `json:"resource,omitempty"`
	Line     uint32 `json:"line,omitempty"`
	Column   uint32 `json:"column,omitempty"`
}

// PlaceOf returns the place of f, whose lines and columns count from 1; 0 is unknown.
func PlaceOf(f trie.Frame) Place { return Place{f.Name, f.Resource, f.Line, f.Column} }

func (p Place) compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Name, q.Name), cmp.Compare(p.Resource, q.Resource), cmp.Compare(p.Line, q.Line),
		cmp.Compare(p.Column, q.Column))
}

// FunctionChange is the change of a function's self time. Its place is that in B, or in A if B
// does not have it.
type FunctionChange struct {
	Place
	From *Place `json:"from,omitempty"` // the same function in A, if its name or place differs
	Change
	TotalMean  Pair `json:"total_ms"` // mean including callees
	Reach      Pair `json:"reach"`    // page views in which it was on a stack
	Code       Code `json:"code,omitempty"`
	Unadjusted bool `json:"unadjusted,omitempty"`
	// Share is the function's change divided by the change of the page's total. Self times add up
	// to the total, so the shares of all functions and the rest add up to 1; some may be negative
	// or above 1. It is absent if the total's interval includes 0, because the quotient would be
	// meaningless.
	Share *float64 `json:"share,omitempty"`

	moved bool
	pair  pair
}

// Rest is the page's time outside all listed functions.
type Rest struct {
	Functions int      `json:"functions"` // not listed
	Mean      Pair     `json:"mean_ms"`
	Change    float64  `json:"change_ms"`
	Share     *float64 `json:"share,omitempty"`
}

// Stratum is a kind of page view.
type Stratum struct {
	Labels map[string]string `json:"labels"`
	Views  Pair              `json:"views"`
	Share  Pair              `json:"share"`   // of the side's views
	Mean   Pair              `json:"mean_ms"` // time of the page
	Use    StratumUse        `json:"use"`
	// Browser is the effect of B's browser versions on the time, relative: 0.01 is 1 % slower.
	Browser float64 `json:"browser_effect,omitempty"`
}

// StratumUse is whether and how a stratum is compared.
type StratumUse string

// Uses of strata.
const (
	StratumOwn     StratumUse = "own"      // compared on its own
	StratumPooled  StratumUse = "pooled"   // too small, compared together with other small strata
	StratumLeftOut StratumUse = "left out" // one side has too few page views
	StratumTooFew  StratumUse = "too few"  // both sides have too few page views, even pooled
)

// share returns v divided by the change of the total, or nil if that may be 0.
func (r *Result) share(v float64) *float64 {
	t := r.Total.Adjusted
	if t == nil || t.Low == nil || *t.Low <= 0 && *t.High >= 0 {
		return nil
	}
	return new(finite(v / t.Value))
}

// list keeps the first n functions and sums the others.
func (r *Result) list(functions []FunctionChange, n int) {
	n = min(n, len(functions))
	r.Rest.Functions = len(functions) - n
	type key struct { // avoids moving large structs
		function int
		size     float64
	}
	order := make([]key, len(functions))
	for i := range functions {
		order[i] = key{i, functions[i].size()}
	}
	slices.SortFunc(order, func(x, y key) int {
		if c := cmp.Compare(y.size, x.size); c != 0 {
			return c
		}
		return cmp.Or(functions[x.function].compare(functions[y.function].Place), cmp.Compare(x.function, y.function))
	})
	r.Functions = make([]FunctionChange, n)
	for i := range r.Functions {
		r.Functions[i] = functions[order[i].function]
	}
	r.Rest.Mean = r.Total.Mean
	for i := range r.Functions {
		f := &r.Functions[i].Change
		r.Rest.Mean.A -= f.Mean.A
		r.Rest.Mean.B -= f.Mean.B
	}
	r.Rest.Change = r.Rest.Mean.B - r.Rest.Mean.A
	r.Rest.Share = r.share(r.Rest.Change)
}

// size orders alarms before other changes, whose size is below zero, and larger changes before
// smaller ones.
func (c *Change) size() float64 {
	size := math.Abs(c.Shown.Value)
	if c.Status.Alarm() {
		return size
	}
	return -1 / (size + math.SmallestNonzeroFloat64)
}
