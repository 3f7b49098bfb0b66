package cost

import (
	"fmt"
	"math"
	"time"

	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Report is the result of an experiment. Unknown values are nil or absent, never 0.
type Report struct {
	Arms    []Arm  `json:"arms"`
	Control string `json:"control,omitempty"` // the arm to compare with: none, or header if none has no page views
	// Fair is false if the draw was not random: Time to First Byte, which profiling cannot change,
	// differs between the arms. The report then has no differences. Fair is nil if unknown.
	Fair *bool `json:"fair"`
	// Unfair describes the difference in Time to First Byte.
	Unfair string `json:"unfair,omitempty"`
	// Vitals lists the differences, in the order of rollup.VitalKinds, without Time to First Byte.
	Vitals []Vital `json:"vitals"`
	// Missing lists the reasons for missing results.
	Missing []string `json:"missing,omitempty"`
}

// Vital is the difference of a Web Vital between the arms.
type Vital struct {
	Name     string `json:"name"`
	Unit     string `json:"unit"` // ms, or score
	Profiled int64  `json:"profiled_views"`
	Control  int64  `json:"control_views"`
	// share of these with matching views in the other arm: same page, time, device, browser and
	// connection
	Matched float64 `json:"matched"`
	// Differences lists p50, p75, p95, the geometric mean (of times only), and the share rated
	// poor. The geometric mean has the narrowest interval, because all page views contribute to it,
	// and a page view that takes ten times as long does not outweigh others.
	Differences []Difference `json:"differences"`
	// ViewsForOnePercent is the number of page views per arm until the interval of p75 is ±1 %.
	// Hours is the time until then, counted from the beginning of the queried time, at its rate of
	// page views.
	ViewsForOnePercent int64   `json:"views_for_one_percent,omitempty"`
	Hours              float64 `json:"hours_for_one_percent,omitempty"`
}

// Difference is profiled minus control, in the unit of the Web Vital, or as a share from 0 to 1 for
// "poor". Low and High are the interval of 95 %.
type Difference struct {
	What     string   `json:"what"` // p50, p75, p95, geomean or poor
	Profiled float64  `json:"profiled"`
	Control  float64  `json:"control"`
	Value    float64  `json:"value"`
	Low      float64  `json:"low"`
	High     float64  `json:"high"`
	Relative *Between `json:"relative,omitempty"` // relative to the control; absent if the control is 0
	Status   string   `json:"status"`             // slower, faster or noise
}

// Between is a value and its interval.
type Between struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

const (
	z95 = 1.959963984540054

	// leastViews is the number of page views per arm from which the normal approximation holds up
	// to p95.
	leastViews = 200
	// leastRelative is the least control for which a percentage is meaningful: in ms, as a score,
	// or as a share.
	leastRelative = 0.001
)

// Report compares profiled page views with a control arm. took is the time of the experiment so
// far, for [Vital.Hours]. If an arm has fewer than 200 page views, there are no Vitals.
func (e *Experiment) Report(took time.Duration) Report {
	out := Report{Arms: e.arms(), Vitals: []Vital{}}
	views := map[string]int64{}
	for _, a := range out.Arms {
		views[a.Name] = a.Views
	}
	out.Control = rollup.ArmNone
	if views[rollup.ArmNone] < leastViews && views[rollup.ArmHeader] > views[rollup.ArmNone] {
		out.Control = rollup.ArmHeader
	}
	for _, arm := range []string{rollup.ArmProfiled, out.Control} {
		if views[arm] < leastViews {
			out.Missing = append(out.Missing, fmt.Sprintf("%d page views of arm %s have reported; %d are needed",
				views[arm], arm, leastViews))
		}
	}
	if len(out.Missing) > 0 {
		out.Control = ""
		return out
	}
	if e.judge(&out); out.Fair != nil && !*out.Fair {
		return out
	}
	for _, kind := range rollup.VitalKinds() {
		if kind.Name == Placebo {
			continue
		}
		v, err := e.compare(kind, out.Control, took)
		if err != nil {
			out.Missing = append(out.Missing, err.Error())
			continue
		}
		out.Vitals = append(out.Vitals, v)
	}
	return out
}

// sides returns both arms of a Web Vital.
func (e *Experiment) sides(kind rollup.VitalKind, control string) (Vital, arms, error) {
	v := Vital{Name: kind.Name, Unit: "ms", Differences: []Difference{}}
	if kind.Score {
		v.Unit = "score"
	}
	for _, s := range e.strata {
		if x := s[rollup.ArmProfiled][kind.Name]; x != nil {
			v.Profiled += x.Views
		}
		if x := s[control][kind.Name]; x != nil {
			v.Control += x.Views
		}
	}
	pairs, matched := e.matched(kind.Name, control)
	v.Matched = matched
	if v.Profiled < leastViews || v.Control < leastViews {
		return v, arms{}, fmt.Errorf("%s: %d profiled page views and %d others have reported it, %d of each are needed",
			kind.Name, v.Profiled, v.Control, leastViews)
	}
	profiled, others := 0.0, 0.0
	for _, p := range pairs {
		profiled, others = profiled+p.profiled.n, others+p.control.n
	}
	if profiled < leastViews || others < leastViews {
		return v, arms{}, fmt.Errorf(
			"%s: page views of both arms have too little in common: of %d and %d, %.0f and %.0f have the other arm "+
				"at the same page, time, device, browser and connection",
			kind.Name, v.Profiled, v.Control, profiled, others)
	}
	return v, armsOf(pairs), nil
}

func (e *Experiment) compare(kind rollup.VitalKind, control string, took time.Duration) (Vital, error) {
	v, arms, err := e.sides(kind, control)
	if err != nil {
		return v, err
	}
	each := 1000.0
	if kind.Score {
		each = 1e6
	}
	for _, q := range []float64{0.5, 0.75, 0.95} {
		v.Differences = append(v.Differences, arms.differenceAt(q, z95, each))
	}
	// otherwise many page views have the same value, and waiting does not help
	if r := v.Differences[1].Relative; r != nil && r.High-r.Low < 1 {
		half := (r.High - r.Low) / 2
		times := half * half / (0.01 * 0.01)
		v.ViewsForOnePercent = int64(math.Ceil(times * float64(min(v.Profiled, v.Control))))
		v.Hours = times * took.Hours()
	}
	if !kind.Score { // many scores are 0, which has no logarithm
		v.Differences = append(v.Differences, arms.geomean(each))
	}
	x, dx := arms.profiled.poor()
	y, dy := arms.control.poor()
	d := z95 * math.Hypot(dx, dy)
	v.Differences = append(v.Differences, finish(Difference{What: "poor", Profiled: x, Control: y, Value: x - y,
		Low: x - y - d, High: x - y + d}))
	return v, nil
}

// differenceAt returns the difference of a quantile. each is the unit of the histograms, in units
// of the result.
func (a arms) differenceAt(q, z, each float64) Difference {
	x, xLow, xHigh := a.profiled.interval(q, z)
	y, yLow, yHigh := a.control.interval(q, z)
	// For independent estimates, the squares of the half widths add up, on each side of the value.
	low, high := math.Hypot(x-xLow, yHigh-y), math.Hypot(xHigh-x, y-yLow)
	// if many page views have the same value, the interval of a quantile has no width on one side
	if _, _, _, is := a.differ(q, z); !is {
		low, high = max(low, x-y), max(high, y-x)
	}
	return finish(Difference{What: fmt.Sprintf("p%.0f", 100*q), Profiled: x / each, Control: y / each,
		Value: (x - y) / each, Low: (x - y - low) / each, High: (x - y + high) / each})
}

// geomean returns the difference of the geometric means. Its interval follows from the interval of
// the difference of the logarithms, which is a ratio.
func (a arms) geomean(each float64) Difference {
	x, dx := a.profiled.log()
	y, dy := a.control.log()
	control, d := math.Exp(y)/each, z95*math.Hypot(dx, dy)
	ratio := func(by float64) float64 { return control * math.Expm1(x-y+by) }
	return finish(Difference{What: "geomean", Profiled: math.Exp(x) / each, Control: control, Value: ratio(0),
		Low: ratio(-d), High: ratio(d)})
}

// differ reports whether the arms have significantly different shares x and y below at, the
// quantile q of both arms together.
func (a arms) differ(q, z float64) (at, x, y float64, is bool) {
	at = a.both.quantile(q)
	x, dx := a.profiled.below(at)
	y, dy := a.control.below(at)
	return at, x, y, math.Abs(x-y) > z*math.Hypot(dx, dy)
}

// finish sets the status of a difference.
func finish(d Difference) Difference {
	d.Status = "noise"
	if d.Low > 0 {
		d.Status = "slower"
	} else if d.High < 0 {
		d.Status = "faster"
	}
	if d.Control >= leastRelative {
		d.Relative = &Between{d.Value / d.Control, d.Low / d.Control, d.High / d.Control}
	}
	return d
}
