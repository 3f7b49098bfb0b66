package sums

import (
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// LongTask is how long, in µs, a long task is at least: https://w3c.github.io/longtasks/.
const LongTask = 50_000

// InView is time with a stack in a trace, in µs.
type InView struct {
	Self, Own   int64 // Own of Self is the profiling script's
	Long, Tasks int64 // Long of Self is in so many long tasks

	busy int64 // without an end of the stack so far
}

// TimeInView returns the time that t has on a page in what s asks for.
func TimeInView(s selection.Selection, t *trie.Trace, page string) (in InView) {
	if !s.Matches(&t.Context) {
		return in
	}
	var own rollup.Own
	slices := t.Slices()
	t.Shares(slices, func(x *trie.Share) {
		slice := slices[x.Slice]
		if !x.HasStack() || slice.Page != page || !s.Takes(slice, &t.Context) {
			in.endTask()
			return
		}
		if own.Has(&t.Trie, x) {
			in.Own += x.Self
		}
		in.Self += x.Self
		if in.busy += x.Self; x.Gap > 0 {
			in.endTask()
		}
	})
	in.endTask()
	return in
}

// endTask says that the stack ended.
func (in *InView) endTask() {
	if in.busy >= LongTask {
		in.Long += in.busy
		in.Tasks++
	}
	in.busy = 0
}
