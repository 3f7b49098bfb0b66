package browsers

import (
	"math"
	"math/rand/v2"
	"testing"
)

// cellOf returns a cell with versions of the given page views and means, each with a coefficient of
// variation of 1.
func cellOf(kind string, views, mean map[string]float64) Cell {
	c := Cell{Kind: kind, Versions: map[string]Sum{}}
	for name, n := range views {
		m := mean[name]
		c.Versions[name] = Sum{n, n * m, n*m*m + (n-1)*m*m}
	}
	return c
}

func TestWithoutContrasts(t *testing.T) {
	versions := []string{"Chrome 157", "Chrome 158"}
	mean := map[string]float64{"Chrome 157": 100, "Chrome 158": 200, "Edge 158": 300}
	for what, cells := range map[string][]Cell{
		"no cell": nil,
		"one version each": {cellOf("a", map[string]float64{"Chrome 157": 1000}, mean),
			cellOf("a", map[string]float64{"Chrome 158": 1000}, mean)},
		"another family": {cellOf("a", map[string]float64{"Chrome 157": 1000, "Edge 158": 1000}, mean)},
		"too few":        {cellOf("a", map[string]float64{"Chrome 157": 1000, "Chrome 158": LeastViews - 1}, mean)},
	} {
		e := Estimate(versions, cells, Evidence{})
		if e.Effect[0] != 0 || e.Effect[1] != 0 || math.Abs(e.Variance-typical*typical) > 1e-12 {
			t.Errorf("%s: effects %v, variance %g", what, e.Effect, e.Variance)
		}
		value, variance := e.Combine([]float64{-1, 1})
		if value != 0 || math.Abs(variance-2*typical*typical) > 1e-12 ||
			math.Abs(e.Own([]float64{-1, 1})-variance) > 1e-12 {
			t.Errorf("%s: %g with the variance %g", what, value, variance)
		}
	}
}

// TestLaws makes changes to cells that must not change the results.
func TestLaws(t *testing.T) {
	versions := []string{"Chrome 157", "Chrome 158", "Edge 158"}
	views := map[string]float64{"Chrome 157": 4000, "Chrome 158": 3000, "Edge 158": 500}
	mean := map[string]float64{"Chrome 157": 100, "Chrome 158": 103, "Edge 158": 90}
	times := func(factor float64) (out map[string]float64) {
		out = map[string]float64{}
		for name, m := range mean {
			out[name] = factor * m
		}
		return out
	}
	want := Estimate(versions, []Cell{cellOf("a", views, mean), cellOf("b", views, mean)}, Evidence{})
	if want.Effect[1] <= want.Effect[0] || want.Effect[2] != 0 || math.Abs(want.Effect[0]+want.Effect[1]) > 1e-12 {
		t.Errorf("effects %v", want.Effect)
	}
	same := func(what string, got *Effects) {
		t.Helper()
		for i := range want.Effect {
			if math.Abs(got.Effect[i]-want.Effect[i]) > 1e-9 {
				t.Errorf("%s: effect %d is %g, want %g", what, i, got.Effect[i], want.Effect[i])
			}
			for k := range want.Effect {
				if math.Abs(got.Covariance[i][k]-want.Covariance[i][k]) > 1e-9 {
					t.Errorf("%s: covariance %d %d", what, i, k)
				}
			}
		}
		if math.Abs(got.Variance-want.Variance) > 1e-12 {
			t.Errorf("%s: variance %g, want %g", what, got.Variance, want.Variance)
		}
	}
	same("another order of cells and a slow device", Estimate(versions, []Cell{cellOf("b", views, times(7)),
		cellOf("a", views, mean)}, Evidence{}))
	more := Estimate(append(versions, "Chrome 1"), []Cell{cellOf("a", views, mean), cellOf("b", views, mean)},
		Evidence{})
	same("a version without page views", more)
	if math.Abs(more.Covariance[3][3]-more.Variance) > 1e-12 {
		t.Errorf("a version without page views has the error ±%g", math.Sqrt(more.Covariance[3][3]))
	}
	known := Evidence{1e4 * typical * typical, 1e4, 1e4}
	few, many := Estimate(versions, []Cell{cellOf("a", views, mean)}, known), Estimate(versions,
		[]Cell{cellOf("a", views, mean), cellOf("b", views, mean)}, known)
	if few.Covariance[0][0] <= many.Covariance[0][0] || math.Abs(few.Effect[0]) >= math.Abs(many.Effect[0]) {
		t.Errorf("half of the page views give a smaller error: %v and %v", few, many)
	}
	if none := Estimate(versions, nil, Evidence{0, 1e4, 1e4}); none.Variance > 1.01*least*least ||
		none.Own([]float64{1, 0, 0}) < typical*typical {
		t.Errorf("a site without effects: variance %g, of a part %g", none.Variance, none.Own([]float64{1, 0, 0}))
	}
	if math.Abs(few.Variance-typical*typical) > 1e-6 || few.Freedom < 1000 {
		t.Errorf("with the evidence of a site the variance is %g with %g degrees of freedom", few.Variance, few.Freedom)
	}
}

func TestInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		n := 1 + rng.IntN(8)
		root := square(n)
		for i := range root {
			for k := range root {
				root[i][k] = rng.NormFloat64()
			}
		}
		m := product(root, transposed(root))
		for i := range m {
			m[i][i]++
		}
		copied := product(m, inverse(transposed(m)))
		for i := range copied {
			for k, x := range copied[i] {
				if want := map[bool]float64{true: 1}[i == k]; math.Abs(x-want) > 1e-9 {
					t.Fatalf("row %d column %d of the product is %g", i, k, x)
				}
			}
		}
	}
}

// TestSimulation draws effects of versions and page views. It checks the estimates of τ² and, where
// a site determines τ², the intervals of a difference.
func TestSimulation(t *testing.T) {
	versions := []string{"Chrome 155", "Chrome 156", "Chrome 157", "Edge 155", "Edge 156", "Edge 157"}
	const runs, days, perDay = 400, 14, 3000.0
	for _, spread := range []float64{0, 0.005, 0.01, 0.03} {
		rng := rand.New(rand.NewPCG(7, uint64(1e4*spread)))
		var evidence Evidence
		missed := 0
		for range runs {
			effect := make([]float64, len(versions))
			for i := range effect {
				effect[i] = spread * rng.NormFloat64()
			}
			var cells []Cell
			for side := range 2 {
				for day := range days {
					c := Cell{Kind: "a", Versions: map[string]Sum{}}
					share := (float64(day) + 0.5) / days
					for _, first := range []int{0, 3} {
						for k, n := range []float64{perDay * (1 - share), perDay * share} {
							i := first + side + k
							mean := 100 * (1 + effect[i]) * (1 + rng.NormFloat64()/math.Sqrt(n))
							c.Versions[versions[i]] = Sum{n, n * mean, n*mean*mean + (n-1)*1e4}
						}
					}
					cells = append(cells, c)
				}
			}
			e := Estimate(versions, cells, Evidence{1e3 * spread * spread, 1e3, 1e3})
			evidence = evidence.Plus(e.Evidence)
			value, variance := e.Combine([]float64{-1, 0, 1, 0, 0, 0})
			if math.Abs(value-(effect[2]-effect[0])) > 1.96*math.Sqrt(variance) {
				missed++
			}
		}
		got := evidence.Score / evidence.Information
		if tolerance := 4 * (spread*spread + 0.5e-4) * math.Sqrt(2/evidence.Information); math.Abs(
			got-spread*spread) > tolerance {
			t.Errorf("spread %g: τ² is %.3g, want %.3g ± %.1g", spread, got, spread*spread, tolerance)
		}
		if share := float64(missed) / runs; share > 0.05+3*0.011 {
			t.Errorf("spread %g: the interval misses the difference in %.1f %% of runs", spread, 100*share)
		}
	}
}
