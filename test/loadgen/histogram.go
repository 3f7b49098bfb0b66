package loadgen

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// Histogram counts durations in buckets that each are about 3 % wider than the one
// before, so percentiles are at most 3 % too high. The zero value is empty. It is safe
// for concurrent use.
type Histogram struct {
	buckets [(64 - stepBits + 1) << stepBits]atomic.Uint64
	count   atomic.Uint64
	most    atomic.Int64 // µs
}

// stepBits is the binary logarithm of the number of buckets for durations with the same
// highest bit.
const stepBits = 5

// bucketOf returns the bucket of a number of microseconds.
func bucketOf(us uint64) int {
	if us < 1<<stepBits {
		return int(us)
	}
	shift := bits.Len64(us) - stepBits - 1
	return (shift+1)<<stepBits + int(us>>shift) - 1<<stepBits
}

// lastOf returns the largest number of microseconds in a bucket.
func lastOf(bucket int) uint64 {
	if bucket < 1<<stepBits {
		return uint64(bucket)
	}
	shift := bucket>>stepBits - 1
	return (uint64(bucket&(1<<stepBits-1))+1<<stepBits+1)<<shift - 1
}

// Add counts d. A negative duration counts as 0.
func (h *Histogram) Add(d time.Duration) {
	us := max(d.Microseconds(), 0)
	h.buckets[bucketOf(uint64(us))].Add(1)
	h.count.Add(1)
	for {
		most := h.most.Load()
		if us <= most || h.most.CompareAndSwap(most, us) {
			return
		}
	}
}

// Reset forgets everything. A duration added at the same time may be forgotten partly.
func (h *Histogram) Reset() {
	for i := range h.buckets {
		h.buckets[i].Store(0)
	}
	h.count.Store(0)
	h.most.Store(0)
}

// Count returns how many durations were counted.
func (h *Histogram) Count() uint64 { return h.count.Load() }

// Max returns the longest duration, to the microsecond; 0 if there is none.
func (h *Histogram) Max() time.Duration { return time.Duration(h.most.Load()) * time.Microsecond }

// Percentile returns the duration not exceeded by a share p of all, from 0 to 1, up to 3
// % too high; 0 if there is none.
func (h *Histogram) Percentile(p float64) time.Duration {
	rank := uint64(math.Ceil(p * float64(h.count.Load())))
	seen := uint64(0)
	for i := range h.buckets {
		if seen += h.buckets[i].Load(); seen >= max(rank, 1) {
			return min(time.Duration(lastOf(i))*time.Microsecond, h.Max())
		}
	}
	return h.Max()
}
