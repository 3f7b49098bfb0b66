package watch

import (
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
)

// point is the value of a day, with its standard error from the page views of that day.
type point struct {
	day        time.Time
	value, err float64
	weight     float64 // in the last fit
}

// step is a change between two days of a series.
type step struct {
	at      int     // the first point after it
	size    float64 // the values after minus the values before
	err     float64 // standard error
	freedom float64
	between float64 // standard deviation between days, in addition to their errors
	tried   int     // number of splits tried
}

const (
	leastBefore = 7  // points before a step
	leastAfter  = 3  // points after it: a spike at night covers two days
	mostAfter   = 14 // older steps were reported or too small when they were new
	// weeks is how many days a series needs to estimate each day of the week separately.
	weeks = 21
	// pageFreedom is the weight of the deviation of the page's other series, in points.
	pageFreedom = 10
)

// best returns the step that explains the points best: the largest likelihood ratio over all
// splits. Points are normally distributed. Their variance is the sum of their own and a variance
// between days, which is estimated from the residuals and from prior, the variance of the page's
// other series. ok is false if there are too few points.
//
// If the series is long enough, each day of the week has its own mean. Residuals beyond three
// deviations are clipped, so that an outage or a night of bots neither looks like a step nor hides
// one.
func best(points []point, prior float64) (out step, ok bool) {
	n := len(points)
	if n < leastBefore+leastAfter {
		return step{}, false
	}
	days := daysOfWeek(points)
	parameters := 2
	if days > 1 {
		parameters = days + 1
	}
	y := make([]float64, n)
	for i, p := range points {
		y[i] = p.value
	}
	between := math.Sqrt(max(prior, 0))
	for range 4 {
		for i := range points {
			points[i].weight = 1 / (points[i].err*points[i].err + between*between)
		}
		out = step{}
		for at := max(leastBefore, n-mostAfter); at <= n-leastAfter; at++ {
			s := stepAt(points, y, at, days)
			s.tried = out.tried + 1
			if out.tried > 0 && math.Abs(s.size)*out.err <= math.Abs(out.size)*s.err {
				out.tried++
				continue
			}
			out = s
		}
		rest := residuals(points, y, out, days)
		scale, errors := spread(rest), 0.0
		for i := range points {
			errors += points[i].err * points[i].err / float64(n)
		}
		own := max(scale*scale*float64(n)/float64(max(n-parameters, 1))-errors, 0)
		freedom := float64(n - parameters)
		pooled := own
		if prior >= 0 {
			pooled = (freedom*own + pageFreedom*prior) / (freedom + pageFreedom)
			freedom += pageFreedom
		}
		between = math.Sqrt(pooled)
		out.freedom, out.between = freedom, math.Sqrt(own)
		for i, p := range points {
			limit := 3 * math.Sqrt(p.err*p.err+pooled)
			y[i] += min(max(rest[i], -limit), limit) - rest[i]
		}
	}
	return out, true
}

// daysOfWeek returns the number of day-of-week means: 1 or 7.
func daysOfWeek(points []point) int {
	if n := len(points); points[n-1].day.Sub(points[0].day) >= (weeks-1)*24*time.Hour && n >= weeks-3 {
		return 7
	}
	return 1
}

// means returns the weighted mean of v by day of the week, from Sunday. If days is 1, mean[0] is
// the mean of all days.
func means(points []point, v []float64, days int) (mean [7]float64) {
	var weight [7]float64
	for i, p := range points {
		d := int(p.day.Weekday()) % days
		mean[d] += p.weight * v[i]
		weight[d] += p.weight
	}
	for d := range mean {
		if weight[d] > 0 {
			mean[d] /= weight[d]
		}
	}
	return mean
}

// stepAt estimates the step before point at: the weighted regression of y on the step and the days
// of the week.
func stepAt(points []point, y []float64, at, days int) step {
	x := make([]float64, len(points))
	for i := at; i < len(x); i++ {
		x[i] = 1
	}
	meanX, meanY := means(points, x, days), means(points, y, days)
	var xx, xy float64
	for i, p := range points {
		d := int(p.day.Weekday()) % days
		xx += p.weight * (x[i] - meanX[d]) * (x[i] - meanX[d])
		xy += p.weight * (x[i] - meanX[d]) * (y[i] - meanY[d])
	}
	if xx <= 0 {
		return step{at: at, err: math.Inf(1)}
	}
	return step{at: at, size: xy / xx, err: 1 / math.Sqrt(xx)}
}

// residuals returns the original values minus the step and the means of the days of the week.
func residuals(points []point, y []float64, s step, days int) []float64 {
	level := make([]float64, len(y))
	for i := range y {
		level[i] = y[i]
		if i >= s.at {
			level[i] -= s.size
		}
	}
	mean := means(points, level, days)
	for i, p := range points {
		level[i] -= mean[int(p.day.Weekday())%days]
	}
	return level
}

// spread returns a robust standard deviation of residuals. Sizes above 3 × 1.48 medians are clipped
// to that limit.
func spread(v []float64) float64 {
	sizes := make([]float64, len(v))
	for i := range v {
		sizes[i] = math.Abs(v[i])
	}
	slices.Sort(sizes)
	limit, sum := 3*1.4826*sizes[len(sizes)/2], 0.0
	for _, x := range sizes {
		x = min(x, limit)
		sum += x * x
	}
	return math.Sqrt(sum / float64(len(v)))
}

// p returns the probability of such a step at any of the splits that were tried, if there is no
// change.
func (s step) p() float64 {
	return min(1, float64(s.tried)*compare.StudentTail(s.size/s.err, s.freedom))
}

// lasts reports whether a step persists and is not the effect of a single day: the median after it
// must be on its far side, and each of the last days must have a part of it.
func (s step) lasts(points []point) bool {
	before, after := make([]float64, 0, len(points)), make([]float64, 0, mostAfter)
	for i, p := range points {
		if i < s.at {
			before = append(before, p.value)
		} else {
			after = append(after, p.value)
		}
	}
	last := slices.Clone(after[len(after)-leastAfter:])
	slices.Sort(before)
	slices.Sort(after)
	base := before[len(before)/2]
	part := func(v float64) float64 { return (v - base) / s.size }
	return part(after[len(after)/2]) >= 0.5 && !slices.ContainsFunc(last, func(v float64) bool { return part(v) < 0.3 })
}

// estimate returns the change in the unit of base, the value before a step of a series of
// logarithms, with its interval.
func (s step) estimate(base, level float64) compare.Estimate {
	half := compare.StudentQuantile(level, s.freedom) * s.err
	low, high := base*math.Expm1(s.size-half), base*math.Expm1(s.size+half)
	return compare.Estimate{Value: base * math.Expm1(s.size), Low: &low, High: &high}
}
