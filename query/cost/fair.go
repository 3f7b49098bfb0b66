package cost

import (
	"fmt"
	"math"

	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Placebo is the Web Vital that the script cannot affect: it is measured before the browser parses
// a document.
const Placebo = "ttfb"

// falseAlarms is the probability that a fair draw is reported as unfair, over all looks together.
const falseAlarms = 0.001

// looks returns the shares of page views at which the distributions of both arms are compared. A
// cache that answers a part of the profiled page views adds fast page views, at the low end of the
// distribution.
func looks() []float64 { return []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75} }

// judge decides whether the draw was fair.
func (e *Experiment) judge(out *Report) {
	kind, _ := rollup.VitalKindOf(Placebo)
	v, arms, err := e.sides(kind, out.Control)
	if err != nil {
		out.Missing = append(out.Missing, "whether the draw is fair: "+err.Error())
		return
	}
	why := arms.unlike()
	fair := why == ""
	if out.Fair = &fair; !fair {
		out.Unfair = fmt.Sprintf(
			"%s (of %d and %d page views): the draw does not choose at random, so differences are not "+
				"what profiling costs. A cache that keeps documents with their header can do that", why,
			v.Profiled, v.Control)
	}
}

// unlike describes a significant difference in Time to First Byte between the arms. It returns ""
// if there is none.
func (a arms) unlike() string {
	z := math.Sqrt2 * math.Erfcinv(falseAlarms/float64(len(looks())+1)) // the mean is one more look
	for _, q := range looks() {
		if at, x, y, is := a.differ(q, z); is {
			return fmt.Sprintf(
				"Time to First Byte is below %.3g ms in %.1f %% of profiled page views and in %.1f %% of others",
				at/1000, 100*x, 100*y)
		}
	}
	x, dx := a.profiled.log()
	y, dy := a.control.log()
	if math.Abs(x-y) > z*math.Hypot(dx, dy) {
		return fmt.Sprintf("the geometric mean of Time to First Byte is %.4g ms in profiled page views and %.4g ms "+
			"in others",
			math.Exp(x)/1000, math.Exp(y)/1000)
	}
	return ""
}
