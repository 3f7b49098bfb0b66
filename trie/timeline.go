package trie

import "iter"

// Call is one call of a function, or one event, as it is estimated from samples: what
// Chrome DevTools calls a ProfileCall.
type Call struct {
	Node       NodeID // in the trie of the timeline
	Start, End int64  // [Start, End) in µs on the clock of the timeline
	// Event reports that this is an event which the browser recorded, such as a task or
	// a layout, and no function.
	Event bool
}

// Timeline is the calls of one thread in time order.
type Timeline struct {
	Trie
	Process, Thread int64  // as the file numbers them; 0 if it does not say
	Name            string // of the thread, such as "CrRendererMain"; "" if not known
	// Calls are sorted by start. A call stands before those that it made, which lie
	// within its time; its node is the parent of theirs. Two calls of one caller do not
	// overlap.
	Calls []Call
}

// Segment is a stretch of time in which one stack stood.
type Segment struct {
	Start, End int64  // [Start, End) in µs; not empty
	Node       NodeID // leaf of the stack; Root between calls
}

// Segments yields the time from the first call to the end of the last: segments touch
// each other, those in which nothing was called are at [Root], and neighbours differ in
// node, or are two calls of the same function with nothing between them. The lengths of
// the segments of a node sum to its self time.
func (t *Timeline) Segments() iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		if len(t.Calls) == 0 {
			return
		}
		var open []Call
		at := t.Calls[0].Start
		until := func(end int64) bool { // what is open runs on until end
			s := Segment{Start: at, End: end}
			if len(open) > 0 {
				s.Node = open[len(open)-1].Node
			}
			at = max(at, end)
			return s.Start >= s.End || yield(s)
		}
		closeUntil := func(time int64) bool {
			for len(open) > 0 && open[len(open)-1].End <= time {
				if !until(open[len(open)-1].End) {
					return false
				}
				open = open[:len(open)-1]
			}
			return true
		}
		for _, c := range t.Calls {
			if !closeUntil(c.Start) || !until(c.Start) {
				return
			}
			open = append(open, c)
		}
		for len(open) > 0 {
			if !until(open[len(open)-1].End) {
				return
			}
			open = open[:len(open)-1]
		}
	}
}

// Self returns the sum of the self times of all calls, which is the time that they
// cover, in µs.
func (t *Timeline) Self() int64 {
	var sum int64
	for s := range t.Segments() {
		if s.Node != Root {
			sum += s.End - s.Start
		}
	}
	return sum
}
