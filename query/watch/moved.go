package watch

import (
	"math"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/query/compare"
)

// Limits for time that moved within a domain, as shares of the change of one function. The 95 %
// interval of the domain's change must also include 0.
const (
	movedShare = 0.2 // maximum change of the domain
	movedNoise = 0.5 // maximum of half the interval, so that a change would be visible
)

// mostMoved limits how many functions a change lists as sources or targets of the time.
const mostMoved = 5

// domains returns the groups of functions that code moves within when it is rewritten: the same
// class (the name before the last dot), file and package. Each is a string that all functions of
// the group share.
func domains(p *compare.Place) (out []string) {
	file := compare.StableURL(p.Resource)
	if i := strings.LastIndexByte(p.Name, '.'); i > 0 {
		out = append(out, "class\x00"+file+"\x00"+p.Name[:i])
	}
	if file != "" {
		out = append(out, "file\x00"+file)
	}
	if name := packageOf(file); name != "" {
		out = append(out, "package\x00"+name)
	}
	return out
}

// packageOf returns the npm package of a source file, or "".
func packageOf(file string) string {
	const folder = "node_modules/"
	i := strings.LastIndex(file, folder)
	if i < 0 {
		return ""
	}
	name := file[i+len(folder):]
	parts := strings.SplitN(name, "/", 3)
	if strings.HasPrefix(name, "@") && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// moved reports whether the time of function i of a comparison moved from or to others of one of
// its domains. with lists those that changed significantly. edited is one more domain of functions,
// by key, and may be nil.
func moved(c *compare.Result, i int, edited map[function]bool, atOnce bool) (with []int, ok bool) {
	functions := c.Functions
	f := &functions[i]
	of := domains(&f.Place)
	if edited[functionOf(&f.Place)] {
		of = append(of, "edited")
	}
	for _, domain := range of {
		var members []int
		for k := range functions {
			p := &functions[k].Place
			if domain == "edited" && edited[functionOf(p)] || domain != "edited" &&
				slices.Contains(domains(p), domain) {
				members = append(members, k)
			}
		}
		changed := slices.DeleteFunc(slices.Clone(members), func(k int) bool { return !functions[k].Status.Alarm() })
		if stayed(c, members, f, atOnce) || stayed(c, changed, f, atOnce) {
			return others(functions, changed, f), true
		}
	}
	return nil, false
}

// stayed reports whether the total time of these functions stayed the same while f changed. On
// different days, the total may instead follow the rest of the page. Changes relative to the rest
// are lower bounds for single functions and do not add up to 0, so the sum uses plain times.
func stayed(c *compare.Result, of []int, f *compare.FunctionChange, atOnce bool) bool {
	var change, variance float64
	var sum compare.Pair
	for _, k := range of {
		x := &c.Functions[k]
		e := decisiveOf(x)
		sum.A, sum.B = sum.A+x.Measured.A, sum.B+x.Measured.B
		change += e.Value
		variance += square(errorOf(e, x.Level))
	}
	size, half := math.Abs(decisiveOf(f).Value), normal95*math.Sqrt(variance)
	if half > movedNoise*size || sum.A < size {
		return false
	}
	if !atOnce { // days differ by more than random noise
		half = math.Hypot(half, normal95*usual(OfFunction)*sum.A)
	}
	if rest := c.Total.Measured.A - sum.A; !atOnce && rest > 0 {
		scaled := (c.Total.Measured.B - sum.B) / rest
		like := sum.B - scaled*sum.A
		if math.Abs(like) <= min(half, movedShare*math.Abs(f.Measured.B-scaled*f.Measured.A)) {
			return true
		}
	}
	return math.Abs(change) <= min(half, movedShare*size)
}

// others returns the functions that changed in the opposite direction of f, the largest change
// first.
func others(functions []compare.FunctionChange, of []int, f *compare.FunctionChange) []int {
	value := func(k int) float64 { return decisiveOf(&functions[k]).Value }
	of = slices.DeleteFunc(of, func(k int) bool { return value(k)*decisiveOf(f).Value >= 0 })
	slices.SortStableFunc(of, func(a, b int) int { return bySize(value(a), value(b)) })
	return of[:min(len(of), mostMoved)]
}

// bySize orders larger changes first.
func bySize(a, b float64) int {
	switch a, b := math.Abs(a), math.Abs(b); {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// decisiveOf returns the estimate of a function's change that the tests use.
func decisiveOf(f *compare.FunctionChange) compare.Estimate {
	if f.Beside != nil {
		return *f.Beside
	}
	return plainOf(&f.Change)
}

// plainOf returns the change in absolute time, not relative to the rest of the page view.
func plainOf(c *compare.Change) compare.Estimate {
	if c.Adjusted != nil {
		return *c.Adjusted
	}
	return c.Shown
}

// errorOf returns the standard error of an estimate whose interval has the level, such as 0.95. It
// is infinite without an interval.
func errorOf(e compare.Estimate, level float64) float64 {
	if e.Low == nil || !(level > 0 && level < 1) {
		return math.Inf(1)
	}
	return (*e.High - *e.Low) / (2 * math.Sqrt2 * math.Erfcinv(1-level))
}
