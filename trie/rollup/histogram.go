package rollup

import (
	"cmp"
	"iter"
	"math"
	"math/bits"
	"slices"
)

// Histogram counts values in buckets whose width grows with the value: the middle of a bucket is
// within 1.6 % of all values in it. The error stays the same however many values are added or
// subtracted, in any order, because it is a list of counts. Values are not negative. The zero value
// is empty.
type Histogram struct {
	buckets []bucket // sorted; nearly all histograms are of few page views
}

type bucket struct {
	at    int32
	count int64
}

// subBits is the resolution: 32 buckets for each doubling. Smaller values have one bucket each.
const subBits = 5

const maxBucket = (62-subBits+1)<<subBits | (1<<subBits - 1)

func bucketOf(v int64) int {
	if v < 1<<subBits {
		return int(max(v, 0))
	}
	shift := bits.Len64(uint64(v)) - subBits - 1
	return (shift+1)<<subBits | int(v>>shift)&(1<<subBits-1)
}

// bucketRange returns the values [low, low+width) that bucket b counts.
func bucketRange(b int) (low, width int64) {
	if b < 1<<subBits {
		return int64(b), 1
	}
	shift := b>>subBits - 1
	return (int64(b&(1<<subBits-1)) | 1<<subBits) << shift, 1 << shift
}

// Add adds n times v; n may be negative.
func (h *Histogram) Add(v, n int64) { h.addBucket(bucketOf(v), n) }

func (h *Histogram) addBucket(at int, n int64) {
	i := len(h.buckets)
	for i > 0 && h.buckets[i-1].at > int32(at) {
		if i > 16 { // far from the end
			i, _ = slices.BinarySearchFunc(h.buckets, int32(at), func(b bucket, at int32) int {
				return cmp.Compare(b.at, at)
			})
			if h.buckets[i].at == int32(at) {
				i++
			}
			break
		}
		i--
	}
	if i > 0 && h.buckets[i-1].at == int32(at) {
		h.buckets[i-1].count += n
		return
	}
	h.buckets = slices.Insert(h.buckets, i, bucket{int32(at), n})
}

// AddAll adds the counts of o.
func (h *Histogram) AddAll(o *Histogram) {
	if len(o.buckets) < 4 {
		for _, b := range o.buckets {
			h.addBucket(int(b.at), b.count)
		}
		return
	}
	merged := make([]bucket, 0, len(h.buckets)+len(o.buckets))
	for x, y := h.buckets, o.buckets; ; {
		switch {
		case len(x) == 0:
			h.buckets = append(merged, y...)
			return
		case len(y) == 0:
			h.buckets = append(merged, x...)
			return
		case x[0].at < y[0].at:
			merged, x = append(merged, x[0]), x[1:]
		case x[0].at > y[0].at:
			merged, y = append(merged, y[0]), y[1:]
		default:
			merged = append(merged, bucket{x[0].at, x[0].count + y[0].count})
			x, y = x[1:], y[1:]
		}
	}
}

// used returns the buckets with a count other than zero.
func (h *Histogram) used() []bucket {
	if !slices.ContainsFunc(h.buckets, func(b bucket) bool { return b.count == 0 }) {
		return h.buckets
	}
	return slices.DeleteFunc(slices.Clone(h.buckets), func(b bucket) bool { return b.count == 0 })
}

// Bar counts the values in [Low, High).
type Bar struct{ Low, High, Count int64 }

// All returns the bars with a count, smallest values first.
func (h *Histogram) All() iter.Seq[Bar] {
	return func(yield func(Bar) bool) {
		for _, b := range h.buckets {
			low, width := bucketRange(int(b.at))
			if b.count > 0 && !yield(Bar{low, low + width, b.count}) {
				return
			}
		}
	}
}

// Count returns the number of values.
func (h *Histogram) Count() (n int64) {
	for _, b := range h.buckets {
		n += b.count
	}
	return n
}

// Quantile returns the smallest value that is not exceeded by a share q, from 0 to 1, of the
// values, as defined by [Rank]; 0 if there are no values.
func (h *Histogram) Quantile(q float64) float64 {
	n := h.Count()
	if n <= 0 {
		return 0
	}
	return h.rank(float64(Rank(q, int(n))))
}

// Rank returns the index of quantile q among n sorted values: the nearest rank. It is the only
// definition of percentiles, for rollups and single page views.
func Rank(q float64, n int) int {
	return min(max(int(math.Ceil(q*float64(n)-1e-9))-1, 0), n-1)
}

// Largest returns an estimate of the sum of the n largest values. n must not exceed their number.
func (h *Histogram) Largest(n int64) (sum float64) {
	for _, b := range slices.Backward(h.buckets) {
		if n <= 0 {
			break
		}
		low, width := bucketRange(int(b.at))
		count := min(max(b.count, 0), n)
		sum += float64(count) * (float64(low) + float64(width-1)/2)
		n -= count
	}
	return sum
}

// rank returns the value at a rank. It assumes that values are spread evenly in their bucket.
func (h *Histogram) rank(rank float64) (value float64) {
	before := 0.0
	for _, b := range h.buckets {
		c := float64(b.count)
		if c <= 0 {
			continue
		}
		low, width := bucketRange(int(b.at)) // integers; low is the first
		value = float64(low) + min(math.Floor(max(rank-before, 0))+0.5, c-0.5)/c*float64(width-1)
		if rank < before+c {
			return value
		}
		before += c
	}
	return value
}

// z95 is the number of standard deviations either side of a mean that hold 95 % of a
// normal distribution.
const z95 = 1.959963984540054

// QuantileInterval returns the 95 % confidence interval of quantile q, by the ranks of order
// statistics (normal approximation of the binomial distribution), and false if there are too few
// values.
func (h *Histogram) QuantileInterval(q float64) (low, high float64, ok bool) {
	n := float64(h.Count())
	d := z95 * math.Sqrt(n*q*(1-q))
	first, last := n*q-d-0.5, n*q+d+0.5
	if first < -1 || last > n {
		return 0, 0, false
	}
	return h.rank(max(first, 0)), h.rank(min(last, n-1)), true
}

// Moments are the exact count, sum and sum of squares of values.
type Moments struct {
	Count int64
	Sum   int64

	squares product
}

// Add adds v; sign -1 subtracts it.
func (m *Moments) Add(v, sign int64) {
	m.Count += sign
	m.Sum += sign * v
	m.squares.add(v, v, sign)
}

// AddAll adds the values of o, exactly as if they were added one by one.
func (m *Moments) AddAll(o Moments) {
	m.Count += o.Count
	m.Sum += o.Sum
	m.squares.addAll(o.squares)
}

// Squares returns the sum of squares.
func (m *Moments) Squares() float64 { return m.squares.value() }

// product is an exact sum of products: hi·2^64 + lo in two's complement.
type product struct{ hi, lo uint64 }

// add adds x·y, which must not be negative; sign -1 subtracts it.
func (p *product) add(x, y, sign int64) {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	var carry uint64
	if sign >= 0 {
		p.addAll(product{hi, lo})
		return
	}
	p.lo, carry = bits.Sub64(p.lo, lo, 0)
	p.hi, _ = bits.Sub64(p.hi, hi, carry)
}

func (p *product) addAll(o product) {
	var carry uint64
	p.lo, carry = bits.Add64(p.lo, o.lo, 0)
	p.hi, _ = bits.Add64(p.hi, o.hi, carry)
}

func (p product) value() float64 { return float64(int64(p.hi))*0x1p64 + float64(p.lo) }

// Mean returns the mean over n values, and half the width of its 95 % confidence interval. Values
// that were not added count as 0.
func (m *Moments) Mean(n int64) (mean, half float64) {
	if n <= 0 {
		return 0, 0
	}
	mean = float64(m.Sum) / float64(n)
	if n < 2 {
		return mean, math.Inf(1)
	}
	variance := max(m.Squares()-mean*float64(m.Sum), 0) / float64(n-1)
	return mean, z95 * math.Sqrt(variance/float64(n))
}
