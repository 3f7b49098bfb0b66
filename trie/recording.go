package trie

import "slices"

// Recording is what a file of a profiler holds: the threads of one or more processes.
// All times of its threads are on one clock, in µs since the recording began.
type Recording struct {
	Threads []Thread
	// Warnings say, for people, what of the file was dropped or mended, and how often.
	Warnings []string
}

// Thread is one thread of a recording. It has streams, events or both.
type Thread struct {
	Process, ID int64    // as the file numbers them; 0 if it does not say
	Name        string   // such as "CrRendererMain"; "" if not known
	Streams     []Stream // what samplers recorded, in the order of the file
	Events      []Event  // nested, see [Event]
}

// Stream is what one sampler recorded of a thread. A thread can have several at the same
// time, which saw the same work: they must not be added up.
type Stream struct {
	Source string // who started it, such as "Inspector"; "" if not known
	ID     string // as the file names it, such as "0x2"; unique within the process
	Trace  *Trace
	// Anchors are the stacks at moments that an event names, by the number of the moment.
	Anchors map[int64]NodeID
}

// Event is a stretch of time that the browser, or the page, recorded on a thread. The
// events of a thread are sorted by start; one that lies in another stands after it, and
// no two cross, see [Nest]. One without length is there for its anchor only.
type Event struct {
	Frame            // a name, and a place if the event is a call that was recorded
	Start, End int64 // [Start, End) in µs
	Anchor     int64 // the moment of its start among the anchors of a stream; 0 if there is none
	Measure    bool  // the page made it, with performance.measure
}

// sourceRank is the order in which DevTools takes the streams of a trace: that of the
// browser's own tracing first, then that of an inspector, then any other.
func sourceRank(source string) int {
	switch source {
	case "Internal":
		return 0
	case "Inspector":
		return 1
	}
	return 2
}

// Best returns the place of the stream that speaks for the thread as Chrome DevTools
// chooses it, or -1 if no stream has a sample.
func (t *Thread) Best() int {
	best := -1
	for i, s := range t.Streams {
		if len(s.Trace.Samples) == 0 {
			continue
		}
		if best < 0 || sourceRank(s.Source) < sourceRank(t.Streams[best].Source) {
			best = i
		}
	}
	return best
}

// Rewrite returns s with each frame f replaced by rename(f), see [Trace.Coalesce], or, if
// fold is set, [Trace.Fold].
func (s Stream) Rewrite(rename func(Frame) Frame, fold bool) Stream {
	joins := Frame.Foreign
	if fold {
		joins = func(Frame) bool { return true }
	}
	var nodeOf []NodeID
	s.Trace, nodeOf = s.Trace.rewritten(rename, joins)
	anchors := make(map[int64]NodeID, len(s.Anchors))
	for moment, n := range s.Anchors {
		anchors[moment] = nodeOf[n]
	}
	s.Anchors = anchors
	return s
}

// ShowIdle returns t with a frame for the time in which the thread had nothing to do, as
// far as the markers say so. Without that it is no part of a profile.
func (t *Trace) ShowIdle() *Trace {
	out := new(Trace)
	*out = *t // all but the tables
	out.Trie, out.Samples = *New(), slices.Clone(t.Samples)
	nodeOf := out.add(&t.Trie)
	idle := out.Insert(Frame{Name: FrameIdle})
	for i := range out.Samples {
		s := &out.Samples[i]
		s.Node = nodeOf[s.Node]
		if s.Node == Root && s.Marker == MarkerIdle {
			s.Node, s.Marker = idle, MarkerNone
		}
	}
	return out
}
