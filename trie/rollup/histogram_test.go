package rollup

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBuckets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	last := -1
	for v := int64(0); v < 1<<20; v++ {
		b := bucketOf(v)
		if low, width := bucketRange(b); v < low || v >= low+width {
			t.Fatalf("%d is in bucket %d, which is [%d, %d)", v, b, low, low+width)
		}
		if b < last || b > last+1 {
			t.Fatalf("%d is in bucket %d, and %d in %d", v, b, v-1, last)
		}
		last = b
	}
	for range 1000 {
		v := r.Int64N(math.MaxInt64)
		low, width := bucketRange(bucketOf(v))
		if v < low || v-low >= width || float64(width) > float64(low)/31 {
			t.Fatalf("%d is in [%d, +%d)", v, low, width)
		}
	}
	if b := bucketOf(math.MaxInt64); b != maxBucket {
		t.Errorf("the highest bucket is %d, not %d", b, maxBucket)
	}
}

// percentile implements the definition: the smallest of sorted values that a share q of them do not
// exceed.
func percentile(values []int64, q float64) int64 {
	for i, v := range values {
		if i+1 == len(values) || float64(i+1) >= q*float64(len(values))-1e-6 {
			return v
		}
	}
	return 0
}

// Quantiles equal the quantiles of the values, to the width of a bucket, and subtracted values have
// no effect.
func TestQuantile(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for range 50 {
		var h, noise Histogram
		var values []int64
		for range 1 + r.IntN(2000) {
			v := int64(math.Exp(r.NormFloat64()*2 + 10))
			values = append(values, v)
			h.Add(v, 1)
			x := r.Int64N(1 << 40)
			h.Add(x, 1)
			noise.Add(x, -1)
		}
		h.AddAll(&noise)
		slices.Sort(values)
		for _, q := range []float64{0, 0.05, 0.5, 0.75, 0.95, 1} {
			want := float64(percentile(values, q))
			if got := h.Quantile(q); math.Abs(got-want) > want/31+1 {
				t.Errorf("quantile %g of %d values: got %g, want %g", q, len(values), got, want)
			}
			low, high, ok := h.QuantileInterval(q)
			if got := h.Quantile(q); ok && (got < low-1 || got > high+1) {
				t.Errorf("quantile %g is %g, outside of %g to %g", q, got, low, high)
			}
		}
	}
	var empty Histogram
	if empty.Quantile(0.5) != 0 {
		t.Error("an empty histogram has a quantile")
	}
}

// The interval of a quantile contains the true value in 95 of 100 cases.
func TestIntervalCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for _, q := range []float64{0.5, 0.75, 0.95} {
		want := -math.Log(1-q) * 1e6 // of an exponential distribution
		for _, n := range []int{5, 10, 20, 50, 100, 400} {
			held, said := 0, 0
			for range 1000 {
				var h Histogram
				for range n {
					h.Add(int64(r.ExpFloat64()*1e6), 1)
				}
				low, high, ok := h.QuantileInterval(q)
				if ok {
					said++
				}
				if ok && low <= want && want <= high {
					held++
				}
			}
			if n >= 100 && said == 0 || float64(held) < 0.93*float64(said) {
				t.Errorf("the interval of %g over %d values contains the true value in %d of %d cases", q, n,
					held, said)
			}
		}
	}
}

func TestMoments(t *testing.T) {
	var m, o Moments
	for _, v := range []int64{3, 5, 10} {
		m.Add(v, 1)
	}
	o.Add(math.MaxInt64, 1)
	o.Add(math.MaxInt64, 1)
	m.AddAll(o)
	m.Add(math.MaxInt64, -1)
	m.Add(math.MaxInt64, -1)
	if m.Count != 3 || m.Sum != 18 || m.Squares() != 134 {
		t.Errorf("got %+v", m)
	}
	// Of four page views, one has no value: mean 4.5, variance (134-81)/3.
	if mean, half := m.Mean(4); mean != 4.5 || math.Abs(half-1.959964*math.Sqrt(53.0/3/4)) > 1e-3 {
		t.Errorf("got %g ± %g", mean, half)
	}
	if _, half := m.Mean(1); !math.IsInf(half, 1) {
		t.Errorf("of one view: ± %g", half)
	}
}

// Quantiles of one or two values, and of equal ones, are the values.
func TestFewQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 1))
	for range 2000 {
		values := []int64{r.Int64N(1 << 40)}
		switch r.IntN(3) {
		case 1:
			values = append(values, r.Int64N(1<<40))
		case 2:
			for range r.IntN(100) {
				values = append(values, values[0])
			}
		}
		var s Spread
		for _, v := range values {
			s.add(v, 1)
		}
		slices.Sort(values)
		for _, q := range []float64{0, 0.25, 0.5, 0.75, 0.95, 1} {
			want := float64(values[Rank(q, len(values))])
			if got := s.Quantile(q); math.Abs(got-want) > 1e-6*float64(values[len(values)-1])+1e-6 {
				t.Fatalf("%d values %v: quantile %g is %g, want %g", len(values), values[:min(2, len(values))],
					q, got, want)
			}
		}
	}
}
