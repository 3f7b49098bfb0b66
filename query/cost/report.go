package cost

import (
	"fmt"
	"math"
	"time"

	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Report says what profiling costs visitors. Unknown is nil or absent, and never zero.
type Report struct {
	Arms    []Arm  `json:"arms"`
	Control string `json:"control,omitempty"` // the arm that profiled page views are compared with: none or, if nobody is in it, header
	// Fair is false if the draw is not one: Time to First Byte, which profiling can not change, differs between the arms. Then there are no
	// differences. It is nil if that can not be told.
	Fair *bool `json:"fair"`
	// Unfair says by how much it differs.
	Unfair string `json:"unfair,omitempty"`
	// Vitals are the differences, in the order of rollup.VitalKinds, without Time to First Byte.
	Vitals []Vital `json:"vitals"`
	// Missing says why something is not there.
	Missing []string `json:"missing,omitempty"`
}

// Vital is the difference that profiling makes to a Web Vital.
type Vital struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"` // ms, or score
	Profiled int64   `json:"profiled_views"`
	Control  int64   `json:"control_views"`
	Matched  float64 `json:"matched"` // share of these that have the other arm beside them: same page, time, device, browser and connection
	// Differences are those of p50, p75, p95, of a time the geometric mean, and the share that is rated poor. The geometric mean is known
	// the most exactly, as all page views say something about it, and a page view that takes ten times as long does not outweigh others.
	Differences []Difference `json:"differences"`
	// ViewsForOnePercent is how many page views an arm needs until p75 is known within 1 % of itself, and Hours how long that
	// takes at the rate of the time that was asked for, from its beginning.
	ViewsForOnePercent int64   `json:"views_for_one_percent,omitempty"`
	Hours              float64 `json:"hours_for_one_percent,omitempty"`
}

// Difference is profiled minus control, in the unit of the Web Vital, or as a share from 0 to 1 for "poor". Low and High are the interval of 95 %.
type Difference struct {
	What     string   `json:"what"` // p50, p75, p95, geomean or poor
	Profiled float64  `json:"profiled"`
	Control  float64  `json:"control"`
	Value    float64  `json:"value"`
	Low      float64  `json:"low"`
	High     float64  `json:"high"`
	Relative *Between `json:"relative,omitempty"` // the same as a share of the control; absent where that is 0
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

	// leastViews is of how many page views an arm the normal approximation holds up to p95.
	leastViews = 200
	// leastRelative is below what a percentage says nothing: in ms, of a score, and of a share.
	leastRelative = 0.001
)

// Report compares the arms of an experiment that took so long.
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
			out.Missing = append(out.Missing, fmt.Sprintf("%d page views of the arm %s have reported, %d are needed", views[arm], arm, leastViews))
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
		return v, arms{}, fmt.Errorf("%s: %d profiled page views and %d others have reported it, %d of each are needed", kind.Name, v.Profiled, v.Control, leastViews)
	}
	profiled, others := 0.0, 0.0
	for _, p := range pairs {
		profiled, others = profiled+p.profiled.n, others+p.control.n
	}
	if profiled < leastViews || others < leastViews {
		return v, arms{}, fmt.Errorf("%s: page views of both arms have too little in common: of %d and %d, %.0f and %.0f have the other arm at the same page, time, device, browser and connection",
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
	if r := v.Differences[1].Relative; r != nil && r.High-r.Low < 1 { // else many page views have the same value, and it is no use to wait
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
	v.Differences = append(v.Differences, finish(Difference{What: "poor", Profiled: x, Control: y, Value: x - y, Low: x - y - d, High: x - y + d}))
	return v, nil
}

// differenceAt returns the difference of a quantile; each is the unit of the histograms in that of the result.
func (a arms) differenceAt(q, z, each float64) Difference {
	x, xLow, xHigh := a.profiled.interval(q, z)
	y, yLow, yHigh := a.control.interval(q, z)
	// Of independent estimates the squares of the half widths add up, on each side of the value.
	low, high := math.Hypot(x-xLow, yHigh-y), math.Hypot(xHigh-x, y-yLow)
	if _, _, _, is := a.differ(q, z); !is { // where many page views have the same value, the interval of a quantile is none to either side
		low, high = max(low, x-y), max(high, y-x)
	}
	return finish(Difference{What: fmt.Sprintf("p%.0f", 100*q), Profiled: x / each, Control: y / each, Value: (x - y) / each, Low: (x - y - low) / each, High: (x - y + high) / each})
}

// geomean returns the difference of the geometric means. It is a ratio; its interval is that of the difference of the logarithms.
func (a arms) geomean(each float64) Difference {
	x, dx := a.profiled.log()
	y, dy := a.control.log()
	control, d := math.Exp(y)/each, z95*math.Hypot(dx, dy)
	ratio := func(by float64) float64 { return control * math.Expm1(x-y+by) }
	return finish(Difference{What: "geomean", Profiled: math.Exp(x) / each, Control: control, Value: ratio(0), Low: ratio(-d), High: ratio(d)})
}

// differ reports whether unlike shares of the arms, x and y, are below the value that a share q of
// both is below.
func (a arms) differ(q, z float64) (at, x, y float64, is bool) {
	at = a.both.quantile(q)
	x, dx := a.profiled.below(at)
	y, dy := a.control.below(at)
	return at, x, y, math.Abs(x-y) > z*math.Hypot(dx, dy)
}

// finish says what a difference means.
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
