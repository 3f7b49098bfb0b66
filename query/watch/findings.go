package watch

import (
	"context"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
)

// findings returns the changes of a comparison, except changes that are significantly smaller than
// the settings ask for. If the releases did not run at the same time, it returns only functions,
// relative to the rest of the page view: page views of different days differ by more than their
// releases, and only the time detector knows by how much.
func (r *reader) findings(c *query.Comparison, s shift, level float64, atOnce bool) (out []Finding) {
	base := Finding{PageChange: PageChange{Page: r.page, Views: c.Views}, Detector: ByRelease, Script: c.Total.Mean.A,
		Release: s.after, CompareRelease: s.before, Begin: s.began}
	add := func(w What, x *compare.Change, least float64) *Finding {
		f := base
		f.What, f.Value, f.Change, f.Beside, f.Level, f.Relative = w, x.Mean, plainOf(x), x.Beside, x.Level, x.Relative
		if w.Function != nil && w.Function.Name == ownScript || !x.Status.Alarm() || !r.wanted(w.Kind) || !atOnce &&
			(w.Kind != OfFunction || x.Beside == nil) || outer(f.decisive(), f.Level) < max(least, r.s.Min) {
			return nil
		}
		out = append(out, f)
		return &out[len(out)-1]
	}
	add(What{Kind: OfPage, Metric: "js"}, &c.Total, r.s.MinShare*c.Total.Mean.A)
	for i := range c.Features {
		f := &c.Features[i]
		add(What{Kind: OfFeature, Metric: "js", Feature: f.Name}, &f.Change, r.s.MinShare*f.Mean.A)
	}
	for i := range c.Functions {
		f := &c.Functions[i]
		least := max(r.s.MinFunction*f.Mean.A, r.s.MinOfPage*c.Total.Mean.A)
		if f.Code == compare.CodeEdited && outer(plainOf(&f.Change), f.Level) >= least {
			least = 0 // relative to the rest, an estimate is a lower bound
		}
		if x := add(What{Kind: OfFunction, Metric: "self", Function: &f.Place}, &f.Change, least); x != nil {
			x.Total = f.TotalMean
		}
	}
	for i := range c.Vitals {
		v := &c.Vitals[i]
		f := base
		f.What, f.Value, f.Level = What{Kind: OfVital, Metric: v.Name}, compare.Pair{A: v.A.Value, B: v.B.Value},
			1-vitalShare*level/float64(len(c.Vitals))
		f.Change = vitalEstimate(v, 1-f.Level)
		if !atOnce || f.Change.Low == nil || *f.Change.Low <= 0 && *f.Change.High >= 0 || !r.wanted(OfVital) ||
			outer(f.Change, f.Level) < r.s.MinShare*v.A.Value {
			continue
		}
		if v.A.Value > 0 {
			f.Relative = new(f.Change.Value / v.A.Value)
		}
		out = append(out, f)
	}
	return out
}

// ownScript is the profiling script, which does not belong to the page.
const ownScript = "(fieldtrie)"

// vitalShare is the level of all Web Vitals together, as a share of the level of the page's times.
// It is additional.
const vitalShare = 0.2

// wanted reports whether the settings include changes of a kind.
func (r *reader) wanted(k Kind) bool { return len(r.s.Of) == 0 || slices.Contains(r.s.Of, k) }

// outer returns the upper bound of the size of a change, at a one-sided level of 95 %.
func outer(e compare.Estimate, level float64) float64 {
	return math.Abs(e.Value) + 1.6448536269514722*errorOf(e, level)
}

// vitalEstimate returns the change of a Web Vital with an interval at the level, the probability of
// a miss. The comparison has a 95 % interval of a normal distribution.
func vitalEstimate(v *query.VitalChange, level float64) compare.Estimate {
	d := v.Difference
	if d.Low == 0 && d.High == 0 {
		return compare.Estimate{Value: d.Value}
	}
	wide := math.Sqrt2 * math.Erfcinv(level) / normal95
	low, high := d.Value-wide*(d.Value-d.Low), d.Value+wide*(d.High-d.Value)
	return compare.Estimate{Value: d.Value, Low: &low, High: &high}
}

// exceeding is how many standard deviations between days of the page a change must have if its
// releases ran on different days.
const exceeding = 2

// exceed returns the findings that are larger than the usual difference between days of the page.
func (r *reader) exceed(ctx context.Context, s shift, found []Finding) ([]Finding, error) {
	all, err := r.series(ctx)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i].ViewsADay = viewsADay(all)
	}
	between := map[Kind][]float64{}
	of := map[key]float64{}
	for _, x := range all {
		if b, ok := best(x.points, -1); ok {
			between[x.what.Kind] = append(between[x.what.Kind], b.between)
			of[x.what.key()] = b.between
		}
	}
	return slices.DeleteFunc(found, func(f Finding) bool {
		own, known := of[f.What.key()]
		typical := usual(f.What.Kind)
		if all := between[f.What.Kind]; len(all) > 0 {
			typical = median(all)
		}
		if !known { // a new function
			own = typical
		}
		own = math.Sqrt((own*own + typical*typical) / 2) // two weeks are few for an estimate
		base := f.Value.A
		if base <= 0 { // a new function
			return false
		}
		change := math.Abs(f.decisive().Value) / base
		err := errorOf(f.decisive(), f.Level) / base
		days := max(r.now.Sub(s.began).Hours()/24, 1)
		return change < exceeding*math.Sqrt(err*err+2*own*own/days)
	}), nil
}

// usual returns the typical relative difference between days, for a page that is too new to measure
// it.
func usual(k Kind) float64 {
	if k == OfFunction {
		return 0.02 // relative to the rest of the page view
	}
	return 0.05
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// explainMoved marks findings whose time moved from or to other functions.
func (r *reader) explainMoved(ctx context.Context, s shift, c *query.Comparison, found []Finding, atOnce bool) error {
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.What.Kind == OfFunction }) {
		return nil
	}
	var edited map[function]bool
	if r.s.Edited != nil {
		places, err := r.s.Edited(ctx, r.page, s.before, s.after)
		if err != nil {
			return err
		}
		edited = make(map[function]bool, len(places))
		for i := range places {
			edited[functionOf(&places[i])] = true
		}
	}
	for i := range found {
		f := &found[i]
		if f.What.Kind != OfFunction {
			continue
		}
		with, ok := moved(&c.Result, indexOf(c.Functions, f.What.Function), edited, atOnce)
		f.Moved = ok
		for _, k := range with {
			g := &c.Functions[k]
			f.With = append(f.With, Consequence{Page: r.page, What: What{Kind: OfFunction, Metric: "self",
				Function: &g.Place}, Change: decisiveOf(g)})
		}
	}
	return nil
}
