// Package memory bounds what responses in the making take: each of them, and all together.
package memory

import (
	"cmp"
	"fmt"
	"sync/atomic"
)

// TooLargeError says that a response would take more memory than one may.
type TooLargeError struct{ Most int } // bytes

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("its stacks take over %d MiB of memory, so it was given up: ask for one page or feature, less time, or fewer labels", e.Most>>20)
}

// CrowdedError says that all responses in the making together take too much memory. Asking
// again later may help, or asking for less.
type CrowdedError struct{ Most int } // bytes

func (e *CrowdedError) Error() string {
	return fmt.Sprintf("the answers in the making take %d MiB of memory, so this one was given up: try again, or ask for less", e.Most>>20)
}

// defaultMost has room for some four million stacks of one group.
const defaultMost = 256 << 20

// Bound bounds what the merges for all responses in the making take together. It may be used
// by several goroutines. A nil Bound is none.
type Bound struct {
	most int64
	heap func() (live, limit int64)
	used atomic.Int64
}

// NewBound returns a bound of so many bytes.
func NewBound(most int) *Bound { return &Bound{most: int64(most)} }

// Watch tells b how many bytes of the heap are in use, and how many may be. What responses say that they
// take is less than what they take: there are also the rollups that are being read, the sums of
// functions, and what is being written. So when little is left of the heap, no large response goes on, and when
// almost nothing is left, none does. Call it before b is used.
func (b *Bound) Watch(heap func() (live, limit int64)) { b.heap = heap }

// Used returns how many bytes are in use.
func (b *Bound) Used() int64 { return b.used.Load() }

// Hold takes n bytes for a response that is being written, until it is released.
func (b *Bound) Hold(n int) (release func(), err error) {
	if b == nil {
		return func() {}, nil
	}
	if err := b.take(int64(n), int64(n)); err != nil {
		return nil, err
	}
	return func() { _ = b.take(-int64(n), 0) }, nil
}

// Check returns a [CrowdedError] if a response that has taken little so far may not go on.
func (b *Bound) Check() error {
	if b == nil {
		return nil
	}
	return b.fits(0)
}

// small is the size up to which a response may use the last quarter of the memory, so that
// queries that take a lot keep nobody else from asking.
const small = 16 << 20

// take takes n bytes more for a response that is then size bytes large. n may be negative.
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

// fits returns an error if the heap has too little left for a response of so many bytes.
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

// Room is the memory of the merge for one response. It is not for concurrent use.
type Room struct {
	most   int
	shared *Bound
	held   int64 // of shared
}

// Room returns the memory for one response, which may take most bytes at the most; 0 is 256 MiB. Give it back with [Room.Release].
func (b *Bound) Room(most int) *Room {
	return &Room{most: cmp.Or(most, defaultMost), shared: b}
}

// Fits returns an error, a [TooLargeError] or a [CrowdedError], if the merge may not be so many
// bytes large.
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

// Release gives back what the merge took.
func (r *Room) Release() {
	if r.shared != nil {
		_ = r.shared.take(-r.held, 0)
		r.held = 0
	}
}
