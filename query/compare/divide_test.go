package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drawnPart is a stratum of drawn page views, with its known sums and its true amounts.
type drawnPart struct {
	part  Part
	exact Amount
}

// drawParts draws page views of devices that differ in speed. Of the page views, have have the
// function, or a share that differs by device.
func drawParts(rng *rand.Rand, have float64, byDevice bool) (parts []drawnPart) {
	for range 2 + rng.IntN(4) {
		speed, n, has := math.Exp(rng.NormFloat64()), 200+rng.IntN(2000), have
		if byDevice {
			has *= rng.Float64()
		}
		var p drawnPart
		for range n {
			length := math.Exp(0.5 * rng.NormFloat64())
			x := 0.0
			if rng.Float64() < has {
				x = speed * length * math.Exp(0.3*rng.NormFloat64())
				p.exact.Seen++
			}
			all := x + 10*speed*length*math.Exp(0.2*rng.NormFloat64())
			p.exact = p.exact.Plus(Amount{Sum: x, Squares: x * x, Product: x * all})
			p.part.Time = p.part.Time.Plus(Amount{Seen: 1, Sum: all, Squares: all * all, Product: all * all})
		}
		p.part.Views, p.part.Self = float64(n), p.exact.Sum
		parts = append(parts, p)
	}
	return parts
}

func whole(parts []drawnPart) (of, time Amount, views float64, known []Part) {
	for _, p := range parts {
		of, time, views, known = of.Plus(p.exact), time.Plus(p.part.Time), views+p.part.Views, append(known, p.part)
	}
	return of, time, views, known
}

// The estimated variance within strata is about the variance of their page views if all of them
// have the function, and otherwise not less, except for random noise. The covariance with the rest
// is about the covariance of the page views, too.
func TestDivide(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		have := []float64{1, 1, 0.5, 0.1}[i%4]
		parts := drawParts(rng, have, have < 1)
		of, time, views, known := whole(parts)
		var got, want covariances
		for k, a := range Divide(of, time, views, known) {
			p := parts[k]
			if a.Sum != p.part.Self || math.IsNaN(a.Squares+a.Product) || a.Product < a.Squares {
				t.Fatalf("%+v of %+v", a, p)
			}
			x, y := covariancesOf(a, p.part.Time, p.part.Views), covariancesOf(p.exact, p.part.Time, p.part.Views)
			n := p.part.Views
			got, want = covariances{got.x + n*x.x, got.c + n*x.c, got.xc + n*x.xc}, covariances{want.x + n*y.x,
				want.c + n*y.c, want.xc + n*y.xc}
		}
		if got.x < 0.99*want.x || have == 1 && got.x > 1.01*want.x {
			t.Errorf("%d: variance %g, page views have %g", i, got.x/views, want.x/views)
		}
		if have == 1 && math.Abs(got.xc/want.xc-1) > 0.2 {
			t.Errorf("%d: covariance %g, page views have %g", i, got.xc/views, want.xc/views)
		}
	}
}

// If strata of the whole are missing, products are unknown, and the variance is not less.
func TestDivideSome(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		of, time, views, known := whole(drawParts(rng, 1, false))
		all := Divide(of, time, views, known)
		for k, a := range Divide(of, time, views, known[:len(known)-1]) {
			if a.Product != 0 || a.Squares < 0.99*all[k].Squares || a.Sum != known[k].Self {
				t.Errorf("%+v, of all %+v", a, all[k])
			}
		}
	}
	if got := Divide(Amount{}, Amount{}, 0, []Part{{Views: 3, Self: 2}}); got[0] != (Amount{Sum: 2}) {
		t.Errorf("of nothing: %+v", got)
	}
	one := Amount{Seen: 3, Sum: 2, Squares: 4, Product: 9}
	if got := Divide(one, Amount{Sum: 9, Squares: 99}, 3, []Part{{Views: 3, Self: 2}}); got[0] != one {
		t.Errorf("of one stratum: %+v", got)
	}
}
