package trie

import (
	"cmp"
	"math"
	"slices"
)

// Recording is the content of a profiler's file: the threads of one or more processes. All times
// use one clock, in µs since the start of the recording.
type Recording struct {
	Threads []Thread
	// Warnings describe what was dropped or repaired in the file, and how often.
	Warnings []string
	// Scripts are the scripts with a source map in the file.
	Scripts []Script
}

// Script is a script in a recording, with its source map.
type Script struct {
	URL  string // as in frames of the script
	Text []byte // as executed, in UTF-8; nil if missing
	Map  []byte // ECMA-426 source map, in JSON
}

// Thread is one thread of a recording. It has streams, events or both.
type Thread struct {
	Process, ID int64    // as in the file; 0 if missing
	ProcessName string   // such as "Renderer"; "" if unknown
	Name        string   // such as "CrRendererMain"; "" if unknown
	Streams     []Stream // recordings of the samplers, in the order of the file
	Events      []Event  // nested, see [Event]
}

// Stream is one sampler's recording of a thread. Several streams of a thread may cover the same
// time. They must not be added up, see [Thread.Chosen].
type Stream struct {
	Source string // program that started it, such as "Inspector"; "" if unknown
	ID     string // as in the file, such as "0x2"; unique within the process
	Trace  *Trace
	// Anchors are the exact stacks at moments that events refer to, by the number of the moment.
	Anchors map[int64]NodeID
}

// Event is a time range recorded on a thread by the browser or the page. The events of a thread are
// sorted by start, outer before inner, and no two cross, see [Nest]. An event of length 0 only
// carries its anchor.
type Event struct {
	Frame            // a name, and a place if the event is a recorded call
	Start, End int64 // [Start, End) in µs
	Anchor     int64 // number of the anchor at its start in a stream; 0 if none
	Measure    bool  // recorded by the page, with performance.measure
}

// sourceRank is the order of precedence of streams in DevTools: the browser's own tracing first,
// then an inspector, then any other.
func sourceRank(source string) int {
	switch source {
	case "Internal":
		return 0
	case "Inspector":
		return 1
	}
	return 2
}

// Best returns the index of the stream that represents the thread, selected like in Chrome
// DevTools, or -1 if no stream has a sample.
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

// Chosen returns the indexes of the streams that represent the thread, in time order: the stream of
// [Thread.Best], and every other that overlaps no chosen stream, in the order of preference of
// Best. So of two consecutive profiles both are chosen, and of two concurrent ones only one.
// Streams for which fits returns false are ignored; a nil fits accepts all. A stream extends from
// its first sample to its last.
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
	Stream *Stream // nil if there are only events
	Events []Event // see [Thread]
}

// Parts returns the streams with these indexes, each with the events of its time. The streams must
// be consecutive, like those of [Thread.Chosen]. The thread is cut in the middle of the gap between
// two streams. An event that crosses a cut becomes two adjacent events, so it contains the
// functions of both streams and no time counts twice. The last sample of a stream covers no time of
// the next one. Without streams all events are one part. Parts returns a [TooManyCallsError] for
// more than maxCuts cuts through events.
func (t *Thread) Parts(streams []int) ([]Part, error) {
	if len(streams) == 0 {
		return []Part{{Events: t.Events}}, nil
	}
	if len(streams) == 1 {
		return []Part{{&t.Streams[streams[0]], t.Events}}, nil
	}
	parts := make([]Part, len(streams))
	rest := t.Events
	var longer []Event // remainders of events beyond the last cut
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

// maxCuts is the maximum number of times that events are cut in two. Few events last beyond a
// stream, but each of a million could last beyond each of a thousand.
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

// Covered returns the time that the events of a thread cover, in µs.
func Covered(events []Event) int64 {
	var sum int64
	end := int64(math.MinInt64)
	for _, e := range events {
		if e.Start >= end { // not nested in the one before
			sum += e.End - e.Start
		}
		end = max(end, e.End)
	}
	return sum
}

// ShowIdle returns t with a frame for the time in which the thread was idle according to markers.
// Otherwise idle time is not part of a profile.
func (t *Trace) ShowIdle() *Trace {
	out := new(Trace)
	*out = *t // everything except the tables
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
