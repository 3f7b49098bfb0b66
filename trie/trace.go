package trie

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// MaxStackDepth is the depth at which Chromium truncates a stack. A deeper stack lacks the frames
// on its root side, so it is wrongly attached to the root.
const MaxStackDepth = 255

// MaxTime bounds every time stamp and span bound, in microseconds either side of zero: 35
// years, so that sums of a few of them cannot overflow.
const MaxTime = 1 << 50

// Marker is the work of the browser when it took a sample. The values are those of the Marker enum
// in the binary format.
type Marker uint8

// Markers from https://wicg.github.io/js-self-profiling/, and MarkerIdle, which the SDK adds.
const (
	MarkerNone   Marker = iota
	MarkerScript        // JavaScript hidden from the profiler
	MarkerGC
	MarkerStyle
	MarkerLayout
	MarkerPaint
	MarkerOther
	MarkerIdle
	markerEnd
)

// markerNames are the names used by browsers.
var markerNames = [markerEnd]string{"", "script", "gc", "style", "layout", "paint", "other", "idle"}

// String returns the marker's name as browsers spell it; "" for MarkerNone.
func (m Marker) String() string {
	if m >= markerEnd {
		return fmt.Sprintf("marker %d", uint8(m))
	}
	return markerNames[m]
}

// ParseMarker returns the marker with a browser's name for it.
func ParseMarker(s string) (Marker, bool) {
	i := slices.Index(markerNames[:], s)
	return Marker(max(i, 0)), i >= 0
}

// Sample is an observation of the main thread.
type Sample struct {
	Time   int64  // µs since the page's time origin
	Node   NodeID // leaf of the stack; Root if none
	Marker Marker
}

// Trace is one recording of one browser: stacks and samples in time order.
type Trace struct {
	Trie
	Samples []Sample // sorted by time; equal times keep the browser's order
	Context Context
	Cost    Cost
	// Gapless means that the sampler sampled everything that the thread did and never paused, like
	// developer tools. A sample covers all the time to the next one, the last one the time to End,
	// and each sample counts. The interval is not needed then.
	Gapless bool
	End     int64 // µs on the clock of the samples; not before the last sample
	// Unknown has fields of the binary format that this version does not know, as read.
	Unknown []byte

	set *Set // the set from which it got its tables
}

// Cost is the cost of profiling in a page view since its previous trace, as measured by
// the SDK. The zero value means not measured.
type Cost struct {
	Start   uint32 // µs of main-thread time for starting the profiler
	Stop    uint32 // µs for stopping it and getting the trace
	Encode  uint32 // µs for encoding since the previous trace, including this one
	Bytes   uint32 // bytes sent, without this trace
	Dropped uint32 // traces dropped because they could not be sent
}

// Context is the origin of a trace.
type Context struct {
	Page          string  // path such as "/feed"; the page outside all page spans
	ViewID        string  // up to 16 bytes that identify the page view; "" if unknown
	Chunk         uint32  // number of this trace in its page view
	TimeOrigin    int64   // µs of the Unix epoch, client's clock
	Interval      uint32  // true sampling interval, µs
	SamplingShare float64 // probability of sampling the page view, in (0, 1]; 0: unknown
	Release       string
	Environment   string
	Labels        Labels // further labels, sorted by key, each key once; label spans override them
	Spans         []Span // sorted by start, length, kind and name
	Unknown       []byte // see Trace.Unknown
}

// SpanKind is the kind of name that a [Span] has.
type SpanKind uint8

// Kinds of spans. The values are those of the binary format.
const (
	SpanPage    SpanKind = iota // a route of a single-page application; these do not overlap
	SpanFeature                 // an active feature; these may overlap
	SpanLabel                   // a label for a time range, named KEY=VALUE; these may overlap
	spanEnd
)

// Span is a time range of a trace.
type Span struct {
	Kind   SpanKind
	Name   string
	Start  int64 // µs since the page's time origin
	Length int64 // µs, not negative
}

// End returns the time at which s ends: it covers [Start, End).
func (s Span) End() int64 { return s.Start + s.Length }

// Label returns the label of a span of kind [SpanLabel].
func (s Span) Label() Label {
	key, value, _ := strings.Cut(s.Name, "=")
	return Label{key, value}
}

func compareSpans(a, b Span) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Length, b.Length),
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}

// SortSamples brings samples into time order and keeps the order of equal times.
func SortSamples(s []Sample) {
	byTime := func(a, b Sample) int { return cmp.Compare(a.Time, b.Time) }
	if !slices.IsSortedFunc(s, byTime) {
		slices.SortStableFunc(s, byTime)
	}
}

// SortSpans brings spans into the order required by [Context].
func SortSpans(s []Span) { slices.SortFunc(s, compareSpans) }

// Validate returns an error if t violates the invariants of its type.
func (t *Trace) Validate() error {
	if err := t.Trie.Validate(); err != nil {
		return err
	}
	for i, s := range t.Samples {
		switch {
		case uint64(s.Node) >= uint64(len(t.Nodes)):
			return fmt.Errorf("sample %d: node %d of %d", i, s.Node, len(t.Nodes))
		case i > 0 && s.Time < t.Samples[i-1].Time:
			return fmt.Errorf("sample %d: earlier than the one before it", i)
		case s.Time < -MaxTime || s.Time > MaxTime:
			return fmt.Errorf("sample %d: time %d µs is out of range", i, s.Time)
		case s.Marker >= markerEnd:
			return fmt.Errorf("sample %d: unknown marker %d", i, s.Marker)
		}
	}
	if n := len(t.Samples); t.Gapless && n > 0 && (t.End < t.Samples[n-1].Time || t.End > MaxTime) {
		return fmt.Errorf("end: %d µs is before the last sample, or out of range", t.End)
	}
	if t.Context.Interval == 0 && len(t.Samples) > 0 && !t.Gapless {
		return fmt.Errorf("context: interval is missing")
	}
	return t.Context.Validate()
}

// Validate returns an error for the first invalid value in c.
func (c *Context) Validate() error {
	switch {
	case len(c.ViewID) > 16:
		return fmt.Errorf("context: view id has %d bytes, the most is 16", len(c.ViewID))
	case math.IsNaN(c.SamplingShare) || c.SamplingShare < 0 || c.SamplingShare > 1:
		return fmt.Errorf("context: sampling share %v is not within 0 to 1", c.SamplingShare)
	case c.TimeOrigin < -1<<62 || c.TimeOrigin > 1<<62:
		return fmt.Errorf("context: time origin %d µs is out of range", c.TimeOrigin)
	}
	if err := c.Labels.validate(); err != nil {
		return fmt.Errorf("context: %w", err)
	}
	for i := range c.Labels {
		if i > 0 && c.Labels[i].Key == c.Labels[i-1].Key {
			return fmt.Errorf("context: duplicate label %q", c.Labels[i].Key)
		}
	}
	pageEnd := int64(math.MinInt64)
	for i, s := range c.Spans {
		switch {
		case s.Kind >= spanEnd:
			return fmt.Errorf("span %d: unknown kind %d", i, s.Kind)
		case s.Name == "":
			return fmt.Errorf("span %d: no name", i)
		case s.Kind == SpanLabel && (s.Label().Key == "" || s.Label().Value == ""):
			return fmt.Errorf("span %d (%q): a label is KEY=VALUE", i, s.Name)
		case s.Start < -MaxTime || s.Start > MaxTime || s.Length < 0 || s.Length > 2*MaxTime:
			return fmt.Errorf("span %d (%q): %d µs for %d µs is out of range", i, s.Name, s.Start, s.Length)
		case i > 0 && compareSpans(s, c.Spans[i-1]) < 0:
			return fmt.Errorf("span %d (%q): out of order", i, s.Name)
		case s.Kind == SpanPage && s.Start < pageEnd:
			return fmt.Errorf("span %d: page %q overlaps the page before it", i, s.Name)
		}
		if s.Kind == SpanPage {
			pageEnd = s.End()
		}
	}
	return nil
}

// Label is a key and a value that describe the origin of weights.
type Label struct{ Key, Value string }

// Labels is a set of labels, sorted by key and value.
type Labels []Label

// MakeLabels returns pairs of key and value as a sorted set.
func MakeLabels(pairs ...string) Labels {
	var l Labels
	for i := 0; i+1 < len(pairs); i += 2 {
		l = append(l, Label{pairs[i], pairs[i+1]})
	}
	return l.Sort()
}

func compareLabels(a, b Label) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
}

// Sort sorts l, removes duplicates and returns it.
func (l Labels) Sort() Labels {
	slices.SortFunc(l, compareLabels)
	return slices.Compact(l)
}

// Value returns the first value of key, or "".
func (l Labels) Value(key string) string {
	for _, x := range l {
		if x.Key == key {
			return x.Value
		}
	}
	return ""
}

func (l Labels) validate() error {
	for i, x := range l {
		if x.Key == "" {
			return fmt.Errorf("label %d has no key", i)
		}
		if i > 0 && compareLabels(l[i-1], x) >= 0 {
			return fmt.Errorf("label %q is out of order or duplicate", x.Key)
		}
	}
	return nil
}
