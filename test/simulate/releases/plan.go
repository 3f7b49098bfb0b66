package releases

import (
	"math/rand/v2"

	"github.com/fieldtrie/fieldtrie/query/watch"
)

// plan draws the change and the harmless edits. It is nil if the app has nothing that could have
// such a cause.
func (a *app) plan(rng *rand.Rand, kind Kind) *plan {
	x := &plan{target: -1, edited: map[int]bool{}}
	x.share[0] = []float64{1, 0.6, 0.4, 0.3}
	x.share[1] = x.share[0]
	for i := features; i < functions; i++ { // one in twenty is edited
		x.edited[i] = rng.IntN(20) == 0
	}
	for i := range features { // entry functions are edited often
		x.edited[i] = rng.IntN(2) == 0
	}
	x.version, x.script, x.browser = rng.IntN(3) == 0, rng.IntN(3) == 0, rng.IntN(3) == 0
	for i := functions; i < functions+inPackage; i++ {
		x.edited[i] = x.version
	}
	x.factor = func(int, bool) float64 { return 1 }
	x.right = func(*watch.Cause) bool { return false }
	by := 1.5 + rng.Float64()
	page := a.time(x.share[0], func(int) bool { return true })
	of := func(f int) func(int) bool { return func(at int) bool { return a.calls[at].function == f } }
	under := func(f int) func(int) bool { return func(at int) bool { return a.under(at, f) } }
	// one returns a function whose share of the page's time is large enough to be found, and small
	// enough to be distinguished from the page.
	one := func(from, until int, of func(int) func(int) bool, least, most float64) int {
		for range 200 {
			f := from + rng.IntN(until-from)
			if share := a.time(x.share[0], of(f)) / page; share >= least && share <= most {
				return f
			}
		}
		return -1
	}
	slower := func(is func(int) bool) {
		x.factor = func(at int, _ bool) float64 {
			if is(at) {
				return by
			}
			return 1
		}
	}
	rightIf := func(kind watch.CauseKind, function int) {
		x.right = func(c *watch.Cause) bool {
			return c.Kind == kind && (function < 0 || c.Function != nil && c.Function.Name == a.frames[function].Name)
		}
	}
	f := -1
	switch kind {
	case Itself:
		f = one(features, functions, of, 0.003, 0.2)
		x.target, x.edited[f] = f, true
		rightIf(watch.CauseEdited, f)
	case Calls, None, Label:
		f = one(features, functions, of, 0.005, 0.2)
		x.target, x.edited[f] = f, false
	case Package:
		f = one(functions, functions+inPackage, of, 0.003, 0.2)
	case Page:
		f = one(features, functions, under, 0.05, 0.4)
	case Script:
		f = functions + inPackage
	case All:
		slower(func(int) bool { return true })
		return x
	case Caller:
		return a.callerPlan(rng, x, by)
	}
	if f < 0 {
		return nil
	}
	slower(of(f))
	switch kind {
	case Page:
		slower(under(f))
		x.edited[f] = true
		rightIf(watch.CauseEdited, f)
	case Package:
		x.version, x.target = true, f
		for i := functions; i < functions+inPackage; i++ {
			x.edited[i] = true
		}
		rightIf(watch.CausePackage, -1)
	case Script:
		x.script = true
		slower(func(at int) bool { return a.calls[at].function >= f })
		rightIf(watch.CauseThirdParty, -1)
	case Label:
		x.browser = true
		x.factor = func(at int, chrome157 bool) float64 {
			if chrome157 && a.calls[at].function == f {
				return 1 + 2*by
			}
			return 1
		}
		x.right = func(c *watch.Cause) bool { return c.Kind == watch.CauseLabel && c.Label.Value == "Chrome 157" }
	case Calls:
		x.factor = func(int, bool) float64 { return 1 }
		return a.callsPlan(x, f, rightIf)
	}
	return x
}

// callerPlan edits a function so that it calls another one more often.
func (a *app) callerPlan(rng *rand.Rand, x *plan, by float64) *plan {
	for range 500 {
		at := features + rng.IntN(len(a.calls)-features)
		c := a.calls[at]
		if c.parent < features || c.function >= functions || a.calls[c.parent].function >= functions || c.self < 0.3 {
			continue
		}
		caller := a.calls[c.parent].function
		if caller == c.function {
			continue
		}
		x.target, x.edited[c.function], x.edited[caller] = c.function, false, true
		x.factor = func(i int, _ bool) float64 {
			if p := a.calls[i].parent; a.calls[i].function == c.function && p >= 0 && a.calls[p].function == caller {
				return 2 * by
			}
			return 1
		}
		x.right = func(k *watch.Cause) bool {
			return k.Kind == watch.CauseEdited && k.Function.Name == a.frames[caller].Name
		}
		return x
	}
	return nil
}

// callsPlan makes a feature more frequent that contains all calls of a function.
func (a *app) callsPlan(x *plan, f int, rightIf func(watch.CauseKind, int)) *plan {
	feature := -1
	for _, c := range a.calls {
		if c.function != f {
			continue
		}
		if c.feature == 0 || feature >= 0 && c.feature != feature {
			return nil
		}
		feature = c.feature
	}
	if feature < 0 {
		return nil
	}
	x.share[1] = append([]float64{}, x.share[0]...)
	x.share[1][feature] *= 1.5
	rightIf(watch.CauseCalls, -1)
	return x
}
