package trie

import (
	"cmp"
	"math"
	"slices"
)

// Recording is the content of a profiler's file: the threads of one or more processes. All
// times of its threads are on one clock, in µs since the recording began.
type Recording struct {
	Threads []Thread
	// Warnings tell people what was dropped or repaired in the file, and how often.
	Warnings []string
	// Scripts are the scripts that the file has a source map for.
	Scripts []Script
}

// Script is a script in a recording, with the data that names its functions.
type Script struct {
	URL  string // as frames of the script have it
	Text []byte // as the browser ran it, in UTF-8; nil if the file does not have it
	Map  []byte // the source map of ECMA-426, in JSON
}

// Thread is one thread of a recording. It has streams, events or both.
type Thread struct {
	Process, ID int64    // as the file numbers them; 0 if it does not say
	ProcessName string   // such as "Renderer"; "" if not known
	Name        string   // such as "CrRendererMain"; "" if not known
	Streams     []Stream // the samplers' recordings, in the order of the file
	Events      []Event  // nested, see [Event]
}

// Stream is one sampler's recording of a thread. A thread can have several at the same
// time. They saw the same work and must not be added up, see [Thread.Chosen].
type Stream struct {
	Source string // the program that started it, such as "Inspector"; "" if unknown
	ID     string // as the file names it, such as "0x2"; unique within the process
	Trace  *Trace
	// Anchors are the exact stacks at moments that events refer to, by the number of the
	// moment.
	Anchors map[int64]NodeID
}

// Event is a time range that the browser, or the page, recorded on a thread. The events of
// a thread are sorted by start, outer before inner, and no two cross, see [Nest]. An event
// without length only carries its anchor.
type Event struct {
	Frame            // a name, and a place if the event is a recorded call
	Start, End int64 // [Start, End) in µs
	Anchor     int64 // the moment of its start among the anchors of a stream; 0 if there is none
	Measure    bool  // the page made it, with performance.measure
}

// sourceRank is the order in which DevTools prefers the streams of a trace: the browser's
// own tracing first, then an inspector, then any other.
func sourceRank(source string) int {
	switch source {
	case "Internal":
		return 0
	case "Inspector":
		return 1
	}
	return 2
}

// Best returns the index of the stream that stands for the thread, chosen as Chrome
// DevTools does, or -1 if no stream has a sample.
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

// Chosen returns the indexes of the streams that stand for the thread, in time order: that
// of [Thread.Best], and every other that overlaps no chosen one, in the order of preference
// of Best. So of two profiles recorded one after the other both are chosen, and of two at
// the same time one. Streams for which fits returns false are ignored; a nil fits accepts
// all. A stream lasts from its first sample to its last.
func (t *Thread) Chosen(fits func(*Stream) bool) []int {
	var order []int
	for i := range t.Streams {
		if s := &t.Streams[i]; len(s.Trace.Samples) > 0 && (fits == nil || fits(s)) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(sourceRank(t.Streams[a].Source), sourceRank(t.Streams[b].Source))
	})
	var taken []int
	for _, i := range order {
		first, last := t.Streams[i].bounds()
		at, found := slices.BinarySearchFunc(taken, first, func(k int, first int64) int {
			start, _ := t.Streams[k].bounds()
			return cmp.Compare(start, first)
		})
		free := !found
		if at > 0 {
			_, end := t.Streams[taken[at-1]].bounds()
			free = free && end < first
		}
		if at < len(taken) {
			start, _ := t.Streams[taken[at]].bounds()
			free = free && last < start
		}
		if free {
			taken = slices.Insert(taken, at, i)
		}
	}
	return taken
}

// bounds returns the times of the first and the last sample of s, which must have samples.
func (s *Stream) bounds() (first, last int64) {
	samples := s.Trace.Samples
	return samples[0].Time, samples[len(samples)-1].Time
}

// Part is a time range of a thread: the recording of one sampler, and the events of the
// browser.
type Part struct {
	Stream *Stream // nil if there are events only
	Events []Event // see [Thread]
}

// Parts returns the streams with these indexes, each with the events of its time. The
// streams must follow each other in time, as those of [Thread.Chosen] do. The thread is cut
// in the middle of the gap between two streams. An event that crosses a cut becomes two,
// which touch there, so it holds the functions of both streams and no time counts twice.
// The last sample of a stream covers no time of the next one. Without streams all events
// are one part. More than maxCuts cuts through events return a [TooManyCallsError].
func (t *Thread) Parts(streams []int) ([]Part, error) {
	if len(streams) == 0 {
		return []Part{{Events: t.Events}}, nil
	}
	if len(streams) == 1 {
		return []Part{{&t.Streams[streams[0]], t.Events}}, nil
	}
	parts := make([]Part, len(streams))
	rest := t.Events
	var longer []Event // what is left of events beyond the last cut
	cuts := 0
	for i, k := range streams {
		s, cut := t.Streams[k], int64(math.MaxInt64)
		if i+1 < len(streams) {
			next, _ := t.Streams[streams[i+1]].bounds()
			_, end := s.Trace.covered()
			end = min(end, next)
			cut = end + (next-end)/2
			short := *s.Trace
			short.End = min(short.End, next)
			s.Trace = &short
		}
		n, _ := slices.BinarySearchFunc(rest, cut, func(e Event, cut int64) int { return cmp.Compare(e.Start, cut) })
		parts[i] = Part{&s, slices.Concat(longer, rest[:n])}
		rest, longer = rest[n:], cutEvents(parts[i].Events, cut)
		if cuts += len(longer); cuts > maxCuts {
			return nil, &TooManyCallsError{maxCuts}
		}
	}
	return parts, nil
}

// maxCuts bounds how often events are cut in two. Few events last beyond a stream, but each
// of a million could last beyond each of a thousand.
const maxCuts = 1 << 20

// cutEvents ends events at a time and returns their remainders after it. The anchor of an
// event stays with its start.
func cutEvents(events []Event, at int64) (after []Event) {
	for i := range events {
		e := &events[i]
		if e.End > at {
			tail := *e
			tail.Start, tail.Anchor = at, 0
			after = append(after, tail)
			e.End = at
		}
	}
	return after
}

// Covered returns how much time the events of a thread cover, in µs.
func Covered(events []Event) int64 {
	var sum int64
	end := int64(math.MinInt64)
	for _, e := range events {
		if e.Start >= end { // not in the one before
			sum += e.End - e.Start
		}
		end = max(end, e.End)
	}
	return sum
}

// ShowIdle returns t with a frame for the time in which the markers say that the thread was
// idle. Otherwise idle time is not part of a profile.
func (t *Trace) ShowIdle() *Trace {
	out := new(Trace)
	*out = *t // all but the tables
	out.Trie, out.Samples = *New(), slices.Clone(t.Samples)
	nodeOf := out.AddAll(&t.Trie)
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
