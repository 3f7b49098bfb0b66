package watch

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// drawnSeries draws days with errors of their page views and a spread between days, and a step of a
// size before one of them.
func drawnSeries(rng *rand.Rand, n, at int, size, between float64, week bool) []point {
	out := make([]point, n)
	var ofDay [7]float64
	if week {
		for d := range ofDay {
			ofDay[d] = 0.2 * rng.NormFloat64()
		}
	}
	for i := range out {
		err := 0.005 * (1 + rng.Float64())
		day := time.Date(2026, 3, 2+i, 0, 0, 0, 0, time.UTC)
		out[i] = point{day: day, value: 3 + err*rng.NormFloat64() + between*rng.NormFloat64() +
			ofDay[day.Weekday()], err: err}
		if i >= at {
			out[i].value += size
		}
	}
	return out
}

// The p of a step is a p-value: in series without a step it has a uniform distribution, for any
// spread between days. A step is found at its place.
func TestStepIsCalibrated(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 2))
	const runs = 3000
	for _, between := range []float64{0, 0.01, 0.05} {
		for _, n := range []int{12, 35} {
			low := 0
			for range runs {
				if s, ok := best(drawnSeries(rng, n, n, 0, between, n > weeks), square(between)); !ok {
					t.Fatal("no step was tested")
				} else if s.p() <= 0.01 {
					low++
				}
			}
			// Binomial: 30 ± 3·5.5.
			if low > 47 {
				t.Errorf("%d days that differ by %g: %d of %d p are at most 0.01", n, between, low, runs)
			}
		}
	}
	near, found := 0, 0
	for range 300 {
		at := 22 + rng.IntN(10)
		s, _ := best(drawnSeries(rng, 35, at, 0.1, 0.01, true), square(0.01))
		if s.p() < 1e-4 {
			found++
		}
		if s.at >= at-1 && s.at <= at+1 && math.Abs(s.size-0.1) < 0.03 {
			near++
		}
	}
	if found < 290 || near < 280 {
		t.Errorf("of 300 steps of 10 %%, %d were found, %d at the right place", found, near)
	}
}

// A single day apart from all others is no lasting step.
func TestOneDayIsNoStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 3))
	for i := range 300 {
		points := drawnSeries(rng, 30, 30, 0, 0.01, false)
		points[len(points)-1-i%14].value += 1
		if s, ok := best(points, square(0.01)); ok && s.p() < 1e-4 && s.lasts(points) {
			t.Errorf("%d days ago: %+v", i%14, s)
		}
	}
}
