// Package memory limits the memory of responses while they are built: of each one, and of all
// together.
package memory

import (
	"cmp"
	"fmt"
	"sync/atomic"
)

// TooLargeError means that a response would exceed its memory limit.
type TooLargeError struct{ Most int } // bytes

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("its stacks take over %d MiB of memory, so it was given up: ask for one page or feature, "+
		"less time, or fewer labels", e.Most>>20)
}

// CrowdedError means that all responses together take too much memory. The caller may retry later,
// or query less.
type CrowdedError struct{ Most int } // bytes

func (e *CrowdedError) Error() string {
	return fmt.Sprintf("the answers in the making take %d MiB of memory, so this one was given up: try again, or "+
		"ask for less", e.Most>>20)
}

// defaultMost has room for some four million stacks of one group.
const defaultMost = 256 << 20

// Bound limits the memory of all responses together. It is safe for concurrent use by multiple
// goroutines. A nil Bound means no limit.
type Bound struct {
	most int64
	heap func() (live, limit int64)
	used atomic.Int64
}

// NewBound returns a Bound of most bytes.
func NewBound(most int) *Bound { return &Bound{most: int64(most)} }

// Watch makes b consider the size of the heap, given functions for its current and its maximum size
// in bytes. Responses do not account for all their memory: rollups being read, sums of functions
// and output take some, too. So large responses fail when little of the heap is left, and all
// responses fail when almost nothing is left. Watch must be called before b is used.
func (b *Bound) Watch(heap func() (live, limit int64)) { b.heap = heap }

// Used returns how many bytes are in use.
func (b *Bound) Used() int64 { return b.used.Load() }

// Hold reserves n bytes for a response that is being written, until it is released.
func (b *Bound) Hold(n int) (release func(), err error) {
	if b == nil {
		return func() {}, nil
	}
	if err := b.take(int64(n), int64(n)); err != nil {
		return nil, err
	}
	return func() { _ = b.take(-int64(n), 0) }, nil
}

// Check returns a [CrowdedError] if a response that has taken little memory so far must stop.
func (b *Bound) Check() error {
	if b == nil {
		return nil
	}
	return b.fits(0)
}

// small is the size up to which a response may use the last quarter of the memory, so that large
// queries do not block small ones.
const small = 16 << 20

// take reserves n more bytes for a response whose size is then size bytes. n may be negative.
func (b *Bound) take(n, size int64) error {
	if n > 0 {
		if err := b.fits(size); err != nil {
			return err
		}
	}
	most := b.most
	if size > small {
		most -= most / 4
	}
	if b.used.Add(n) > most && n > 0 {
		b.used.Add(-n)
		return &CrowdedError{int(b.most)}
	}
	return nil
}

// fits returns an error if too little of the heap is left for a response of the size.
func (b *Bound) fits(size int64) error {
	if b.heap == nil {
		return nil
	}
	live, limit := b.heap()
	most := limit / 10 * 8
	if size > small {
		most = limit / 20 * 11
	}
	if live > most {
		return &CrowdedError{int(b.most)}
	}
	return nil
}

// Room is the memory of one response. It is not safe for concurrent use.
type Room struct {
	most   int
	shared *Bound
	held   int64 // bytes reserved in shared
}

// Room returns the memory for one response of at most most bytes; 0 means 256 MiB. The caller must
// call [Room.Release].
func (b *Bound) Room(most int) *Room {
	return &Room{most: cmp.Or(most, defaultMost), shared: b}
}

// Fits returns a [TooLargeError] or a [CrowdedError] if the response must not grow to the size.
func (r *Room) Fits(size int) error {
	if size > r.most {
		return &TooLargeError{r.most}
	}
	if r.shared == nil {
		return nil
	}
	if err := r.shared.take(int64(size)-r.held, int64(size)); err != nil {
		return err
	}
	r.held = int64(size)
	return nil
}

// Release returns all memory of r to the bound.
func (r *Room) Release() {
	if r.shared != nil {
		_ = r.shared.take(-r.held, 0)
		r.held = 0
	}
}
