package trie

import (
	"iter"
	"math"
	"slices"
	"strings"
)

// Slice is a time range of a trace on one page with one set of active features and one set of
// labels.
type Slice struct {
	Start, End int64    // [Start, End) in µs since the page's time origin
	Page       string   // the page shown
	Features   []string // sorted, each once; nil if none was active
	// Labels are the labels of label spans, sorted by key, each key once; nil if there are none.
	// They override labels of the context with the same key.
	Labels Labels
}

// Slices cuts the time of t at the bounds of its spans. The slices are in time order, do not
// overlap and cover all time, so a trace without spans is one slice. A feature that overlaps itself
// counts once. Where labels with the same key overlap, the label that began last applies; if
// several began together, the last in the order of spans.
func (t *Trace) Slices() []Slice { return t.appendSlices(nil) }

func (t *Trace) appendSlices(out []Slice) []Slice {
	c := &t.Context
	if len(c.Spans) == 0 {
		return append(out, Slice{Start: math.MinInt64, End: math.MaxInt64, Page: c.Page})
	}
	bounds := make([]int64, 0, 2*len(c.Spans)+2)
	bounds = append(bounds, math.MinInt64, math.MaxInt64)
	for _, s := range c.Spans {
		bounds = append(bounds, s.Start, s.End())
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)

	var open []Span // spans that began and may not have ended
	next := 0       // the first span that has not begun
	for i, start := range bounds[:len(bounds)-1] {
		open = slices.DeleteFunc(open, func(s Span) bool { return s.End() <= start })
		for ; next < len(c.Spans) && c.Spans[next].Start <= start; next++ {
			if c.Spans[next].End() > start {
				open = append(open, c.Spans[next])
			}
		}
		out = append(out, sliceOf(start, bounds[i+1], c.Page, open))
	}
	return joinSlices(out)
}

// sliceOf returns the slice [start, end), in which the spans in open are active, in their order.
func sliceOf(start, end int64, page string, open []Span) Slice {
	s := Slice{Start: start, End: end, Page: page}
	for _, o := range slices.Backward(open) { // the label that applies comes first
		switch o.Kind {
		case SpanPage:
			s.Page = o.Name
		case SpanFeature:
			s.Features = append(s.Features, o.Name)
		case SpanLabel:
			s.Labels = append(s.Labels, o.Label())
		}
	}
	slices.Sort(s.Features)
	s.Features = slices.Compact(s.Features)
	slices.SortStableFunc(s.Labels, func(a, b Label) int { return strings.Compare(a.Key, b.Key) })
	s.Labels = slices.CompactFunc(s.Labels, func(a, b Label) bool { return a.Key == b.Key })
	return s
}

// joinSlices joins neighbours that differ only in time.
func joinSlices(s []Slice) []Slice {
	out := s[:1]
	for _, x := range s[1:] {
		last := &out[len(out)-1]
		if last.Page == x.Page && slices.Equal(last.Features, x.Features) && slices.Equal(last.Labels, x.Labels) {
			last.End = x.End
		} else {
			out = append(out, x)
		}
	}
	return out
}

// Pages returns the pages on which t has time, sorted. It is never empty: a trace without samples
// counts for the page on which it began.
func (t *Trace) Pages() []string {
	from, to := t.covered()
	var pages []string
	for _, s := range t.Slices() {
		if s.Start < to && s.End > from {
			pages = append(pages, s.Page)
		}
	}
	slices.Sort(pages)
	return slices.Compact(pages)
}

// Features returns the features of t that are active on page, sorted.
func (t *Trace) Features(page string) []string {
	from, to := t.covered()
	var features []string
	for _, s := range t.Slices() {
		if s.Page == page && s.Start < to && s.End > from {
			features = append(features, s.Features...)
		}
	}
	slices.Sort(features)
	return slices.Compact(features)
}

// covered returns the time [from, to) that the samples of t cover. It is never empty.
func (t *Trace) covered() (from, to int64) {
	if len(t.Samples) == 0 {
		return 0, 1
	}
	from, last := t.Samples[0].Time, t.Samples[len(t.Samples)-1].Time
	if t.Gapless {
		return from, max(t.End, last+1)
	}
	return from, last + max(int64(t.Context.Interval), 1)
}

// maxGap is the maximum number of intervals that a sample covers. A longer gap means that the
// browser took no samples, not that the stack stayed the same.
const maxGap = 3

// sampleRange is the time that one sample covers: [start, clip) belongs to its stack, [clip, end)
// is unsampled.
type sampleRange struct {
	start, clip, end int64
	counts           bool // not the repeat of a burst
}

// sampleRanges yields the range of every sample of t. A sample covers the time to the next sample,
// the last one an interval; time beyond maxGap intervals is unsampled. A sample counts if it comes
// at least half an interval after the last that counted: browsers add samples in bursts, thousands
// within one interval. For a gapless trace see [Trace].
func (t *Trace) sampleRanges() iter.Seq2[int, sampleRange] {
	return func(yield func(int, sampleRange) bool) {
		interval := int64(t.Context.Interval)
		var counted int64
		for i := range t.Samples {
			start := t.Samples[i].Time
			s := sampleRange{start: start, end: start + interval}
			switch {
			case i+1 < len(t.Samples):
				s.end = t.Samples[i+1].Time
			case t.Gapless:
				s.end = t.End
			}
			s.clip = min(s.end, start+maxGap*interval)
			if t.Gapless {
				s.clip = s.end
			}
			if t.Gapless || i == 0 || start-counted >= (interval+1)/2 {
				s.counts, counted = true, start
			}
			if !yield(i, s) {
				return
			}
		}
	}
}

// Unsampled yields the times [start, end) (µs since the page's time origin) between the samples of
// t in which the browser took none, in order. What ran in them is unknown.
func (t *Trace) Unsampled() iter.Seq2[int64, int64] {
	return func(yield func(start, end int64) bool) {
		for _, s := range t.sampleRanges() {
			if s.clip < s.end && !yield(s.clip, s.end) {
				return
			}
		}
	}
}

// overlap returns how much of [start, end) is in s.
func (s *Slice) overlap(start, end int64) int64 {
	return max(0, min(end, s.End)-max(start, s.Start))
}

// sliceFrom returns the index of the slice that contains time, which must not be before slice i.
func sliceFrom(s []Slice, i int, time int64) int {
	for i+1 < len(s) && s[i+1].Start <= time {
		i++
	}
	return i
}

// Share is the contribution of one sample of a trace to one slice, see [Trace.Shares].
type Share struct {
	Slice  int     // index in the list of slices
	Node   NodeID  // stack of the sample; Root if none
	OnTop  Frame   // synthetic frame on top of Node that gets the time; zero if Node gets it
	Self   int64   // µs
	Gap    int64   // µs in which the browser took no samples
	Counts bool    // the moment of the sample is in the slice, and it is not the repeat of a burst
	Idle   bool    // the main thread was idle
	Silent bool    // there is only a gap, in which unknown code ran
	Next   *Sample // next sample, if more than two intervals later, so that samples are missing; else nil
}

// HasStack reports whether the time belongs to a node.
func (s *Share) HasStack() bool { return s.Node != Root || s.OnTop != Frame{} }

// Shares calls f with the contribution of each sample of t to each of the slices, which must come
// from [Trace.Slices], in time order. [Merger.AddTrace] weighs traces in the same way. The argument
// of f is valid only during the call.
func (t *Trace) Shares(slices []Slice, f func(*Share)) {
	var out Share
	at := 0
	for i, s := range t.sampleRanges() {
		sample := &t.Samples[i]
		out = Share{Node: sample.Node, Idle: sample.Marker == MarkerIdle}
		if i+1 < len(t.Samples) && !t.Gapless && s.end-s.start > 2*int64(t.Context.Interval) {
			out.Next = &t.Samples[i+1]
		}
		out.OnTop = sample.OnTop()
		at = sliceFrom(slices, at, s.start)
		for k := at; k < len(slices) && (k == at || slices[k].Start < s.end); k++ {
			out.Slice = k
			out.Self, out.Gap = slices[k].overlap(s.start, s.clip), slices[k].overlap(s.clip, s.end)
			out.Counts = s.counts && k == at
			out.Silent = out.Self == 0 && k != at
			f(&out)
		}
	}
}

// OnTop returns the synthetic frame on top of the sample's node that gets its time, or zero if the
// node gets it.
func (s *Sample) OnTop() Frame {
	if frame, onTop := s.Marker.synthetic(s.Node != Root); onTop {
		return frame
	}
	return Frame{}
}

// SlicesInUse returns [Trace.Slices] of t, in the memory of s, and for each slice whether the
// samples of t cover some of it, in the memory of used. A trace without samples counts for the page
// on which it began.
func (t *Trace) SlicesInUse(s []Slice, used []bool) ([]Slice, []bool) {
	s, used = t.appendSlices(s[:0]), used[:0]
	from, end := t.covered()
	for i := range s {
		used = append(used, s[i].Start < end && s[i].End > from)
	}
	return s, used
}
