package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// visit holds the times of one page view: of a function and of the rest.
type visit struct{ x, c float64 }

func sideOfVisits(visits []visit) (s Side) {
	s.Views = []float64{float64(len(visits))}
	var x, c, all Amount
	for _, v := range visits {
		t := v.x + v.c
		x = x.Plus(Amount{1, v.x, v.x * v.x, v.x * t})
		c = c.Plus(Amount{1, v.c, v.c * v.c, v.c * t})
		all = all.Plus(Amount{1, t, t * t, t * t})
	}
	s.Time = []Amount{all}
	s.Functions = []Function{{Frame: frame("alpha", "a.js", 1, 1), Self: []Amount{x}},
		{Frame: frame("beta", "a.js", 10, 1), Self: []Amount{c}}}
	return s
}

// TestBeside calculates the change relative to the rest from single page views, by its definition.
func TestBeside(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 1))
	mean := func(visits []visit, f func(visit) float64) (sum float64) {
		for _, v := range visits {
			sum += f(v) / float64(len(visits))
		}
		return sum
	}
	x, c := func(v visit) float64 { return v.x }, func(v visit) float64 { return v.c }
	for range 300 {
		like, length := rng.Float64()*1.5, 0.5+rng.Float64()
		draw := func(n int, slower float64) (out []visit) {
			for range n {
				device := math.Exp(rng.NormFloat64() * length / 2)
				out = append(out, visit{slower * 20 * math.Pow(device, like) * (1 + 0.3*rng.Float64()), 100 * device})
			}
			return out
		}
		a, b := draw(200+rng.IntN(500), 1), draw(200+rng.IntN(500), []float64{1, 1.05, 0.9}[rng.IntN(3)])
		r := Compare(Input{A: sideOfVisits(a), B: sideOfVisits(b)}, Options{})
		for i := range r.Functions {
			f := &r.Functions[i]
			if f.Name != "alpha" || f.Beside == nil || f.Beside.Value == 0 || f.Beside.High == nil {
				continue
			}
			q := (mean(a, x) + mean(b, x)) / (mean(a, c) + mean(b, c))
			near, spread := math.Inf(1), math.Inf(1)
			for _, lambda := range []float64{1, elasticity(a, b, q)} {
				rest := func(v visit) float64 { return v.x - lambda*q*v.c }
				square := func(of []visit) float64 {
					m := mean(of, rest)
					return mean(of, func(v visit) float64 { return (rest(v) - m) * (rest(v) - m) }) / float64(len(of)-1)
				}
				near = min(near, math.Abs(mean(b, rest)-mean(a, rest)-f.Beside.Value))
				spread = min(spread, math.Sqrt(square(a)+square(b)))
			}
			// If the test finds a change of beta, beta is not in the rest of alpha.
			if beta := r.Functions[1-i]; !beta.Status.Alarm() && near > 1e-5 {
				t.Fatalf("the change relative to the rest is off by %g: %+v", near, f)
			}
			if half := f.Beside.High; (*half-f.Beside.Value)/spread < 1.9 {
				t.Fatalf("an interval of %g standard errors", (*half-f.Beside.Value)/spread)
			}
		}
	}
}

// elasticity searches the λ with the smallest variance.
func elasticity(a, b []visit, q float64) float64 {
	variance := func(lambda float64) (sum float64) {
		for _, of := range [][]visit{a, b} {
			n, m, squares := float64(len(of)), 0.0, 0.0
			for _, v := range of {
				m += (v.x - lambda*q*v.c) / n
			}
			for _, v := range of {
				d := v.x - lambda*q*v.c - m
				squares += d * d
			}
			sum += squares / (n - 1) / n
		}
		return sum
	}
	low, high := 0.0, 10.0
	for range 200 {
		third := (high - low) / 3
		if variance(low+third) < variance(high-third) {
			high -= third
		} else {
			low += third
		}
	}
	return (low + high) / 2
}

// TestDetectableFloor tests functions that take the same part of each page view, in runs shorter
// than the sampling interval. Their only variance is sampling noise, which no covariate reduces.
func TestDetectableFloor(t *testing.T) {
	const interval, n = 10.0, 4000
	rng := rand.New(rand.NewPCG(2, 7))
	side := func(mean float64) Side {
		visits := make([]visit, n)
		for i := range visits {
			length := math.Exp(0.4*rng.NormFloat64() - 0.08)
			samples := 0
			for at := rng.ExpFloat64(); at < length*mean/interval; at += rng.ExpFloat64() {
				samples++
			}
			visits[i] = visit{x: float64(samples) * interval, c: 200 * length}
		}
		return sideOfVisits(visits)
	}
	for _, mean := range []float64{5, 20, 80} {
		r := Compare(Input{A: side(mean), B: side(mean)}, Options{})
		f := r.Functions[slices.IndexFunc(r.Functions, func(f FunctionChange) bool { return f.Name == "alpha" })]
		floor := (math.Sqrt2*math.Erfcinv(1-f.Level) + zPower) * math.Sqrt(interval*mean*2/n)
		if got := *f.Detectable / floor; got < 0.95 || got > 1.3 {
			t.Errorf("%g ms: %g ms are detectable, the floor is %g", mean, *f.Detectable, floor)
		}
	}
}
