package compare

import (
	"maps"
	"math"
	"slices"
)

// beside is a function and the rest of its page views' JavaScript, cell by cell.
//
// A slow device or a long visit makes the function x and the rest c slower alike, so c is a
// covariate. Its effect is the elasticity λ: with one more percent of c, x has λ percent more. In a
// cell, with q the mean of x divided by that of c over both sides, the change at an equal rest is
//
//	(x_B - x_A) - λ·q·(c_B - c_A)
//
// with means of page views, and the changes of cells are added up as those of pages are, by weight.
// λ is 1 for what grows like the rest, and 0 for what runs once whatever
// the visitor does; the λ with the smallest variance (analysis of covariance) lies between for most
// functions. Which one is right for a change of c, nobody knows: c may have changed because the page
// became slower as a whole, or because visits became longer. So the function has changed only if it
// has for all λ from the best to 1: the change is linear in λ, so its ends are tested.
//
// Slow devices vary by more ms than fast ones. A change by as many percent everywhere is found with
// fewer page views if cells weigh by the precision of their percentages, a change on slow devices
// alone if they weigh by page views. Both are tested, each at half of the level.
type beside struct {
	change *Change
	plain  float64 // its p without regard to the rest
	cells  []besideCell
	best   float64   // the λ with the smallest variance, from 0 to 1
	even   []float64 // by cell: weights for a change by as many percent everywhere
	// versions is the deviation by browser versions, with weights by page views and with even ones.
	versions [2]deviation
	own      []apart // what the function contributes to the change of c, by cell, if it is known to have changed
	size     float64 // its z, at the last test
	lambda   float64 // at which that was
}

// besideCell is a function in a cell. The means are ms of a page view.
type besideCell struct {
	cell   int
	weight float64
	n      both
	x, c   float64 // B's means less A's
	mean   float64 // of the function, over both sides
	meanB  float64 // of the function, in B
	q      float64
	a, b   covariances
}

// covariances are variances over page views of a side, and the covariance.
type covariances struct{ x, c, xc float64 }

// residual returns the variance of x - slope·c.
func (v covariances) residual(slope float64) float64 {
	return max(v.x-2*slope*v.xc+slope*slope*v.c, 0)
}

// apart is a difference of means with its variance.
type apart struct{ value, variance float64 }

// besideOf returns the data of a function, or nil if its products are unknown, or there is no rest.
func (c *comparison) besideOf(f *FunctionChange, in Input) *beside {
	a, b := in.self(f.pair)
	if !f.tested || f.Unadjusted || unknownProduct(a) || unknownProduct(b) {
		return nil
	}
	of := &beside{change: &f.Change, plain: f.P}
	spent := slices.Clone(c.inCells(a, b))
	var best, scale float64
	for i, page := range c.inCells(in.A.Time, in.B.Time) {
		x, n, w := spent[i], c.views[i], c.weight[i]
		if x == (amounts{}) {
			continue
		}
		cell := besideCell{cell: i, weight: w, n: n, a: covariancesOf(x.a, page.a, n.a), b: covariancesOf(x.b, page.b, n.b)}
		cell.x, cell.mean = x.b.Sum/n.b-x.a.Sum/n.a, (x.a.Sum+x.b.Sum)/(n.a+n.b)
		cell.meanB = x.b.Sum / n.b
		restA, restB := (page.a.Sum-x.a.Sum)/n.a, (page.b.Sum-x.b.Sum)/n.b
		cell.c = restB - restA
		if rest := restA + restB; rest > 0 {
			cell.q = (x.a.Sum/n.a + x.b.Sum/n.b) / rest
		}
		best += w * w * cell.q * (cell.a.xc/n.a + cell.b.xc/n.b)
		scale += square(w*cell.q) * (cell.a.c/n.a + cell.b.c/n.b)
		of.cells = append(of.cells, cell)
	}
	if !(scale > 0) || math.IsInf(scale, 0) || math.IsNaN(best) {
		return nil
	}
	of.best = max(best/scale, 0)
	of.evenly()
	c.mixOfVersions.besides(of)
	return of
}

// evenly sets even: the inverse variances of relative changes, in ms of the same mean as weights by
// page views. The variance that a few page views of a cell happen to have counts from a quarter of
// that of all on.
func (of *beside) evenly() {
	var squares, all, weighted, mean float64
	variances := make([]float64, len(of.cells)) // of relative changes, for one page view a side
	for i := range of.cells {
		x := &of.cells[i]
		slope := of.best * x.q
		v := (x.n.a*x.a.residual(slope) + x.n.b*x.b.residual(slope)) / (x.n.a + x.n.b)
		squares, all = squares+(x.n.a+x.n.b)*v, all+(x.n.a+x.n.b)*x.mean*x.mean
		variances[i] = v / (x.mean * x.mean)
	}
	of.even = make([]float64, len(of.cells))
	for i := range of.cells {
		x := &of.cells[i]
		of.even[i] = 1 / (x.mean * max(variances[i], squares/all/4) * (1/x.n.a + 1/x.n.b))
		weighted += of.even[i] * x.mean
		mean += x.weight * x.mean
	}
	for i := range of.even {
		of.even[i] *= mean / weighted
	}
}

// unknownProduct reports whether an amount has no product with all time of its page views.
func unknownProduct(amounts []Amount) bool {
	return slices.ContainsFunc(amounts, func(x Amount) bool { return x.Sum > 0 && x.Product <= 0 })
}

// covariancesOf returns the variances of x and of the rest of page, over n page views.
func covariancesOf(x, page Amount, n float64) (v covariances) {
	rest := page.Sum - x.Sum
	v.x = variance(x, n)
	v.c = max(page.Squares-2*x.Product+x.Squares-rest*rest/n, 0) / (n - 1)
	v.xc = (x.Product - x.Squares - x.Sum*rest/n) / (n - 1)
	bound := math.Sqrt(v.x * v.c) // sums of older functions may be bounds
	v.xc = min(max(v.xc, -bound), bound)
	return v
}

// at returns the change at an equal rest for a λ, with even weights or those by page views. shift is, by cell, the part of the rest's change
// that other functions are known to have made.
func (of *beside) at(lambda float64, even bool, shift []apart) (value float64, d deviation) {
	var welch, pooled, spread float64
	versions := of.versions[0]
	if even {
		versions = of.versions[1]
	}
	for i := range of.cells {
		x := &of.cells[i]
		w := x.weight
		if even {
			w = of.even[i]
		}
		slope, w2, s := lambda*x.q, w*w, shift[x.cell]
		value += w * (x.x - slope*(x.c-s.value))
		va, vb := x.a.residual(slope), x.b.residual(slope)
		known := slope * slope * s.variance
		welch += w2 * (va/x.n.a + vb/x.n.b + known)
		v := ((x.n.a-1)*va + (x.n.b-1)*vb) / (x.n.a + x.n.b - 2)
		pooled += w2 * (v/x.n.a + v/x.n.b + known)
		spread += square(w2*va/x.n.a)/(x.n.a-1) + square(w2*vb/x.n.b)/(x.n.b-1)
	}
	d = deviation{err: math.Sqrt(max(welch, pooled)), freedom: math.Inf(1)}
	if spread > 0 {
		d.freedom = square(welch) / spread
	}
	d = d.plus(versions)
	d.known = !math.IsNaN(d.err) && !math.IsInf(d.err, 0) && d.err > 0
	return value, d
}

// test sets what decides about the function. It returns false if nothing can be said.
func (of *beside) test(shift []apart) bool {
	x := of.change
	x.Beside, x.P = nil, of.plain
	for _, even := range [...]bool{false, true} {
		value, lambda, d, p := of.least(even, shift)
		if !d.known {
			x.Beside, x.P = nil, of.plain
			return false
		}
		if p = min(2*p, 1); x.Beside == nil || p < x.P {
			x.Beside, x.beside, x.P, of.size, of.lambda = &Estimate{Value: finite(value)}, d, p, math.Abs(value/d.err), lambda
			x.scale = of.scale(value, even)
		}
	}
	return true
}

// scale returns the factor for a decrease. With it, the decrease divided by A's mean is the decrease
// divided by B's mean before the decrease, so it is never more than 100 %. The factor is 1 for an increase.
func (of *beside) scale(value float64, even bool) float64 {
	if value >= 0 || of.change.base <= 0 {
		return 1
	}
	without := -value
	for i := range of.cells {
		w := of.cells[i].weight
		if even {
			w = of.even[i]
		}
		without += w * of.cells[i].meanB
	}
	return of.change.base / without
}

// least returns the change at the λ that makes it the least certain, and its p.
func (of *beside) least(even bool, shift []apart) (value, lambda float64, d deviation, p float64) {
	p = -1
	first := 0.0
	for i, at := range [...]float64{of.best, 1} {
		v, deviation := of.at(at, even, shift)
		if !deviation.known {
			return 0, at, deviation, 1
		}
		if i == 0 {
			first = v
		} else if first*v < 0 { // 0 is the change of a λ between them
			return 0, at, deviation, 1
		}
		if alone := studentTail(v/deviation.err, deviation.freedom); alone > p {
			value, lambda, d, p = v, at, deviation, alone
		}
	}
	return value, lambda, d, p
}

// self returns the self times of a pair of functions.
func (in Input) self(p pair) (a, b []Amount) {
	if p.a >= 0 {
		a = in.A.Functions[p.a].Self
	}
	if p.b >= 0 {
		b = in.B.Functions[p.b].Self
	}
	return a, b
}

// mostTaken bounds how much is taken out of the rest: the sum of the ratios of functions to their rests. If more changed, there is
// nothing that others can be beside, and what each contributed, which depends on all others, has no solution.
const mostTaken = 0.9

// ratio returns the time of the function divided by that of its rest, over all cells, times the largest λ: how much a change of the
// rest is one of the function.
func (of *beside) ratio() float64 {
	var x, rest float64
	for i := range of.cells {
		c := &of.cells[i]
		x += c.weight * c.mean
		if c.q > 0 {
			rest += c.weight * c.mean / c.q
		}
	}
	return max(of.best, 1) * ratio(x, rest)
}

// mostChanged bounds how many functions are taken to have changed the rest of the others.
const mostChanged = 200

// besides tests functions at an equal rest of their page views.
//
// A function that changed a lot changes the rest of all others, which did not change. So the most
// certain change is taken out of the rest of the others, then the next one, until there is none.
func (c *comparison) besides(in Input, functions []FunctionChange, share float64) {
	var all []*beside
	for i := range functions {
		if of := c.besideOf(&functions[i], in); of != nil {
			all = append(all, of)
		}
	}
	taken := 0.0
	total := make([]apart, len(c.views)) // what functions are known to have changed, by cell
	families := c.families(functions, share)
	for range mostChanged {
		all = slices.DeleteFunc(all, func(of *beside) bool { return !of.test(of.without(total)) })
		levels := map[*Change]tested{}
		for _, x := range families {
			maps.Copy(levels, c.levels(x.changes, x.share))
		}
		var next *beside
		for _, of := range all {
			switch found := of.change.P <= levels[of.change].decided; {
			case !found:
				of.own = nil
			case of.own == nil && taken+of.ratio() <= mostTaken && (next == nil || of.size > next.size):
				next = of
			}
		}
		if next == nil {
			return
		}
		next.own = []apart{}
		taken += next.ratio()
		total = c.contributions(all, total)
	}
}

// contributions returns, by cell, what the functions that changed contributed to the change of all
// JavaScript. total is what they did as far as was known before.
func (c *comparison) contributions(all []*beside, total []apart) []apart {
	out := make([]apart, len(c.views))
	for _, of := range all {
		if of.own == nil {
			continue
		}
		of.own = of.contribution(of.without(total))
		for i, x := range of.own {
			at := &out[of.cells[i].cell]
			at.value += x.value
			at.variance += x.variance
		}
	}
	return out
}

// contribution returns what the function itself contributed, by cell of it. It is that of the least certain change: at another λ,
// what is a change of all of the page would be one of each function.
func (of *beside) contribution(shift []apart) []apart {
	own := make([]apart, len(of.cells))
	for i := range of.cells {
		x := &of.cells[i]
		slope, s := of.lambda*x.q, shift[x.cell]
		own[i].value = x.x - slope*(x.c-s.value)
		own[i].variance = x.a.residual(slope)/x.n.a + x.b.residual(slope)/x.n.b + slope*slope*s.variance
	}
	return own
}

// without returns total without what the function itself contributed.
func (of *beside) without(total []apart) []apart {
	if len(of.own) == 0 {
		return total
	}
	out := slices.Clone(total)
	for i, x := range of.own {
		at := &out[of.cells[i].cell]
		at.value -= x.value
		at.variance = max(at.variance-x.variance, 0)
	}
	return out
}
