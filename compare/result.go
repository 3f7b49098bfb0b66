package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Status says what became of a function, a feature or the page.
type Status string

// The statuses. All but Moved, WithinNoise and TooFew are alarms: the change is
// significant after the correction for the number of tests.
const (
	Slower Status = "slower"
	Faster Status = "faster"
	New    Status = "new"  // significant, and seen in B alone
	Gone   Status = "gone" // significant, and seen in A alone
	// Moved is a function of the same name whose time is within noise and whose place is
	// another: another file, or far from where the other functions of its file went.
	Moved       Status = "moved"
	WithinNoise Status = "within noise" // or seen too rarely to say anything
	TooFew      Status = "too few views"
)

// Alarm reports whether s is a change that is more than noise.
func (s Status) Alarm() bool { return s == Slower || s == Faster || s == New || s == Gone }

// Result is what changed from A to B. Times are in milliseconds of a page view.
type Result struct {
	Views          Pair            `json:"views"`
	MinViews       int             `json:"min_views"` // needed on each side
	Enough         bool            `json:"enough"`    // there are as many
	FalseDiscovery float64         `json:"false_discovery"`
	Method         string          `json:"method"` // of the intervals
	Total          Change          `json:"total"`  // of the page
	Strata         []Stratum       `json:"strata"`
	Uncovered      float64         `json:"uncovered"` // share of A's views in strata that were left out
	Features       []FeatureChange `json:"features"`
	// Functions are the significant ones and then the others, those with the largest change
	// first.
	Functions []FunctionChange `json:"functions"`
	Tested    int              `json:"tested_functions"`
	Rest      Rest             `json:"rest"`
	Warnings  []string         `json:"warnings,omitempty"`
}

// Pair is a number of each side.
type Pair struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// Estimate is a value with its interval of 95 %, which is absent where nothing can be said
// about it.
type Estimate struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// Change is how a time changed.
type Change struct {
	Mean       Pair    `json:"mean_ms"`       // over all page views
	Difference float64 `json:"difference_ms"` // of these: the sum of the next two
	// Mix is what comes of the traffic mix alone, strata that were left out included.
	Mix float64 `json:"mix_ms"`
	// Adjusted is the difference with B in A's mix. Its interval is that of one test, so it
	// may exclude 0 where the status, which minds all tests, is within noise.
	Adjusted Estimate `json:"change_ms"`
	Relative *float64 `json:"relative,omitempty"` // the change by A's mean, in the strata that both have
	P        float64  `json:"p"`                  // of no change, two-sided; 1 if it was not tested
	// Q is p corrected for all tests: the least rate of false discoveries at which this is
	// still one. It is an alarm up to Result.FalseDiscovery.
	Q          float64 `json:"q"`
	Detectable float64 `json:"detectable_ms"` // the change that nine of ten such comparisons would find
	Status     Status  `json:"status"`

	err    float64 // standard error of the change
	tested bool
	only   only
}

// only says which side has a thing alone.
type only uint8

const (
	onlyNone only = iota
	onlyA
	onlyB
)

// FeatureChange is how the time of a feature changed.
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

func placeOf(f trie.Frame) Place { return Place{f.Name, f.Resource, f.Line, f.Column} }

func (p Place) compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Name, q.Name), cmp.Compare(p.Resource, q.Resource), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// FunctionChange is how the self time of a function changed. Its place is that in B, or in
// A if B does not have it.
type FunctionChange struct {
	Place
	From *Place `json:"from,omitempty"` // the same function in A, if it is written otherwise
	Change
	TotalMean  Pair `json:"total_ms"` // mean with what it called
	Reach      Pair `json:"reach"`    // page views in which it was on a stack
	Unadjusted bool `json:"unadjusted,omitempty"`
	// Share is its change by that of the page's total. Self times add up to the total, so
	// the shares of all functions and the rest add up to 1; some may be negative or above 1.
	// Absent if the total's interval holds 0, as a share of nothing means nothing.
	Share *float64 `json:"share,omitempty"`

	moved bool
}

// Rest is the time of the page that is in none of the functions listed.
type Rest struct {
	Functions int      `json:"functions"` // that are not listed
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
}

// StratumUse says what a stratum was used for.
type StratumUse string

// How strata are used.
const (
	StratumOwn     StratumUse = "own"      // compared by itself
	StratumPooled  StratumUse = "pooled"   // too small, compared as one with the other pooled ones
	StratumLeftOut StratumUse = "left out" // one side has too little of it
)

// share returns v by the change of the total, nil if that may be 0.
func (r *Result) share(v float64) *float64 {
	t := r.Total.Adjusted
	if t.Low == nil || *t.Low <= 0 && *t.High >= 0 {
		return nil
	}
	return new(finite(v / t.Value))
}

// list takes the n functions that come first and sums up what is left.
func (r *Result) list(functions []FunctionChange, n int) {
	n = min(n, len(functions))
	r.Rest.Functions = len(functions) - n
	type key struct { // functions are large to be moved about
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
	r.Rest.Mean, r.Rest.Change = r.Total.Mean, r.Total.Adjusted.Value
	for i := range r.Functions {
		f := &r.Functions[i].Change
		r.Rest.Mean.A -= f.Mean.A
		r.Rest.Mean.B -= f.Mean.B
		r.Rest.Change -= f.Adjusted.Value
	}
	r.Rest.Share = r.share(r.Rest.Change)
}

// size orders alarms before the rest, which are below zero, and larger changes before
// smaller ones.
func (c *Change) size() float64 {
	size := math.Abs(c.Adjusted.Value)
	if c.Status.Alarm() {
		return size
	}
	return -1 / (size + math.SmallestNonzeroFloat64)
}
