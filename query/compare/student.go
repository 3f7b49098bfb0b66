package compare

import "math"

// manyFreedom is the number of degrees of freedom from which on Student's t is approximated by a
// transformed normal distribution. The p-value is then within 1 % down to 1e-5, and somewhat too
// large below.
const manyFreedom = 200

// studentTail returns the probability that |T| is at least t for a Student's T with the given
// degrees of freedom. See Abramowitz and Stegun, Handbook of Mathematical Functions, 26.5.27 for
// the incomplete beta function and 26.7.8 for the transformation.
func studentTail(t, freedom float64) float64 {
	t = math.Abs(t)
	switch {
	case math.IsNaN(t) || !(freedom > 0):
		return 1
	case math.IsInf(freedom, 1):
		return math.Erfc(t / math.Sqrt2)
	case freedom > manyFreedom:
		z := t * (1 - 1/(4*freedom)) / math.Sqrt(1+t*t/(2*freedom))
		return math.Erfc(z / math.Sqrt2)
	}
	return incompleteBeta(freedom/2, 0.5, freedom/(freedom+t*t))
}

// studentQuantile returns the t that |T| exceeds with probability p, in (0, 1). It is the inverse
// of studentTail, so an interval at 1 − p includes 0 for all p-values above p and for no others.
func studentQuantile(p, freedom float64) float64 {
	z := math.Sqrt2 * math.Erfcinv(p)
	if math.IsInf(freedom, 1) {
		return z
	}
	if freedom > manyFreedom {
		k := 1 - 1/(4*freedom)
		if rest := k*k - z*z/(2*freedom); rest > 0 {
			return z / math.Sqrt(rest)
		}
		return math.Inf(1)
	}
	low, high := 0.0, max(2*z, 1)
	for studentTail(high, freedom) > p && high < 1e12 {
		low, high = high, 4*high
	}
	return solve(low, high, func(t float64) float64 { return math.Log(studentTail(t, freedom) / p) })
}

// solve returns the zero of a falling function between low and high, by the Illinois method: a
// secant that halves the value of an end that stays.
func solve(low, high float64, f func(float64) float64) float64 {
	const enough = 1e-14
	atLow, atHigh, stayed := f(low), f(high), 0
	for range 100 {
		if high-low <= enough*high || atLow <= 0 || atHigh >= 0 {
			break
		}
		t := low + (high-low)*atLow/(atLow-atHigh)
		switch at := f(t); {
		case math.Abs(at) <= enough:
			return t
		case at > 0:
			low, atLow = t, at
			if stayed++; stayed > 1 {
				atHigh /= 2
			}
			stayed = max(stayed, 1)
		default:
			high, atHigh = t, at
			if stayed--; stayed < -1 {
				atLow /= 2
			}
			stayed = min(stayed, -1)
		}
	}
	return high
}

// incompleteBeta returns the regularised incomplete beta function I_x(a, b), by the
// continued fraction 8.17.22 of the Digital Library of Mathematical Functions
// (https://dlmf.nist.gov/8.17) with Lentz's method.
func incompleteBeta(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // where the fraction converges slowly
		return 1 - incompleteBeta(b, a, 1-x)
	}
	ga, _ := math.Lgamma(a)
	gb, _ := math.Lgamma(b)
	gab, _ := math.Lgamma(a + b)
	front := math.Exp(gab-ga-gb+a*math.Log(x)+b*math.Log1p(-x)) / a
	const tiny = 1e-300
	value, c, d := 1.0, 1.0, 0.0
	for i := range 1000 {
		m := float64(i / 2)
		var term float64
		switch {
		case i == 0:
			term = 1
		case i%2 == 0:
			term = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			term = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		if d = 1 + term*d; math.Abs(d) < tiny {
			d = tiny
		}
		d = 1 / d
		if c = 1 + term/c; math.Abs(c) < tiny {
			c = tiny
		}
		value *= c * d
		if math.Abs(1-c*d) < 1e-14 {
			break
		}
	}
	return front * (value - 1)
}
