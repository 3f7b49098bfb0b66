package sums

import (
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// InView is the time with a stack in a trace, in µs.
type InView struct {
	Self, Own   int64 // Own of Self is the profiling script's
	Long, Tasks int64 // Long of Self is in so many long tasks

	busy int64 // since the stack was last empty
}

// TimeInView returns the time of t on page that s selects. Other time and gaps between samples end
// a long task.
func TimeInView(s selection.Selection, t *trie.Trace, page string) (in InView) {
	if !s.Matches(&t.Context) {
		return in
	}
	slices := t.Slices()
	t.Shares(slices, func(x *trie.Share) {
		slice := slices[x.Slice]
		if !x.HasStack() || slice.Page != page || !s.Takes(slice, &t.Context) {
			in.endTask()
			return
		}
		if rollup.IsOwn(&t.Trie, x.Node, x.OnTop) {
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

// endTask counts the task, when the stack becomes empty.
func (in *InView) endTask() {
	if in.busy >= rollup.LongTask {
		in.Long += in.busy
		in.Tasks++
	}
	in.busy = 0
}
