package trie

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Calls estimates call and return times of the functions sampled in s, and nests them with the
// events of their thread: a function is nested in the event that called it, and an event in the
// function that caused it. s and events may be nil.
//
// For samples alone the result is that of Chrome DevTools ("the life of a ProfileCall" in its
// models/trace/helpers/SamplesIntegrator.ts): a call begins with the first sample that contains
// it and ends with the first that does not. Events improve on that:
//
//   - A function called by an event ends with the event at the latest, and no call outlives its
//     task.
//   - It begins with the event if the event contains no earlier sample, but not before its
//     script was compiled. DevTools starts it at the sample; Lighthouse does as we do
//     (core/lib/tracehouse/cpu-profile-model.js).
//   - While the browser lays out, paints or collects garbage the stack does not change. A
//     sample taken meanwhile shows which call caused the event, so that call began before the
//     event.
//   - The stack at an anchor is exact.
//
// A sample of (program) between two samples of the same outermost call counts as a repeat of
// the first, as in DevTools. The self times of the result sum to the covered time, to the
// microsecond.
//
// The cost is that of sorting samples and events, plus logarithmic time for each call, at any
// depth. Two deep stacks that alternate make an unbounded number of calls, so Calls returns a
// [TooManyCallsError] for more than most calls.
func Calls(s *Stream, events []Event, most int) (*Timeline, error) {
	c := newCalling(s, events)
	c.keep, c.most = true, min(c.most, most)
	if err := c.run(); err != nil {
		return nil, err
	}
	c.out.Calls = slices.DeleteFunc(c.out.Calls, func(c Call) bool { return c.Start == c.End })
	return c.out, nil
}

// MaxCalls is the maximum number of calls in time order for one response. They take a quarter of a
// gigabyte of memory; real recordings have at most one or two dozen calls for each sample.
const MaxCalls = 1 << 23

// TooManyCallsError is returned if the samples and events of a thread make too many calls.
type TooManyCallsError struct{ Most int }

func (e *TooManyCallsError) Error() string {
	return fmt.Sprintf("over %d calls begin and end, as if whole stacks came and went with each sample; "+
		"merge the samples alone (no --timed, no --events), choose one thread, or record for less time", e.Most)
}

// A thread may have this many calls, plus a number for each sample and event, since a stack of the
// maximum depth that browsers record may change with each.
const (
	someCalls = 1 << 20
	callsEach = MaxStackDepth + 1
)

// newCalling reads s and events.
func newCalling(s *Stream, events []Event) *calling {
	c := &calling{events: events, now: math.MinInt64, out: &Timeline{Trie: *New()}, shown: make([]shown, 1)}
	if s == nil {
		c.stacks = newStackReader(nil, &c.out.Trie)
	} else {
		c.stacks = newStackReader(s.Trace, &c.out.Trie)
		c.readSamples(s)
	}
	c.placeMoments()
	c.most = someCalls + callsEach*(len(c.moments)+len(events))
	return c
}

// calling is the state of [Calls].
type calling struct {
	events  []Event
	lies    []lies // by event
	kinds   []eventKind
	moments []moment
	bound   [places]map[int]Sample // by place: the moment of an event

	out       *Timeline
	keep      bool    // the calls of out
	self      []int64 // by node of out, µs
	stacks    *stackReader
	stack     []openCall
	path      []FrameID     // scratch space of show
	opened    []int         // places of events in the stack
	functions []NodeID      // by function in the stack: the stack up to it, as a node of stacks
	shown     []shown       // below the first event that is open, and in each
	most      int           // maximum number of calls
	made      int           // calls so far, plus steps with as much work
	shared    *rangeMinimum // see lasting
	covered   int64         // µs of [from, to), which was sampled, in which something ran
	from, to  int64
	idle      int64 // µs in which samples report no work
	now       int64 // current time
}

// openCall is a call that has not ended.
type openCall struct {
	node  NodeID
	frame FrameID
	start int64
	inner int64 // µs in its callees
	call  int   // index in the calls of the timeline
	below int   // for an event: number of functions below it
	event int   // -1 for a function
}

// shown identifies the open functions within an event: the frames of stack from index from on. The
// next stack is compared with this one, which is faster than with each open function.
type shown struct {
	stack NodeID // of stacks
	from  int
}

// run processes events and moments in time order.
func (c *calling) run() error {
	next := 0
	for i := range c.moments {
		m := &c.moments[i]
		if m.event >= 0 {
			continue // shown at its event
		}
		for ; next < len(c.events) && c.events[next].Start < m.Time; next++ {
			if c.open(next); c.made > c.most {
				return &TooManyCallsError{c.most}
			}
		}
		c.closeEvents(m.Time)
		if c.show(m.Sample, m.Time); c.made > c.most {
			return &TooManyCallsError{c.most}
		}
	}
	for ; next < len(c.events); next++ {
		if c.open(next); c.made > c.most {
			return &TooManyCallsError{c.most}
		}
	}
	c.closeEvents(math.MaxInt64)
	c.truncate(0, c.now) // the last moment has closed the functions, except those of anchors
	return nil
}

// closeEvents closes the events that end at or before time.
func (c *calling) closeEvents(time int64) {
	for len(c.opened) > 0 {
		at := c.opened[len(c.opened)-1]
		event := c.stack[at].event
		end := c.events[event].End
		if end > time {
			return
		}
		c.truncate(at, end)
		c.opened, c.shown = c.opened[:len(c.opened)-1], c.shown[:len(c.shown)-1]
		if m, ok := c.bound[afterClose][event]; ok {
			c.show(m, end)
		}
	}
}

// open begins an event.
func (c *calling) open(event int) {
	e := &c.events[event]
	c.closeEvents(e.Start)
	base, below := c.base()
	if m, ok := c.bound[anchored][event]; ok {
		c.show(m, e.Start)
	} else if m, ok := c.bound[beforeOpen][event]; ok {
		c.show(m, e.Start)
	} else if e.Start < e.End && c.ends(event) {
		c.truncate(base, e.Start)
	}
	if e.Start == e.End {
		return
	}
	if n := len(c.stack); n == base+1 && c.stacks.backgroundFrame(c.stack[base].frame) {
		c.truncate(base, e.Start)
	}
	var goOn []FrameID // functions that continue within a measure, perhaps not until its end
	inside := shown{}
	if c.kinds[event] < native {
		at := base + max(c.lasting(e)-below, 0)
		if e.Measure {
			inside = c.shown[len(c.shown)-1]
			inside.from += at - base
			goOn = c.framesFrom(at)
		}
		c.truncate(at, e.Start)
	}
	below += len(c.stack) - base
	c.opened, c.shown = append(c.opened, len(c.stack)), append(c.shown, inside)
	c.push(c.out.Intern(e.Frame), e.Start, openCall{below: below, event: event})
	for _, f := range goOn {
		c.push(f, e.Start, openCall{event: -1})
	}
	if m, ok := c.bound[afterOpen][event]; ok {
		c.show(m, e.Start)
	}
}

// framesFrom returns the functions of the stack from index at on.
func (c *calling) framesFrom(at int) (frames []FrameID) {
	for _, o := range c.stack[min(at, len(c.stack)):] {
		frames = append(frames, o.frame)
	}
	return frames
}

// ends reports whether the running functions end when an event begins, whatever samples show. They
// continue if an invocation called them, or if events of this kind call no functions: then the
// functions may have caused the event. For a task within a task, such as an alert shown by a page,
// the samples decide.
func (c *calling) ends(event int) bool {
	kind := c.kinds[event]
	switch {
	case c.events[event].Measure:
		return false
	case len(c.opened) == 0 || kind == microtasks:
		return true
	case kind == task:
		from, to := c.within(&c.events[event])
		return from == to
	}
	around := c.stack[c.opened[len(c.opened)-1]].event
	return kind < native && !c.kinds[around].calls()
}

// within returns the range of moments that lie in an event.
func (c *calling) within(e *Event) (from, to int) {
	from = sort.Search(len(c.moments), func(i int) bool { return c.moments[i].Time > e.Start })
	return from, from + sort.Search(len(c.moments)-from, func(i int) bool { return c.moments[from+i].Time >= e.End })
}

// lasting returns how many of the open functions, counted from the root, are in all samples within
// an event. The event is nested only in these: the others had ended, or belong to a sample taken a
// little early or late. A measure need not begin and end in the same call.
func (c *calling) lasting(e *Event) int {
	from, to := c.within(e)
	if from == to {
		return len(c.functions)
	}
	if c.shared == nil {
		c.shared = c.sharedFrames()
	}
	return min(c.stacks.common(c.under(len(c.functions)), c.stacks.of(c.moments[from].Sample)),
		c.shared.least(from, to-1))
}

// sharedFrames returns how many frames each moment shares with the next, counted from the root.
func (c *calling) sharedFrames() *rangeMinimum {
	values := make([]int32, max(len(c.moments)-1, 0))
	last := Root
	for i, m := range c.moments {
		stack := c.stacks.of(m.Sample)
		if i > 0 {
			values[i-1] = int32(c.stacks.common(last, stack))
		}
		last = stack
	}
	return newRangeMinimum(values)
}

// under returns the stack of the first n functions, as a node of stacks.
func (c *calling) under(n int) NodeID {
	if n == 0 {
		return Root
	}
	return c.functions[n-1]
}

// base returns the index of the first function of the innermost event in the stack, and the
// number of functions below it.
func (c *calling) base() (at, below int) {
	if len(c.opened) == 0 {
		return 0, 0
	}
	at = c.opened[len(c.opened)-1]
	return at + 1, c.stack[at].below
}

// show makes the functions of m the open ones at time, root first.
func (c *calling) show(m Sample, time int64) {
	base, below := c.base()
	if base > 0 && c.kinds[c.stack[base-1].event] >= native {
		return
	}
	stack := c.stacks.of(m)
	if base > 0 && c.stacks.background(stack) {
		stack = Root // the event is more specific
	}
	now := shown{stack, c.stacks.common(c.under(below), stack)}
	same := c.same(now, below)
	c.truncate(base+same, time)
	c.shown[len(c.shown)-1] = now
	at := len(c.path)
	for n := stack; int(c.stacks.depth[n]) > now.from+same; n = c.stacks.Nodes[n].Parent {
		c.path = append(c.path, c.stacks.Nodes[n].Frame)
	}
	for _, f := range slices.Backward(c.path[at:]) {
		c.push(f, time, openCall{event: -1})
	}
	c.path = c.path[:at]
}

// same returns how many functions of the innermost event, from below on, now shares with the open
// ones.
func (c *calling) same(now shown, below int) int {
	open := min(len(c.functions)-below, int(c.stacks.depth[now.stack])-now.from)
	before := c.shown[len(c.shown)-1]
	if before.from == now.from {
		if n := c.stacks.common(before.stack, now.stack); n >= now.from {
			return min(open, n-now.from)
		}
	}
	// The callers differ, so a common prefix of the stacks means nothing.
	same := open
	c.made += open
	for n, i := c.stacks.at(now.stack, now.from+open), open-1; i >= 0; n, i = c.stacks.Nodes[n].Parent, i-1 {
		if c.stacks.Nodes[n].Frame != c.stack[len(c.stack)-(len(c.functions)-below)+i].frame {
			same = i
		}
	}
	return same
}

// truncate ends all calls of the stack from an index on.
func (c *calling) truncate(at int, time int64) {
	c.now = max(c.now, time)
	for i := len(c.stack) - 1; i >= at; i-- {
		o := &c.stack[i]
		length := max(time-o.start, 0)
		c.self[o.node] += length - o.inner
		if i > 0 {
			c.stack[i-1].inner += length
		} else {
			c.covered += max(min(o.start+length, c.to)-max(o.start, c.from), 0)
		}
		if c.keep {
			c.out.Calls[o.call].End = o.start + length
		}
		if o.event < 0 {
			c.functions = c.functions[:len(c.functions)-1]
		}
	}
	c.stack = c.stack[:at]
}

// push begins a call of f on top of the stack.
func (c *calling) push(f FrameID, time int64, o openCall) {
	parent := Root
	if len(c.stack) > 0 {
		parent = c.stack[len(c.stack)-1].node
	}
	o.node, o.frame, o.start, o.call = c.out.Child(parent, f), f, time, len(c.out.Calls)
	c.stack = append(c.stack, o)
	c.made++
	if o.event < 0 {
		c.functions = append(c.functions, c.stacks.child(c.under(len(c.functions)), f))
	}
	for len(c.self) <= int(o.node) {
		c.self = append(c.self, 0)
	}
	if c.keep {
		c.out.Calls = append(c.out.Calls, Call{Node: o.node, Start: time, End: time, Event: o.event >= 0})
	}
}
