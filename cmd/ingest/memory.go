package main

import (
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"
)

// What the heap should stay below, unless GOMEMLIMIT says otherwise: the store writes
// through memory-mapped files, so the default, no limit, lets garbage pile up to gigabytes.
// Receiving traces needs the first. While questions are asked, what was read for them is
// kept for the next ones; without more room the collector would run all the time.
const (
	memoryLimit      = 448 << 20
	memoryForAnswers = 512 << 20 // more
	answersLinger    = 2 * time.Minute
)

// heap is the limit of the heap.
type heap struct {
	mu    sync.Mutex
	set   func(limit int64) int64 // debug.SetMemoryLimit
	until time.Time               // more is allowed; zero if it is not
}

// newHeap sets the limit, or returns nil if the environment has one.
func newHeap() *heap {
	if os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	h := &heap{set: debug.SetMemoryLimit}
	h.set(memoryLimit)
	return h
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
		h.set(memoryLimit + memoryForAnswers)
	}
	h.until = now.Add(answersLinger)
}

// shrink takes back what nobody has asked for in the last minutes. Call it now and then.
func (h *heap) shrink(now time.Time) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.until.IsZero() && now.After(h.until) {
		h.until = time.Time{}
		h.set(memoryLimit)
	}
}
