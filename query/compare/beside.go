package compare

import (
	"maps"
	"math"
	"slices"
)

// beside is a function and the rest of its page views' JavaScript, cell by cell.
//
// A slow device or a long visit makes the function x and the rest c slower alike, so c is a
// covariate. Its effect is the elasticity λ: if c is 1 % larger, x is λ percent larger. In a cell,
// with q the mean of x divided by the mean of c over both sides, the change relative to the rest is
//
//	(x_B - x_A) - λ·q·(c_B - c_A)
//
// with means over page views. The changes of cells are added with the weights that pages have. λ is
// 1 for a function that grows with the rest, and 0 for one that runs once whatever the visitor
// does. The λ with the smallest variance (analysis of covariance) lies between for most functions.
// The right λ for a change of c is unknown: the page may have become slower as a
// whole, or visits longer. So the function has changed only if it has for all λ from the best to 1.
// The change is linear in λ, so testing both ends is enough.
//
// The time on slow devices varies by more ms than on fast ones. If a change has the same percentage
// everywhere, it is found with fewer page views if cells weigh by the precision of their
// percentages. A change on slow devices alone is found with fewer page views if cells weigh by page
// views. Both are tested, each at half of the level.
type beside struct {
	change *Change
	plain  float64 // p of the plain change
	cells  []besideCell
	best   float64   // the λ with the smallest variance, from 0 to 1
	even   []float64 // by cell: weights for a change of the same percentage everywhere
	// versions is the deviation by browser versions, with weights by page views and with even
	// weights.
	versions [2]deviation
	own      []apart // by cell: contribution to the change of c, if the function changed
	size     float64 // its z, at the last test
	lambda   float64 // λ of that test
}

// besideCell is a function in a cell. Means are in ms per page view.
type besideCell struct {
	cell   int
	weight float64
	n      both
	x, c   float64 // B's means minus A's
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

// besideOf returns the data of a function, or nil if its products are unknown or the page view has
// no other JavaScript.
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
		cell := besideCell{cell: i, weight: w, n: n, a: covariancesOf(x.a, page.a, n.a), b: covariancesOf(x.b,
			page.b, n.b)}
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

// evenly sets even: the inverse variances of relative changes, converted to weights by page views.
// The variance of a cell has a lower bound of a quarter of the overall variance, because a few page
// views can happen to have a small one.
func (of *beside) evenly() {
	var squares, all, weighted, mean float64
	variances := make([]float64, len(of.cells)) // of relative changes, for one page view per side
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

// unknownProduct reports whether an amount lacks its product with the total time of the page view.
func unknownProduct(amounts []Amount) bool {
	return slices.ContainsFunc(amounts, func(x Amount) bool { return x.Sum > 0 && x.Product <= 0 })
}

// covariancesOf returns the variances of x and of the rest of page, over n page views.
func covariancesOf(x, page Amount, n float64) (v covariances) {
	rest := page.Sum - x.Sum
	v.x = variance(x, n)
	v.c = max(page.Squares-2*x.Product+x.Squares-rest*rest/n, 0) / (n - 1)
	v.xc = (x.Product - x.Squares - x.Sum*rest/n) / (n - 1)
	bound := math.Sqrt(v.x * v.c) // the sums of older functions may be upper bounds
	v.xc = min(max(v.xc, -bound), bound)
	return v
}

// at returns the change relative to the rest for a λ, with even weights or weights by page views.
// shift is, by cell, the part of the rest's change that other functions are known to have caused.
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

// test sets the decisive estimate of the function. It returns false if there is none.
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
			x.Beside, x.beside, x.P, of.size, of.lambda = &Estimate{Value: finite(value)}, d, p,
				math.Abs(value/d.err), lambda
			x.scale = of.scale(value, even)
		}
	}
	return true
}

// scale returns the factor for a decrease. With it, the decrease divided by A's mean is the
// decrease divided by B's mean before the decrease, so it is never more than 100 %. The factor is 1
// for an increase.
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

// least returns the change at the least significant λ, and its p.
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
		} else if first*v < 0 { // a λ between them has a change of 0
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

// mostTaken limits how much is subtracted from the rest: the sum of the ratios of functions to
// their rests. Beyond it, too little of the page is unchanged to compare with, and the equations
// for the contributions of functions, which depend on each other, have no solution.
const mostTaken = 0.9

// ratio returns the time of the function divided by the time of its rest, over all cells, times the
// largest λ: how much a change of the rest changes the function.
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

// mostChanged limits how many functions are subtracted from the rest of the others.
const mostChanged = 200

// besides tests functions relative to the rest of their page views.
//
// A function that changed a lot also changes the rest of functions that did not change. So besides
// subtracts the most significant change from the rest of the others, then the next one, until no
// significant change is left.
func (c *comparison) besides(in Input, functions []FunctionChange, share float64) {
	var all []*beside
	for i := range functions {
		if of := c.besideOf(&functions[i], in); of != nil {
			all = append(all, of)
		}
	}
	taken := 0.0
	total := make([]apart, len(c.views)) // changes by functions found so far, by cell
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
// JavaScript. total is the sum of their contributions found so far.
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

// contribution returns the function's own contribution, by its cells. It uses the least significant
// change: at another λ, a change of the whole page would count as a change of each function.
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

// without returns total minus the function's own contribution.
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
