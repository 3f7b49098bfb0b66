package main

import (
	"math"
	"net/http"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/fieldtrie/fieldtrie/query/memory"
)

// What the heap should stay below, unless GOMEMLIMIT says otherwise or there is less memory: the
// store writes through memory-mapped files, so the default, no limit, lets garbage pile up to
// gigabytes. Receiving traces needs the first. During queries the daemon caches objects for later
// queries; without more room the collector would run all the time.
const (
	memoryLimit      = 448 << 20
	memoryForAnswers = 512 << 20 // more
	answersLinger    = 2 * time.Minute
)

// heap is the limit of the heap.
type heap struct {
	base, more int64 // bytes, and how many more while questions are asked

	mu    sync.Mutex
	set   func(limit int64) int64 // debug.SetMemoryLimit
	until time.Time               // more is allowed; zero if it is not
}

// newHeap sets the limit, or returns nil if the environment has one.
func newHeap() *heap {
	if os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	bound, err := memlimit.FromCgroup()
	if err != nil {
		bound = 0 // unlimited or unknown
	}
	h := &heap{set: debug.SetMemoryLimit}
	h.base, h.more = heapLimits(bound)
	h.set(h.base)
	return h
}

// heapLimits returns the limits of the heap for a bound of the memory of this process, such as of a
// container; 0 is unlimited. A quarter is for memory outside the heap: mapped files, stacks, and
// the program.
func heapLimits(bound uint64) (base, more int64) {
	room := int64(min(bound, math.MaxInt64) / 4 * 3)
	if bound == 0 || room >= memoryLimit+memoryForAnswers {
		return memoryLimit, memoryForAnswers
	}
	base = min(memoryLimit, room/5*3)
	return base, room - base
}

// forQueries returns the bound of what all queries take.
func (h *heap) forQueries() *memory.Bound {
	most := memoryForAnswers
	if h != nil {
		most = int(h.more)
	}
	b := memory.NewBound(most)
	b.Watch(live)
	return b
}

// live returns how many bytes of the heap were in use when the collector looked last, and its
// limit, which the environment may have set. The closer the two are, the more often it looks.
func live() (live, limit int64) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64()), int64(min(sample[1].Value.Uint64(), math.MaxInt64))
}

// bodies returns the maximum bytes of the bodies of all requests, and turns the maximum number of
// concurrent queries; 0 is the default. Uncounted memory grows with the number of queries and
// bodies, so there are fewer of them with less memory.
func (h *heap) bodies() int64 {
	if h == nil || h.more >= memoryForAnswers {
		return 0
	}
	return h.more / 3
}

func (h *heap) turns() int {
	if h == nil || h.more >= memoryForAnswers {
		return 0
	}
	return int(max(4, h.more>>25))
}

// forAnswers returns next, for whose work the heap may grow.
func (h *heap) forAnswers(next http.Handler) http.Handler {
	if h == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.grow(time.Now())
		next.ServeHTTP(w, r)
	})
}

func (h *heap) grow(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.until.IsZero() {
		h.set(h.base + h.more)
	}
	h.until = now.Add(answersLinger)
}

// shrink lowers the limit again when no query has come for some minutes. Call it regularly.
func (h *heap) shrink(now time.Time) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.until.IsZero() && now.After(h.until) {
		h.until = time.Time{}
		h.set(h.base)
	}
}
