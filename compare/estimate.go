package compare

import "math"

// amounts are those of one thing on both sides in one cell.
type amounts struct{ a, b Amount }

// change estimates how a time changed; amounts are by stratum. unadjusted is whether they
// are of all strata together.
func (c *comparison) change(a, b []Amount) (out Change, unadjusted bool) {
	sumA, vagueA := total(a)
	sumB, vagueB := total(b)
	out.Mean = Pair{ratio(sumA.Sum, c.all.a), ratio(sumB.Sum, c.all.b)}
	out.Difference = out.Mean.B - out.Mean.A
	out.P, out.Q = 1, 1
	views, weight := c.views, c.weight
	var cells []amounts
	if unadjusted = len(c.cellOf) > 1 && (len(a) == 1 || len(b) == 1) && len(a) <= 1 && len(b) <= 1; unadjusted {
		views, weight = []both{c.all}, []float64{1}
		cells = []amounts{{sumA, sumB}}
	} else {
		clear(c.cells)
		cells = c.cells
		for s, cell := range c.cellOf {
			if cell >= 0 {
				cells[cell].a = cells[cell].a.plus(amountAt(a, s))
				cells[cell].b = cells[cell].b.plus(amountAt(b, s))
			}
		}
	}
	e := estimateOf(cells, views, weight)
	out.Adjusted.Value = finite(e.difference)
	out.Mix = finite(out.Difference - e.difference)
	if e.base > 0 {
		out.Relative = new(finite(e.difference / e.base))
	}
	out.only = e.only
	if !e.known || vagueA || vagueB {
		return out, unadjusted
	}
	out.err = e.err
	half := finite(studentQuantile(e.freedom) * e.err)
	out.Adjusted.Low, out.Adjusted.High = new(out.Adjusted.Value-half), new(out.Adjusted.Value+half)
	if c.enough() && e.seen >= float64(c.o.MinSeen) {
		out.tested = true
		out.P = e.p()
	}
	return out, unadjusted
}

// total adds up amounts; vague is whether it is not known of one how it varies.
func total(amounts []Amount) (all Amount, vague bool) {
	for s := range amounts {
		x := amountAt(amounts, s)
		all = all.plus(x)
		vague = vague || x.vague()
	}
	return all, vague
}

// estimate is a difference of means that are weighted by cells.
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
		all.a, all.b = all.a.plus(x.a), all.b.plus(x.b)
		if n.a < 2 || n.b < 2 {
			e.known = false
			continue
		}
		if x == (amounts{}) { // most functions are in few strata
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

// p returns the two-sided probability of such a difference if there is none. What is
// below the rounding of the sums is no difference.
func (e estimate) p() float64 {
	switch d := math.Abs(e.difference); {
	case d <= 1e-12*(2*e.base+d):
		return 1
	case e.err == 0:
		return 0
	default:
		return studentTail(d/e.err, e.freedom)
	}
}

// variance returns that of n page views, of which those that are not in x are 0.
func variance(x Amount, n float64) float64 {
	return max(x.Squares-x.Sum*x.Sum/n, 0) / (n - 1)
}

// seen returns in how many page views x was seen. If that is not known, it is the number
// of equal times with the same sum and sum of squares, which is never more.
func seen(x Amount) float64 {
	if x.Seen > 0 || x.Squares == 0 {
		return x.Seen
	}
	return x.Sum * x.Sum / x.Squares
}

func square(v float64) float64 { return v * v }
