package watch

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/vital"
)

// series is the daily series of one metric of a page. Values are logarithms, so that changes are
// relative.
type series struct {
	what   What
	points []point   // used by the tests: for functions, time relative to the rest of the page view
	plain  []point   // of the mean, in the same order
	value  []float64 // the mean, in ms per page view (cls: a score)
	views  []float64
	share  float64 // for functions: share of the page's time
	// For functions: total time of the function and of the rest of the page views, in ms.
	own, rest []float64
}

// without returns the series of a function with taken subtracted from the rest of the page views.
// taken is the daily time of other functions that are known to have changed.
func (s series) without(taken map[time.Time]float64) series {
	s.points = slices.Clone(s.points)
	for i := range s.points {
		p := &s.points[i]
		if rest := s.rest[i] - taken[p.day]; rest > s.rest[i]/10 {
			p.value = math.Log(s.own[i] / rest)
		}
	}
	return s
}

const (
	dayViews     = 50    // least profiled page views per day
	leastOfPage  = 0.005 // least share of the page's time for a series of a function
	mostFunction = 200   // largest number of functions of a page with a series
)

// seriesOf returns the series of a page. Functions with one name in one file share a series: no
// number distinguishes them across releases.
func seriesOf(days []Day) []series {
	days = slices.DeleteFunc(slices.Clone(days), func(d Day) bool { return d.Views < dayViews })
	page := series{what: What{Kind: OfPage, Metric: "js"}}
	features, vitals := map[string]*series{}, map[string]*series{}
	mix, total := mixOf(days), 0.0
	for i := range days {
		d := &days[i]
		total += d.Time.Sum
		page.add(d, mix.point(d, func(s *DayStratum) compare.Amount { return s.Time }))
		for _, name := range featuresOf(d) {
			at(features, name, What{Kind: OfFeature, Metric: "js", Feature: name}).
				add(d, mix.point(d, func(s *DayStratum) compare.Amount { return s.Features[name] }))
		}
		for k := range d.Vitals {
			v := &d.Vitals[k]
			at(vitals, v.Name, What{Kind: OfVital, Metric: strings.ToLower(v.Name)}).addVital(d, v)
		}
	}
	out := []series{page}
	for _, of := range []map[string]*series{features, vitals} {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			out = append(out, *of[name])
		}
	}
	return append(out, functionSeries(days, total)...)
}

func featuresOf(d *Day) []string {
	names := map[string]bool{}
	for _, s := range d.Strata {
		for name := range s.Features {
			names[name] = name != ""
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(name string) bool { return !names[name] })
}

// mix is the share of each stratum in the page views of all days. Daily means are weighted with it,
// so that a different mix of devices and browsers is no change of the page.
type mix map[string]float64

// leastStratum is the number of page views that a stratum of a day needs for a mean.
const leastStratum = 10

func mixOf(days []Day) mix {
	out, all := mix{}, 0.0
	for i := range days {
		for name, s := range days[i].Strata {
			out[name] += s.Views
			all += s.Views
		}
	}
	for name := range out {
		out[name] /= all
	}
	return out
}

// point returns the mean time per page view of a day, adjusted to the mix, and its variance.
func (m mix) point(d *Day, of func(*DayStratum) compare.Amount) (a average) {
	var shares float64
	for _, name := range slices.Sorted(maps.Keys(d.Strata)) { // sorted, so that floating-point sums are reproducible
		s := d.Strata[name]
		if s.Views < leastStratum {
			continue
		}
		x, share := of(&s), m[name]
		mean := x.Sum / s.Views
		a.mean += share * mean
		a.err += share * share * max(x.Squares/s.Views-mean*mean, 0) / s.Views
		shares += share
	}
	if shares > 0 {
		a.mean, a.err = a.mean/shares, math.Sqrt(a.err)/shares
	}
	return a
}

func at[K comparable](of map[K]*series, key K, what What) *series {
	if of[key] == nil {
		of[key] = &series{what: what}
	}
	return of[key]
}

// functionSeries returns the series of the functions with the largest total time.
func functionSeries(days []Day, total float64) []series {
	sums, places := map[function]float64{}, map[function]*compare.Place{}
	for i := range days {
		for k := range days[i].Functions {
			f := &days[i].Functions[k]
			place := compare.Place{Name: f.Frame.Name, Resource: f.Frame.Resource, Line: f.Frame.Line,
				Column: f.Frame.Column}
			of := functionOf(&place)
			sums[of] += whole(f.Self).Sum
			places[of] = &place // the newest place
		}
	}
	var kept []function
	for of, sum := range sums {
		if of.name != "" && of.name != ownScript && sum >= leastOfPage*total {
			kept = append(kept, of)
		}
	}
	slices.SortFunc(kept, func(a, b function) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a.file, b.file), cmp.Compare(a.name, b.name))
	})
	kept = kept[:min(len(kept), mostFunction)]
	out := make([]series, len(kept))
	number := make(map[function]int, len(kept))
	for i, of := range kept {
		out[i] = series{what: What{Kind: OfFunction, Metric: "self", Function: places[of]}, share: sums[of] / total}
		number[of] = i
	}
	of := make([]compare.Amount, len(kept))
	for i := range days {
		d := &days[i]
		clear(of)
		for k := range d.Functions {
			f := &d.Functions[k]
			if n, ok := number[functionOf(&compare.Place{Name: f.Frame.Name, Resource: f.Frame.Resource})]; ok {
				of[n] = together(of[n], whole(f.Self))
			}
		}
		for n := range out {
			out[n].addBeside(d, of[n])
		}
	}
	return out
}

// whole returns the sum over all strata.
func whole(a []compare.Amount) (sum compare.Amount) {
	for _, x := range a {
		sum.Seen += x.Seen
		sum.Sum += x.Sum
		sum.Squares += x.Squares
		sum.Product += x.Product
	}
	return sum
}

// together returns the combined time of two functions. Its sum of squares is an upper bound,
// reached if the times are proportional.
func together(a, b compare.Amount) compare.Amount {
	if a.Sum == 0 {
		return b
	}
	return compare.Amount{Seen: max(a.Seen, b.Seen), Sum: a.Sum + b.Sum, Squares: square(math.Sqrt(a.Squares) +
		math.Sqrt(b.Squares)), Product: a.Product + b.Product}
}

func square(v float64) float64 { return v * v }

// add appends the mean of a day.
func (s *series) add(d *Day, a average) {
	if !(a.mean > 0 && a.err > 0) || math.IsInf(a.err, 0) {
		return
	}
	p := point{day: d.Day, value: math.Log(a.mean), err: a.err / a.mean}
	s.points, s.plain = append(s.points, p), append(s.plain, p)
	s.value, s.views = append(s.value, a.mean), append(s.views, d.Views)
}

// logMean returns the logarithm of the mean per page view of a day.
func logMean(d *Day, a compare.Amount) (point, bool) {
	mean := a.Sum / d.Views
	variance := max(a.Squares/d.Views-mean*mean, 0) / d.Views
	if !(mean > 0) || a.Squares == 0 || math.IsInf(variance, 0) {
		return point{}, false
	}
	return point{day: d.Day, value: math.Log(mean), err: math.Sqrt(variance) / mean}, true
}

// addBeside appends the time x of a function as log(Σx/Σ(T−x)), with T the time of the page view:
// slow devices and long visits have more of both. The delta method gives its error.
func (s *series) addBeside(d *Day, x compare.Amount) {
	plain, ok := logMean(d, x)
	n, rest := d.Views, d.Time.Sum-x.Sum
	if !ok || rest <= 0 {
		return
	}
	mean, other := x.Sum/n, rest/n
	xx, xo, oo := x.Squares/n-mean*mean, 0.0, d.Time.Squares/n-square(d.Time.Sum/n)
	if x.Product > 0 {
		xo, oo = (x.Product-x.Squares)/n-mean*other, (d.Time.Squares-2*x.Product+x.Squares)/n-other*other
	}
	variance := xx/square(mean) + oo/square(other) - 2*xo/(mean*other)
	if !(variance >= 0) {
		return
	}
	s.points = append(s.points, point{day: d.Day, value: math.Log(x.Sum / rest), err: math.Sqrt(variance / n)})
	s.plain = append(s.plain, plain)
	s.value, s.views = append(s.value, mean), append(s.views, n)
	s.own, s.rest = append(s.own, x.Sum), append(s.rest, rest)
}

// addVital appends the 75th percentile of a Web Vital.
func (s *series) addVital(d *Day, v *vital.Report) {
	low, high := v.P75.Low, v.P75.High
	if !(v.P75.Value > 0 && low > 0 && high > low) {
		return
	}
	p := point{day: d.Day, value: math.Log(v.P75.Value), err: math.Log(high/low) / (2 * normal95)}
	s.points, s.plain = append(s.points, p), append(s.plain, p)
	s.value, s.views = append(s.value, v.P75.Value), append(s.views, float64(v.PageViews))
}

// normal95 is half the width of a 95 % interval, in standard errors.
const normal95 = 1.959963984540054

// after returns the series without its leading points for which cut returns true.
func (s series) after(cut func(p point) bool) series {
	n := 0
	for n < len(s.points) && cut(s.points[n]) {
		n++
	}
	s.points, s.plain, s.value, s.views = s.points[n:], s.plain[n:], s.value[n:], s.views[n:]
	if s.own != nil {
		s.own, s.rest = s.own[n:], s.rest[n:]
	}
	return s
}

// mean returns the mean value of the days in [i, k).
func (s *series) mean(i, k int) float64 {
	var sum, views float64
	for ; i < k; i++ {
		sum, views = sum+s.value[i]*s.views[i], views+s.views[i]
	}
	return sum / max(views, 1)
}
