package trie

import "iter"

// Call is one call of a function, or one event, as estimated from samples. Chrome DevTools calls it
// a ProfileCall.
type Call struct {
	Node NodeID // in the trie of the timeline
	// Event reports whether this is an event recorded by the browser, such as a task or a layout,
	// not a function.
	Event      bool
	Start, End int64 // [Start, End) in µs on the clock of the timeline
}

// Timeline has the calls of one thread in time order.
type Timeline struct {
	Trie
	Process, Thread int64  // as in the file; 0 if missing
	Name            string // of the thread, such as "CrRendererMain"; "" if unknown
	// Calls are sorted by start. A call comes before its callees, which are within its time; its
	// node is their parent. Two calls by one caller do not overlap.
	Calls []Call
}

// Segment is a time range in which the stack did not change.
type Segment struct {
	Start, End int64  // [Start, End) in µs; not empty
	Node       NodeID // leaf of the stack; Root between calls
}

// Segments yields the segments from the start of the first call to the end of the last. They are
// adjacent. Time without a call is at [Root]. Neighbours differ in node, or are two calls of the
// same function with nothing between them. The lengths of the segments of a node sum to its self
// time.
func (t *Timeline) Segments() iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		if len(t.Calls) == 0 {
			return
		}
		var open []Call
		at := t.Calls[0].Start
		until := func(end int64) bool { // open calls run until end
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

// Self returns the sum of the self times of all calls, which is the time that they cover, in µs.
func (t *Timeline) Self() int64 {
	var sum int64
	for s := range t.Segments() {
		if s.Node != Root {
			sum += s.End - s.Start
		}
	}
	return sum
}

// Rewrite returns t with each frame f replaced by rename(f). Runs of the same foreign frame, see
// [Frame.Foreign], become one call. If fold is set, so do runs of any frame: rename maps a function
// to a group, such as its package, and calls within a group count as time of their caller. Adjacent
// calls of one node by one caller then become one, too. The covered time stays the same.
func (t *Timeline) Rewrite(rename func(Frame) Frame, fold bool) *Timeline {
	joins := Frame.Foreign
	if fold {
		joins = func(Frame) bool { return true }
	}
	to, nodeOf := t.rewrite(orSame(rename), joins)
	var w callWriter
	for _, c := range t.Calls {
		node := nodeOf[c.Node]
		if node == nodeOf[t.Nodes[c.Node].Parent] {
			continue // it is time of its caller
		}
		c.Node = node
		w.add(c, fold)
	}
	out := new(Timeline)
	*out = *t // process, thread and name
	out.Trie, out.Calls = *to, w.calls
	return out
}

// Concat joins consecutive timelines. An event that was cut between two of them, see
// [Thread.Parts], becomes one again. The process, thread and name are taken from the first.
func Concat(lines ...*Timeline) *Timeline {
	if len(lines) == 1 {
		return lines[0]
	}
	out := &Timeline{Trie: *New()}
	var w callWriter
	for i, t := range lines {
		if i == 0 {
			out.Process, out.Thread, out.Name = t.Process, t.Thread, t.Name
		}
		nodeOf := out.AddAll(&t.Trie)
		for _, c := range t.Calls {
			atStart := c.Start == t.Calls[0].Start
			c.Node = nodeOf[c.Node]
			w.add(c, c.Event && atStart)
		}
	}
	out.Calls = w.calls
	return out
}

// callWriter builds the calls of a timeline, which must be added in order.
type callWriter struct {
	calls []Call
	made  []int // by call: its last callee, -1 for none
	open  []int // the calls around the current time, outermost first
	last  int   // 1 + the last call without a caller
}

// add adds c. If joins is set and c continues the call before it, add lengthens that call
// instead.
func (w *callWriter) add(c Call, joins bool) {
	for len(w.open) > 0 && w.calls[w.open[len(w.open)-1]].End <= c.Start {
		w.open = w.open[:len(w.open)-1]
	}
	before := w.last - 1
	if len(w.open) > 0 {
		before = w.made[w.open[len(w.open)-1]]
	}
	if joins && before >= 0 {
		if b := &w.calls[before]; b.End == c.Start && b.Node == c.Node && b.Event == c.Event {
			b.End = c.End
			w.open = append(w.open, before)
			return
		}
	}
	at := len(w.calls)
	if len(w.open) > 0 {
		w.made[w.open[len(w.open)-1]] = at
	} else {
		w.last = at + 1
	}
	w.calls, w.made, w.open = append(w.calls, c), append(w.made, -1), append(w.open, at)
}
