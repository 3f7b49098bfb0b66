package query

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/vital"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// VitalChange is the change of the 75th percentile of a Web Vital, in its unit. The difference has
// a 95 % interval, which is absent if unknown.
type VitalChange struct {
	Name       string         `json:"name"`
	Unit       string         `json:"unit"`
	A          Estimate       `json:"a"`
	B          Estimate       `json:"b"`
	Difference Estimate       `json:"difference"`
	Status     compare.Status `json:"status"`
}

// SlowInteractions is the JavaScript in interactions of 200 ms or more, which explains a change of
// INP. Times are in milliseconds per 1,000 page views, including page views without such an
// interaction.
type SlowInteractions struct {
	Views compare.Pair `json:"views"` // page views with a slow interaction, per 1,000
	Time  compare.Pair `json:"ms"`
	// Functions lists the functions whose self time in slow interactions changed the most.
	Functions []SlowFunction `json:"functions"`
}

// SlowFunction is the self time of a function in slow interactions, in milliseconds per 1,000 page
// views.
type SlowFunction struct {
	compare.Place
	Time compare.Pair `json:"ms"`
}

// phaseSlow is the phase of interactions of 200 ms or more.
const phaseSlow = "slow-interaction"

// mostSlowFunctions is the maximum number of listed functions.
const mostSlowFunctions = 20

// compareVitals adds Web Vitals to a comparison, if it covers whole page views and they reported
// some.
func (l Local) compareVitals(ctx context.Context, q CompareQuery, out *Comparison) error {
	if q.A.Page == "" || q.B.Page == "" || checkVitals(q.A) != nil || checkVitals(q.B) != nil {
		return nil
	}
	if q.Concurrent {
		times, _, _, err := l.stretches(ctx, q)
		if err != nil || len(times) == 0 {
			return err
		}
		q.A.Since, q.A.Until = times[0].Since, times[len(times)-1].Until
		q.B.Since, q.B.Until, q.Concurrent = q.A.Since, q.A.Until, false
	}
	a, err := l.vitals(ctx, q.A, false)
	if err != nil {
		return err
	}
	b, err := l.vitals(ctx, q.B, false)
	if err != nil || len(a.Pages) == 0 || len(b.Pages) == 0 {
		return err
	}
	for _, kind := range rollup.VitalKinds() {
		if x, y := a.Pages[0].Of(kind.Name), b.Pages[0].Of(kind.Name); x != nil && y != nil {
			out.Vitals = append(out.Vitals, vitalChange(x, y))
		}
	}
	if q.Brief {
		return nil
	}
	return l.compareSlow(ctx, q, out)
}

// fewestVitals is the minimum number of reports on each side to conclude that a Web Vital that is 0
// on both sides did not change.
const fewestVitals = 30

func vitalChange(a, b *vital.Report) VitalChange {
	out := VitalChange{Name: a.Name, Unit: a.Unit, A: a.P75, B: b.P75, Status: compare.TooFew}
	out.Difference.Value = b.P75.Value - a.P75.Value
	if a.P75.Value == 0 && b.P75.Value == 0 && min(a.Views, b.Views) >= fewestVitals {
		out.Status = compare.WithinNoise // 0 on both sides
		return out
	}
	if a.P75.High == 0 || b.P75.High == 0 {
		return out
	}
	// The estimates are independent, so the squares of their half widths add up, on each side of
	// the value.
	low := math.Hypot(b.P75.Value-b.P75.Low, a.P75.High-a.P75.Value)
	high := math.Hypot(b.P75.High-b.P75.Value, a.P75.Value-a.P75.Low)
	out.Difference.Low, out.Difference.High = out.Difference.Value-low, out.Difference.Value+high
	switch {
	case out.Difference.Low > 0:
		out.Status = compare.Slower
	case out.Difference.High < 0:
		out.Status = compare.Faster
	default:
		out.Status = compare.WithinNoise
	}
	return out
}

// compareSlow compares the JavaScript in slow interactions.
func (l Local) compareSlow(ctx context.Context, q CompareQuery, out *Comparison) error {
	slow, err := selection.NewMatcher(rollup.KeyPhase, selection.Equal, phaseSlow)
	if err != nil {
		return err
	}
	inner := q
	inner.A.Where, inner.B.Where = append(slices.Clip(q.A.Where), slow), append(slices.Clip(q.B.Where), slow)
	got, err := l.compareTime(ctx, inner)
	if err != nil || got.Views.A+got.Views.B == 0 || out.Views.A == 0 || out.Views.B == 0 {
		return err
	}
	each := compare.Pair{A: 1000 * got.Views.A / out.Views.A, B: 1000 * got.Views.B / out.Views.B}
	s := &SlowInteractions{Views: each, Time: times(got.Total.Measured, each), Functions: []SlowFunction{}}
	for i := range got.Functions {
		f := &got.Functions[i]
		s.Functions = append(s.Functions, SlowFunction{f.Place, times(f.Measured, each)})
	}
	change := func(f SlowFunction) float64 { return math.Abs(f.Time.B - f.Time.A) }
	slices.SortStableFunc(s.Functions, func(a, b SlowFunction) int { return cmp.Compare(change(b), change(a)) })
	s.Functions = s.Functions[:min(len(s.Functions), mostSlowFunctions)]
	out.Slow = s
	return nil
}

func times(p, q compare.Pair) compare.Pair { return compare.Pair{A: p.A * q.A, B: p.B * q.B} }
