package query

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

// defaultMaxSize has room for some four million stacks of one group.
const defaultMaxSize = 256 << 20

// Memory bounds what the merges for all responses in the making take together. It may be used
// by several goroutines. A nil Memory is no bound.
type Memory struct {
	most int64
	used atomic.Int64
}

// NewMemory returns a bound of so many bytes.
func NewMemory(most int) *Memory { return &Memory{most: int64(most)} }

// Used returns how many bytes are in use.
func (m *Memory) Used() int64 { return m.used.Load() }

// Hold takes n bytes for a response that is being written, until it is released.
func (m *Memory) Hold(n int) (release func(), err error) {
	if m == nil {
		return func() {}, nil
	}
	if err := m.take(int64(n), int64(n)); err != nil {
		return nil, err
	}
	return func() { _ = m.take(-int64(n), 0) }, nil
}

// smallResponse is the size up to which a response may use the last quarter of the memory, so that
// queries that take a lot keep nobody else from asking.
const smallResponse = 16 << 20

// take takes n bytes more for a response that is then size bytes large. n may be negative.
func (m *Memory) take(n, size int64) error {
	most := m.most
	if size > smallResponse {
		most -= most / 4
	}
	if m.used.Add(n) > most && n > 0 {
		m.used.Add(-n)
		return &CrowdedError{int(m.most)}
	}
	return nil
}

// room is the memory of the merge for one response. It is not for concurrent use.
type room struct {
	most   int
	shared *Memory
	held   int64 // of shared
}

// room returns the memory for one response. Give it back with release.
func (l Local) room() *room {
	return &room{most: cmp.Or(l.MaxSize, defaultMaxSize), shared: l.Memory}
}

// fits returns an error, a [TooLargeError] or a [CrowdedError], if the merge may not be so many
// bytes large.
func (r *room) fits(size int) error {
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

// release gives back what the merge took.
func (r *room) release() {
	if r.shared != nil {
		_ = r.shared.take(-r.held, 0)
		r.held = 0
	}
}
