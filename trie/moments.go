package trie

import (
	"cmp"
	"math"
	"slices"
)

// moment is an observation of the stack.
type moment struct {
	Sample
	event  int // the event to which it is bound, or -1
	place  place
	isTime bool // a sample, whose time may be moved forward to the start of an event
}

// place is the position of a moment relative to its event.
type place uint8

const (
	anchored   place = iota // at the start of the event, which is in the stack
	beforeOpen              // the same, but known from a sample
	afterOpen               // the stack is nested in the event
	afterClose
	places
)

// readSamples turns the samples of s into moments, in time order.
func (c *calling) readSamples(s *Stream) {
	t := s.Trace
	samples := t.Samples
	end := int64(0)
	for i, x := range t.sampleRanges() {
		sample := samples[i]
		if c.stacks.isProgram(sample) && i > 0 && i+1 < len(samples) && c.stacks.sameCall(samples[i-1], samples[i+1]) {
			sample.Node = samples[i-1].Node
		}
		if sample.Marker == MarkerIdle && sample.Node == Root {
			c.idle += x.clip - x.start
		}
		c.moments = append(c.moments, moment{Sample: sample, event: -1, isTime: true})
		if end = x.clip; x.clip < x.end {
			c.moments = append(c.moments, moment{Sample: Sample{Time: x.clip}, event: -1})
		}
	}
	if len(samples) > 0 {
		c.moments = append(c.moments, moment{Sample: Sample{Time: end}, event: -1})
		c.from, c.to = samples[0].Time, end
	}
	for i, e := range c.events {
		if n, ok := s.Anchors[e.Anchor]; ok && e.Anchor != 0 {
			c.moments = append(c.moments, moment{Sample: Sample{Time: e.Start, Node: n}, event: i, place: anchored})
		}
	}
	slices.SortStableFunc(c.moments, func(a, b moment) int { return cmp.Compare(a.Time, b.Time) })
}

// placeMoments moves each sample to the earliest time at which its stack may have existed, given
// the events, and binds it to the event that determines this time.
func (c *calling) placeMoments() {
	c.kinds, c.lies = make([]eventKind, len(c.events)), make([]lies, len(c.events))
	for i := range c.bound {
		c.bound[i] = map[int]Sample{}
	}
	var open []int // the events around the current time
	next := 0
	compiled := make([]int, len(c.events)) // by event: the last compilation in it so far, or -1
	enter := func(until int64) {
		for ; next < len(c.events) && c.events[next].Start < until; next++ {
			e := c.events[next]
			c.kinds[next], compiled[next] = kindOf(e.Name), -1
			for len(open) > 0 && c.events[open[len(open)-1]].End <= e.Start {
				open = open[:len(open)-1]
			}
			around := -1
			if len(open) > 0 {
				if around = open[len(open)-1]; c.kinds[next] == compiling {
					compiled[around] = next
				}
			}
			c.lies[next] = c.placeEvent(next, around)
			open = append(open, next)
		}
		for len(open) > 0 && c.events[open[len(open)-1]].End <= until {
			open = open[:len(open)-1]
		}
	}
	last := int64(0)
	for i := range c.moments {
		m := &c.moments[i]
		enter(m.Time)
		if m.isTime && i > 0 && len(open) > 0 {
			c.bind(m, open[len(open)-1], last, compiled)
		}
		last = m.Time
		if m.event >= 0 {
			c.bound[m.place][m.event] = m.Sample
		}
	}
	enter(math.MaxInt64)
}

// bind moves m, a sample in event inner, to an event that began after the previous
// moment, at last.
func (c *calling) bind(m *moment, inner int, last int64, compiled []int) {
	if m.Marker == MarkerGC && c.begun(inner, last) {
		m.Node = Root // the function that it interrupted had ended
	}
	standing := c.lies[inner].standing
	inner = c.lies[inner].running
	switch {
	case inner >= 0 && c.kinds[inner].calls() && c.events[inner].Start >= last:
		m.event, m.place = inner, afterOpen
		if k := compiled[inner]; k >= 0 && k != standing && c.events[k].Start >= last {
			m.event, m.place = k, afterClose
		}
	case standing >= 0 && c.events[standing].Start > last:
		m.event, m.place = standing, beforeOpen
		m.Marker = MarkerNone // the event describes the work of the browser
	}
}

// lies has the events around an event, or the event itself; -1 for none.
type lies struct {
	running  int // innermost event in which functions run
	standing int // outermost event within running in which none does
	fresh    int // innermost task or call
}

// placeEvent returns the events around an event, or the event itself. around is the innermost event
// that contains it, or -1.
func (c *calling) placeEvent(event, around int) lies {
	out := lies{-1, -1, -1}
	if around >= 0 {
		out = c.lies[around]
	}
	switch k := c.kinds[event]; {
	case k < native:
		out.running, out.standing = event, -1
	case out.standing < 0:
		out.standing = event
	}
	if k := c.kinds[event]; k.fresh() || k.calls() {
		out.fresh = event
	}
	return out
}

// begun reports whether a task or a call has begun since a time, given the innermost
// open event.
func (c *calling) begun(inner int, since int64) bool {
	fresh := c.lies[inner].fresh
	return fresh >= 0 && c.events[fresh].Start >= since
}
