package simulate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Scenario configures how two releases are drawn and compared.
type Scenario struct {
	ViewsA, ViewsB int
	A, B           []Device // in the same order
	Sigma          float64  // spread of the logarithm of the machine's speed
	Longer         bool     // visits of B are longer, see [Page.Draw]
	Runs           int
	Seed           uint64 // runs with the same seed are the same
}

// draw returns the two releases of a run.
func (s Scenario) draw(p *Page, run int) (a, b Release) {
	rng := rand.New(rand.NewPCG(s.Seed, uint64(run)))
	a = p.Draw(rng, s.ViewsA, s.A, s.Sigma, false)
	return a, p.Draw(rng, s.ViewsB, s.B, s.Sigma, s.Longer)
}

// Input returns the comparison's input for two releases of one page.
func Input(a, b Release, by By) compare.Input {
	return compare.Input{Strata: a.Strata(by), A: a.Side(by), B: b.Side(by)}
}

// result compares two sides.
func result(in compare.Input, by By) compare.Result {
	if by.Summed {
		in.A, in.B = summed(in.A), summed(in.B)
	}
	return compare.Compare(in, compare.Options{})
}

// summed returns a side as rollups know it.
func summed(s compare.Side) compare.Side {
	var time compare.Amount
	views := 0.0
	for i, n := range s.Views {
		views += n
		plus(&time, s.Time[i])
	}
	s.Functions = slices.Clone(s.Functions)
	for i := range s.Functions {
		f := &s.Functions[i]
		var whole compare.Amount
		parts := make([]compare.Part, len(f.Self))
		for k, x := range f.Self {
			plus(&whole, x)
			parts[k] = compare.Part{Views: s.Views[k], Self: x.Sum, Time: s.Time[k]}
		}
		f.Self = compare.Divide(whole, time, views, parts)
	}
	return s
}

// Alarms has the shares of runs without a change in which a change was reported.
type Alarms struct {
	Any, Total, Features, Functions float64
	Tested                          float64 // functions tested, mean of the runs
	// Rows counts all rows of all runs. False of them report a change. Contradicted of them have a
	// word that contradicts their interval: no change with an interval that excludes 0, or a change
	// with one that includes 0 or is unknown.
	Rows, False, Contradicted int
}

// Alarms compares two releases that differ only in their page views, by each kind of strata, and
// returns the alarms in that order.
func (s Scenario) Alarms(p *Page, by ...By) []Alarms {
	out := make([]Alarms, len(by))
	each := 1 / float64(s.Runs)
	for run := range s.Runs {
		a, b := s.draw(p, run)
		for i := range by {
			r := result(Input(a, b, by[i]), by[i])
			out[i].add(&r, each)
		}
	}
	return out
}

// add adds a comparison, one of as many as each is a part of.
func (x *Alarms) add(r *compare.Result, each float64) {
	// Alarms are sorted to the front.
	total := r.Total.Status.Alarm()
	features := len(r.Features) > 0 && r.Features[0].Status.Alarm()
	functions := len(r.Functions) > 0 && r.Functions[0].Status.Alarm()
	for to, alarm := range map[*float64]bool{&x.Total: total, &x.Features: features, &x.Functions: functions,
		&x.Any: total || features || functions} {
		if alarm {
			*to += each
		}
	}
	x.Tested += each * float64(r.Tested)
	x.count(r)
}

// count counts the rows of a comparison.
func (x *Alarms) count(r *compare.Result) {
	row := func(c *compare.Change) {
		x.Rows++
		e := c.Shown
		apart := e.Low != nil && (*e.Low > 0 || *e.High < 0)
		switch alarm := c.Status.Alarm(); {
		case alarm != apart && c.Status != compare.TooFew && c.Status != compare.WithPage ||
			c.Status == compare.WithPage && !apart:
			x.Contradicted++
		case alarm:
			x.False++
		}
	}
	row(&r.Total)
	for i := range r.Features {
		row(&r.Features[i].Change)
	}
	for i := range r.Functions {
		row(&r.Functions[i].Change)
	}
}

// Power is the power to find a planted change of one function.
type Power struct {
	Function   int
	Found      float64 // share of runs that report it as slower
	Variation  float64 // coefficient of variation of its self time over page views, within strata and at an equal rest
	Detectable float64 // relative change that nine of ten runs would detect
	False      float64 // share of the other functions among the reported changes, mean of the runs
}

// Power plants a slowdown in B, in one function at a time.
func (s Scenario) Power(p *Page, by By, functions []int, factor float64) []Power {
	out := make([]Power, len(functions))
	for run := range s.Runs {
		a, b := s.draw(p, run)
		in := Input(a, b, by)
		for i, f := range functions {
			undo := b.Slow(&in.B, by, f, factor)
			r := result(in, by)
			undo()
			out[i].Function = f
			out[i].add(&r, p.Functions[f], 1/float64(s.Runs))
		}
	}
	return out
}

// add adds a run with a planted change of size each.
func (x *Power) add(r *compare.Result, planted trie.Frame, each float64) {
	alarms, found := 0.0, 0.0
	for k := range r.Functions {
		c := &r.Functions[k]
		if c.Status.Alarm() {
			alarms++
		}
		if c.Place != compare.PlaceOf(planted) {
			continue
		}
		if c.Status == compare.Slower {
			found = 1
		}
		if e := cmp.Or(c.Beside, c.Adjusted); c.Mean.A > 0 && e != nil && e.High != nil {
			err := (*e.High - e.Value) / (math.Sqrt2 * math.Erfcinv(1-c.Level))
			x.Variation += each * err / c.Mean.A / math.Sqrt(1/r.Views.A+1/r.Views.B)
			x.Detectable += each * *c.Detectable / c.Mean.A
		}
	}
	x.Found += each * found
	if alarms > 0 {
		x.False += each * (alarms - found) / alarms
	}
}
