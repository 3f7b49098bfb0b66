package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

// The heap limit is raised while queries run and for some time after.
func TestHeap(t *testing.T) {
	var limits []int64
	h := &heap{base: memoryLimit, more: memoryForAnswers, set: func(limit int64) int64 {
		limits = append(limits, limit)
		return 0
	}}
	asked := 0
	handler := h.forAnswers(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	now := time.Now()
	h.shrink(now)
	for range 3 {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	}
	h.shrink(now.Add(time.Minute))
	h.shrink(now.Add(3 * time.Minute))
	h.shrink(now.Add(4 * time.Minute))
	if want := []int64{memoryLimit + memoryForAnswers, memoryLimit}; !slices.Equal(limits, want) || asked != 3 {
		t.Errorf("limits %v, want %v; %d queries", limits, want, asked)
	}
	var none *heap // as with GOMEMLIMIT
	none.shrink(now)
	none.forAnswers(handler).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	if asked != 4 {
		t.Errorf("%d questions", asked)
	}
}

// The heap limit leaves a quarter of the available memory free. Queries get a part of the heap.
func TestHeapLimits(t *testing.T) {
	for _, c := range []struct{ bound, base, more uint64 }{
		{0, memoryLimit, memoryForAnswers}, {1 << 63, memoryLimit, memoryForAnswers}, {2 << 30, memoryLimit,
			memoryForAnswers},
		{1_000_000_000, 450_000_000, 300_000_000}, {400_000_000, 180_000_000, 120_000_000}, {1, 0, 0},
	} {
		base, more := heapLimits(c.bound)
		if uint64(base) != c.base || uint64(more) != c.more {
			t.Errorf("%d bytes: got %d and %d, want %d and %d", c.bound, base, more, c.base, c.more)
		}
	}
}

// With less memory, fewer bodies and queries are handled concurrently.
func TestHeapShares(t *testing.T) {
	for _, c := range []struct {
		of     *heap
		bodies int64
		turns  int
	}{{nil, 0, 0}, {&heap{more: memoryForAnswers}, 0, 0}, {&heap{more: 300_000_000}, 100_000_000, 8},
		{&heap{more: 30_000_000}, 10_000_000, 4}} {
		if bodies, turns := c.of.bodies(), c.of.turns(); bodies != c.bodies || turns != c.turns {
			t.Errorf("%+v: got %d bytes and %d turns, want %d and %d", c.of, bodies, turns, c.bodies, c.turns)
		}
	}
}
