package output

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// NotEmpty returns the timelines with at least one call.
func NotEmpty(lines []*trie.Timeline) []*trie.Timeline {
	return slices.DeleteFunc(slices.Clone(lines), func(t *trie.Timeline) bool { return len(t.Calls) == 0 })
}

// FirstStart returns the start of the first call of all threads, in µs; 0 if there
// is none.
func FirstStart(lines []*trie.Timeline) int64 {
	first := int64(math.MaxInt64)
	for _, t := range lines {
		if len(t.Calls) > 0 {
			first = min(first, t.Calls[0].Start)
		}
	}
	if first == math.MaxInt64 {
		return 0
	}
	return first
}

// LastEnd returns the latest end of a call of t, in µs. t must have at least one call.
func LastEnd(t *trie.Timeline) int64 {
	return slices.MaxFunc(t.Calls, func(a, b trie.Call) int { return cmp.Compare(a.End, b.End) }).End
}

// Span returns the time from the first call of t to the end of the last, in µs.
func Span(t *trie.Timeline) int64 { return LastEnd(t) - t.Calls[0].Start }

// CallSelf returns the self time of each call of t, in µs.
func CallSelf(t *trie.Timeline) []int64 {
	self := make([]int64, len(t.Calls))
	var open []int
	for i, c := range t.Calls {
		self[i] = c.End - c.Start
		for len(open) > 0 && t.Calls[open[len(open)-1]].End <= c.Start {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			self[open[len(open)-1]] -= self[i]
		}
		open = append(open, i)
	}
	return self
}

// ThreadName returns the display name of a thread.
func ThreadName(t *trie.Timeline) string {
	switch {
	case t.Name != "":
		return t.Name
	case t.Thread != 0:
		return fmt.Sprintf("thread %d", t.Thread)
	}
	return "thread"
}
