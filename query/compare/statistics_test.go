package compare

import (
	"math"
	"testing"
)

// TestStudent compares with printed tables of Student's t: the two-sided probability of
// each value.
func TestStudent(t *testing.T) {
	for _, c := range []struct{ freedom, t, p float64 }{
		{1, 12.706, 0.05}, {1, 63.657, 0.01}, {2, 4.303, 0.05}, {5, 2.571, 0.05}, {10, 2.228, 0.05}, {10, 4.587, 0.001},
		{30, 2.042, 0.05}, {30, 3.646, 0.001}, {60, 2.660, 0.01}, {120, 1.980, 0.05}, {1000, 3.300, 0.001},
		{1000, 1.962, 0.05},
		{math.Inf(1), 1.960, 0.05}, {math.Inf(1), 3.291, 0.001},
	} {
		if got := studentTail(c.t, c.freedom); math.Abs(got/c.p-1) > 2e-3 {
			t.Errorf("P(|T| > %g) with %g degrees of freedom: got %g, want %g", c.t, c.freedom, got, c.p)
		}
		if got := studentQuantile(c.p, c.freedom); math.Abs(got/c.t-1) > 2e-3 {
			t.Errorf("quantile of %g with %g degrees of freedom: got %g, want %g", c.p, c.freedom, got, c.t)
		}
		for _, p := range []float64{0.05, 0.01, 1e-4, 1e-9} {
			if got := studentTail(studentQuantile(p, c.freedom), c.freedom); math.Abs(got/p-1) > 1e-6 {
				t.Errorf("the quantile of %g with %g degrees of freedom has %g beyond it", p, c.freedom, got)
			}
		}
	}
	for x := 0.0; x < 8; x += 0.1 { // around the value where the method changes
		exact, near := studentTail(x, manyFreedom), studentTail(x, manyFreedom+1e-9)
		if near < 0.995*exact || near > 1.01*exact && near > 1e-5 {
			t.Errorf("t = %g: %g exactly, %g approximated", x, exact, near)
		}
	}
}

func TestIncompleteBeta(t *testing.T) {
	for _, c := range []struct{ a, b, x, want float64 }{
		{1, 1, 0.3, 0.3}, {2, 2, 0.5, 0.5}, {2, 3, 0.4, 0.5248}, {3, 1, 0.9, 0.729}, {0.5, 0.5, 0.5, 0.5}, {1, 1, 0, 0},
		{1, 1, 1, 1},
	} {
		if got := incompleteBeta(c.a, c.b, c.x); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("I_%g(%g, %g): got %g, want %g", c.x, c.a, c.b, got, c.want)
		}
	}
}

// TestAdjust is worked out by hand: of five p-values the k-th least counts 5/k fold, and
// none more than the next.
func TestAdjust(t *testing.T) {
	one := []float64{1, 1, 1, 1, 1}
	got := adjust([]float64{0.04, 0.005, 0.9, 0.01, 0.03}, one)
	for i, want := range []float64{0.05, 0.025, 0.9, 0.025, 0.05} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("q[%d] = %g, want %g", i, got[i], want)
		}
	}
	// With weights 1.5 and 0.5 the p-values are 0.02 and 0.04.
	got = adjust([]float64{0.03, 0.02}, []float64{1.5, 0.5})
	for i, want := range []float64{0.04, 0.04} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("weighted q[%d] = %g, want %g", i, got[i], want)
		}
	}
	if sum := sum(weights([]float64{100, 3, 0, 7})); math.Abs(sum-4) > 1e-12 {
		t.Errorf("four weights sum to %g", sum)
	}
}

// TestVariance compares sums of squares with the definition.
func TestVariance(t *testing.T) {
	a := Amount{Seen: 3, Sum: 1 + 2 + 6, Squares: 1 + 4 + 36} // and two views without it
	mean := 9.0 / 5
	want := (square(1-mean) + square(2-mean) + square(6-mean) + 2*square(mean)) / 4
	if got := variance(a, 5); math.Abs(got-want) > 1e-12 {
		t.Errorf("got %g, want %g", got, want)
	}
	if got := seen(Amount{Sum: 9, Squares: 41}); got > 3 || got < 1 {
		t.Errorf("got %g views, want at most three", got)
	}
}
