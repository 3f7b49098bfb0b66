package trie

import (
	"math"
	"slices"
	"sort"
)

// Calls estimates when the functions that s sampled were called and when they returned,
// and puts them together with the events of their thread: a function lies in the event
// that called it, and an event in the function that caused it. s may be nil, events nil.
//
// Samples alone say what Chrome DevTools makes of them ("the life of a ProfileCall" in
// its models/trace/helpers/SamplesIntegrator.ts): a call begins with the first sample
// that has it and ends with the first that has not. Events say more:
//
//   - A function that was called by an event is over when the event is, and no call
//     outlives its task.
//   - It began with the event, if no sample of the event came before it, and after the
//     script was compiled; DevTools waits for the sample. This is how Lighthouse bounds
//     calls (core/lib/tracehouse/cpu-profile-model.js).
//   - While the browser lays out, paints or collects garbage the stack stands still. A
//     sample in there tells who caused it, so that call began before the event did.
//   - The stack at an anchor is exact.
//
// A sample of (program) between two of the same outermost call is taken for a repeat of
// the one before it, as DevTools does. The self times of the result sum to the time that
// it covers, to the microsecond.
func Calls(s *Stream, events []Event) *Timeline {
	c := newCalling(s, events)
	c.keep = true
	c.run()
	c.out.Calls = slices.DeleteFunc(c.out.Calls, func(c Call) bool { return c.Start == c.End })
	return c.out
}

// newCalling reads s and events.
func newCalling(s *Stream, events []Event) *calling {
	c := &calling{events: events, now: math.MinInt64, out: &Timeline{Trie: *New()}, stacks: &stackReader{program: noFrame, idle: noFrame}}
	if s != nil {
		c.stacks = newStackReader(s.Trace, &c.out.Trie)
		c.readSamples(s)
	}
	c.placeMoments()
	return c
}

// calling is the state of [Calls].
type calling struct {
	events  []Event
	parent  []int // of each event, -1 for none
	kinds   []eventKind
	moments []moment
	bound   [places]map[int]Sample // by place: the moment of an event

	out       *Timeline
	keep      bool    // the calls of out
	self      []int64 // by node of out, µs
	stacks    *stackReader
	stack     []openCall
	opened    []int         // places of events in the stack
	functions []FrameID     // the functions in the stack
	shared    *rangeMinimum // see lasting
	covered   int64         // µs of [from, to), which was sampled, in which something ran
	from, to  int64
	idle      int64 // µs in which samples say that nothing ran
	now       int64 // the time that it has come to
}

// openCall is a call that has not ended.
type openCall struct {
	node  NodeID
	frame FrameID
	start int64
	inner int64 // µs in which what it called ran
	call  int   // place in the calls of the timeline
	below int   // for an event: how many functions lie below it
	event int   // -1 for a function
}

// run goes through events and moments in time order.
func (c *calling) run() {
	next := 0
	for i := range c.moments {
		m := &c.moments[i]
		if m.event >= 0 {
			continue // its event shows it
		}
		for ; next < len(c.events) && c.events[next].Start < m.Time; next++ {
			c.open(next)
		}
		c.closeEvents(m.Time)
		c.show(m.Sample, m.Time)
	}
	for ; next < len(c.events); next++ {
		c.open(next)
	}
	c.closeEvents(math.MaxInt64)
	c.truncate(0, c.now) // the last moment has closed the functions, but for those of anchors
}

// closeEvents closes the events that are over at time.
func (c *calling) closeEvents(time int64) {
	for len(c.opened) > 0 {
		at := c.opened[len(c.opened)-1]
		event := c.stack[at].event
		end := c.events[event].End
		if end > time {
			return
		}
		c.truncate(at, end)
		c.opened = c.opened[:len(c.opened)-1]
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
	if n := len(c.stack); n == base+1 && c.stacks.background(c.stack[base].frame) {
		c.truncate(base, e.Start)
	}
	var goOn []FrameID // what runs on within a measure, and perhaps not until its end
	if c.kinds[event] < native {
		goOn = c.interrupt(base+max(c.lasting(e)-below, 0), e.Start)
	}
	if !e.Measure {
		goOn = nil
	}
	below += len(c.stack) - base
	c.opened = append(c.opened, len(c.stack))
	c.push(c.out.Intern(e.Frame), e.Start, openCall{below: below, event: event})
	for _, f := range goOn {
		c.push(f, e.Start, openCall{event: -1})
	}
	if m, ok := c.bound[afterOpen][event]; ok {
		c.show(m, e.Start)
	}
}

// interrupt ends the functions from a place in the stack on, and returns them.
func (c *calling) interrupt(at int, time int64) []FrameID {
	var frames []FrameID
	for _, o := range c.stack[at:] {
		frames = append(frames, o.frame)
	}
	c.truncate(at, time)
	return frames
}

// ends reports whether the functions that run when an event begins are over with that,
// whatever samples say. They go on if an invocation called them, or if the event is no
// such that calls functions: then they may have caused it. A task within a task, as when
// a page shows an alert, lies in what samples say.
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

// within returns which moments lie in an event: those from one place up to another.
func (c *calling) within(e *Event) (from, to int) {
	from = sort.Search(len(c.moments), func(i int) bool { return c.moments[i].Time > e.Start })
	return from, from + sort.Search(len(c.moments)-from, func(i int) bool { return c.moments[from+i].Time >= e.End })
}

// lasting returns how many of the functions that are open, from the root, are in all
// samples within an event. It lies in these alone: the others were over, or are those
// of a sample that was taken a little early or late. A measure need not begin and end in
// the same call at all.
func (c *calling) lasting(e *Event) int {
	from, to := c.within(e)
	if from == to {
		return len(c.functions)
	}
	if c.shared == nil {
		c.shared = c.sharedFrames()
	}
	return min(commonFrames(c.functions, c.stacks.of(c.moments[from].Sample)), c.shared.least(from, to-1))
}

// sharedFrames returns how many frames, from the root, each moment has in common with the
// one after it.
func (c *calling) sharedFrames() *rangeMinimum {
	values := make([]int32, max(len(c.moments)-1, 0))
	var last []FrameID
	for i, m := range c.moments {
		stack := c.stacks.of(m.Sample)
		if i > 0 {
			values[i-1] = int32(commonFrames(last, stack))
		}
		last = append(last[:0], stack...)
	}
	return newRangeMinimum(values)
}

// commonFrames returns how many frames two stacks have in common, from the root.
func commonFrames(a, b []FrameID) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// base returns where the functions of the innermost event begin in the stack, and how
// many functions lie below it.
func (c *calling) base() (at, below int) {
	if len(c.opened) == 0 {
		return 0, 0
	}
	at = c.opened[len(c.opened)-1]
	return at + 1, c.stack[at].below
}

// show makes the functions of m, root first, those that are open at time.
func (c *calling) show(m Sample, time int64) {
	base, below := c.base()
	if base > 0 && c.kinds[c.stack[base-1].event] >= native {
		return
	}
	stack := c.stacks.of(m)
	if base > 0 && len(stack) == 1 && c.stacks.background(stack[0]) {
		stack = nil // the event says more
	}
	stack = stack[commonFrames(c.functions[:below], stack):]
	same := 0
	for same < len(stack) && base+same < len(c.stack) && c.stack[base+same].frame == stack[same] {
		same++
	}
	c.truncate(base+same, time)
	for _, f := range stack[same:] {
		c.push(f, time, openCall{event: -1})
	}
}

// truncate ends all calls from a place in the stack on.
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
	if o.event < 0 {
		c.functions = append(c.functions, f)
	}
	for len(c.self) <= int(o.node) {
		c.self = append(c.self, 0)
	}
	if c.keep {
		c.out.Calls = append(c.out.Calls, Call{Node: o.node, Start: time, End: time, Event: o.event >= 0})
	}
}
