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

// The reach of each of many functions is the number of page views. Two chunks of a view count once.
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

// A sample counts from half an interval after the last counted sample on. Earlier samples are part
// of a burst.
func TestHalfAnInterval(t *testing.T) {
	for _, tt := range []struct {
		interval uint32
		second   int64
		want     int64
	}{{10_000, 4_999, 1}, {10_000, 5_000, 2}, {10_001, 5_000, 1}, {10_001, 5_001, 2}, {1, 0, 1}, {1, 1, 2}} {
		trace := &Trace{Trie: *New(), Context: Context{Interval: tt.interval}}
		n := trace.Insert(named("f")...)
		trace.Samples = []Sample{{Time: 0, Node: n}, {Time: tt.second, Node: n}}
		if got := stacks(trace.Profile())["f"].Samples; got != tt.want {
			t.Errorf("the second sample comes after %d µs of %d: got %d samples, want %d", tt.second, tt.interval,
				got, tt.want)
		}
	}
}

// Pages may touch, but must not overlap.
func TestPagesTouch(t *testing.T) {
	for start, ok := range map[int64]bool{99: false, 100: true, 101: true} {
		c := Context{Page: "/", Spans: []Span{{SpanPage, "/a", 0, 100}, {SpanPage, "/b", start, 100}}}
		if err := c.Validate(); (err == nil) != ok {
			t.Errorf("a page ends at 100 µs and the next one begins at %d: got %v, want an error: %t", start, err, !ok)
		}
	}
}

// A trace that only touches a slice has no time in it.
func TestSlicesOutsideTrace(t *testing.T) {
	trace := &Trace{Trie: *New(), Context: Context{Page: "/", Interval: 10_000, Spans: []Span{
		{SpanPage, "/before", 0, 100_000}, {SpanPage, "/after", 130_000, 50_000},
	}}}
	n := trace.Insert(named("f")...)
	trace.Samples = []Sample{{Time: 100_000, Node: n}, {Time: 120_000, Node: n}}
	m := NewMerger()
	var asked []string
	m.AddTrace(trace, func(s Slice) int {
		asked = append(asked, s.Page)
		return m.Group(Labels{{"page", s.Page}})
	})
	if len(asked) != 1 || asked[0] != "/" {
		t.Errorf("got the pages %q, want only /", asked)
	}
	if got := trace.Pages(); len(got) != 1 || got[0] != "/" {
		t.Errorf("Pages: got %q, want only /", got)
	}
	of, used := trace.SlicesInUse(nil, nil)
	for i := range of {
		if used[i] != (of[i].Start == 100_000) {
			t.Errorf("SlicesInUse: the slice from %d is in use: %t", of[i].Start, used[i])
		}
	}
}
