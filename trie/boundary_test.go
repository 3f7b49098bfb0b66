package trie

import (
	"fmt"
	"math"
	"testing"
)

func TestAddSaturates(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	for _, tt := range []struct{ a, b, want int64 }{
		{1, 2, 3}, {-1, -2, -3}, {most, least, -1}, {least, most, -1},
		{most - 1, 1, most}, {most, 1, most}, {1, most, most}, {most, most, most},
		{least + 1, -1, least}, {least, -1, least}, {-1, least, least}, {least, least, least},
	} {
		if got := add(tt.a, tt.b); got != tt.want {
			t.Errorf("%d + %d: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// Each of many functions reaches the page views that sampled it, and a view with two chunks counts
// once.
func TestReachOfManyNodes(t *testing.T) {
	const functions, views = 2 * blockNodes, 3
	m := NewMerger()
	for view := range views {
		for chunk := range 2 {
			trace := &Trace{Trie: *New(), Context: Context{Interval: 10_000, Chunk: uint32(chunk)}}
			trace.Context.ViewID = fmt.Sprintf("view-%d", view)
			for i := range functions {
				n := trace.Insert(named(fmt.Sprint("f", i))...)
				trace.Samples = append(trace.Samples, Sample{Time: int64(i) * 10_000, Node: n})
			}
			m.AddTrace(trace, func(Slice) int { return m.Group(nil) })
		}
	}
	got := stacks(m.Profile())
	for i := range functions {
		name := fmt.Sprint("f", i)
		if want := (Weight{Self: 2 * views * 10_000, Samples: 2 * views, Reach: views}); got[name] != want {
			t.Errorf("%s: got %+v, want %+v", name, got[name], want)
		}
	}
}
