package compare

import "math"

// amounts are the amounts of both sides in one cell.
type amounts struct{ a, b Amount }

// deviation is the uncertainty of an estimate. The zero value means unknown.
type deviation struct {
	err     float64 // standard error
	freedom float64
	known   bool
}

// estimate returns a value with its interval at the given level, the probability of a miss. Level 0
// means no interval.
func (d deviation) estimate(value, level float64) Estimate {
	if !d.known || level <= 0 {
		return Estimate{Value: value}
	}
	half := studentQuantile(level, d.freedom) * d.err
	low, high := value-half, value+half
	if math.IsNaN(half) || math.IsInf(low, 0) || math.IsInf(high, 0) {
		return Estimate{Value: value}
	}
	return Estimate{value, &low, &high}
}

// change estimates the change of a time; amounts are by stratum. unadjusted reports that they are
// sums over all strata. part reports that it is a part of the page. Intervals come later, as their
// level depends on all tests.
func (c *comparison) change(a, b []Amount, part bool) (out Change, unadjusted bool) {
	sumA, vagueA := total(a)
	sumB, vagueB := total(b)
	out.Measured = Pair{ratio(sumA.Sum, c.all.a), ratio(sumB.Sum, c.all.b)}
	out.Mean = out.Measured
	whole := estimateOf([]amounts{{sumA, sumB}}, []both{c.all}, []float64{1})
	known := !vagueA && !vagueB
	out.measured = whole.deviation(known)
	out.P, out.Q = 1, 1
	unadjusted = len(c.cellOf) > 1 && (len(a) == 1 || len(b) == 1) && len(a) <= 1 && len(b) <= 1
	if !c.enough() {
		return out, unadjusted
	}
	e := whole
	if !unadjusted {
		e = estimateOf(c.inCells(a, b), c.views, c.weight)
		out.Mix, out.mix = c.mix(out.Measured.B, b, known)
		difference := e.difference
		c.withoutVersions(&out, &e, part)
		out.LeftOut = new(0.0)
		if c.uncovered > 0 {
			*out.LeftOut = finite(out.Measured.B - out.Measured.A - difference - out.Mix.Value)
		}
	}
	out.Adjusted = &Estimate{Value: finite(e.difference)}
	out.base = e.base
	out.only = e.only
	out.adjusted = e.deviation(known)
	if out.adjusted.known && e.seen >= float64(c.o.MinSeen) {
		out.tested = true
		out.P = e.p()
	}
	return out, unadjusted
}

// inCells sums the amounts of both sides by cell. The result is valid until the next call.
func (c *comparison) inCells(a, b []Amount) []amounts {
	clear(c.cells)
	for s, cell := range c.cellOf {
		if cell >= 0 {
			c.cells[cell].a = c.cells[cell].a.Plus(amountAt(a, s))
			c.cells[cell].b = c.cells[cell].b.Plus(amountAt(b, s))
		}
	}
	return c.cells
}

// mix estimates the mix effect: B's mean minus the mean that B would have with A's traffic. It
// results from the shares of cells, and from strata of B that A hardly has. Both shares and means
// are samples. Callers must call inCells first.
func (c *comparison) mix(mean float64, b []Amount, known bool) (*Estimate, deviation) {
	value, means := mean, 0.0 // means is the part of the variance that is due to the means
	var byB, byA [2]float64   // first and second moments of the means, by B's shares and A's
	part := func(x Amount, n, weight float64) {
		if n <= 0 {
			return
		}
		share, mean := n/c.all.b, x.Sum/n
		v := mean * mean
		if n >= 2 {
			v = variance(x, n)
		}
		value -= weight * mean
		means += square(share-weight) * v / n
		byB[0], byB[1] = byB[0]+share*mean, byB[1]+share*mean*mean
		byA[0], byA[1] = byA[0]+weight*mean, byA[1]+weight*mean*mean
	}
	for i, x := range c.cells {
		part(x.b, c.views[i].b, c.weight[i])
	}
	for s, cell := range c.cellOf {
		if cell < 0 {
			part(amountAt(b, s), c.viewsB[s], 0)
		}
	}
	shares := max(byB[1]-square(byB[0]), 0)/c.all.b + max(byA[1]-square(byA[0]), 0)/c.covered.a
	err := math.Sqrt(means + shares)
	known = known && !math.IsNaN(err) && !math.IsInf(err, 0)
	return &Estimate{Value: finite(value)}, deviation{err, math.Inf(1), known}
}

// total adds up amounts; vague reports that the variance of one is unknown.
func total(amounts []Amount) (all Amount, vague bool) {
	for s := range amounts {
		x := amountAt(amounts, s)
		all = all.Plus(x)
		vague = vague || x.vague()
	}
	return all, vague
}

// estimate is a difference of means, weighted by cells.
type estimate struct {
	base, difference float64 // A's mean, and B's less that, ms
	err              float64 // standard error of the difference
	freedom          float64
	known            bool    // there is an error
	seen             float64 // page views in which the thing was seen
	only             only
}

func estimateOf(cells []amounts, views []both, weight []float64) (e estimate) {
	var welch, pooled, spread float64
	e.known = len(cells) > 0
	var all amounts
	for i, x := range cells {
		n, w2 := views[i], weight[i]*weight[i]
		all.a, all.b = all.a.Plus(x.a), all.b.Plus(x.b)
		if n.a < 2 || n.b < 2 {
			e.known = false
			continue
		}
		if x == (amounts{}) { // most functions occur in few strata
			continue
		}
		va, vb := variance(x.a, n.a), variance(x.b, n.b)
		e.base += weight[i] * x.a.Sum / n.a
		e.difference += weight[i] * (x.b.Sum/n.b - x.a.Sum/n.a)
		welch += w2 * (va/n.a + vb/n.b)
		v := ((n.a-1)*va + (n.b-1)*vb) / (n.a + n.b - 2)
		pooled += w2 * (v/n.a + v/n.b)
		spread += square(w2*va/n.a)/(n.a-1) + square(w2*vb/n.b)/(n.b-1)
	}
	if math.Abs(e.difference) <= 1e-12*(2*e.base+math.Abs(e.difference)) { // the rounding of the sums
		e.difference = 0
	}
	e.err = math.Sqrt(max(welch, pooled))
	e.freedom = math.Inf(1)
	if spread > 0 {
		e.freedom = square(welch) / spread
	}
	e.seen = seen(all.a) + seen(all.b)
	switch {
	case all.a.Sum == 0 && all.a.Seen == 0 && all.b.Sum > 0:
		e.only = onlyB
	case all.b.Sum == 0 && all.b.Seen == 0 && all.a.Sum > 0:
		e.only = onlyA
	}
	return e
}

// deviation returns the deviation of the difference; known says whether the variances are known.
func (e estimate) deviation(known bool) deviation {
	return deviation{e.err, e.freedom, known && e.known && !math.IsNaN(e.err) && !math.IsInf(e.err, 0)}
}

// p returns the two-sided probability of such a difference if there is no change.
func (e estimate) p() float64 {
	switch {
	case e.difference == 0:
		return 1
	case e.err == 0:
		return 0
	default:
		return studentTail(e.difference/e.err, e.freedom)
	}
}

// variance returns the variance over n page views. Those not in x are 0.
func variance(x Amount, n float64) float64 {
	return max(x.Squares-x.Sum*x.Sum/n, 0) / (n - 1)
}

// seen returns the number of page views in which x was seen. If that is unknown, it is the number
// of equal times with the same sum and sum of squares, which is never more.
func seen(x Amount) float64 {
	if x.Seen > 0 || x.Squares == 0 {
		return x.Seen
	}
	return x.Sum * x.Sum / x.Squares
}

func square(v float64) float64 { return v * v }
