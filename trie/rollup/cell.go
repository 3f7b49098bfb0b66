package rollup

import (
	"slices"
	"strconv"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Labels that records keep apart. All others exist only in the traces.
const (
	KeyRelease     = "release"
	KeyEnvironment = "environment"
	KeyPhase       = "phase"
	KeyVisibility  = "visibility"
	KeyFeature     = "feature" // may occur several times
	KeyDevice      = "device"
	KeyBrowser     = "browser"
	KeyConnection  = "connection"
	// KeyNavigation is the label of Web Vitals alone: [NavigationSoft], or none for a document.
	KeyNavigation = "navigation"
	// KeyArm is the label of Web Vitals alone that says in which arm of the experiment the page view is that every draw of
	// who is profiled is: [ArmProfiled], [ArmHeader] or [ArmNone]; page views of browsers without a profiler have none.
	KeyArm = "arm"
	// KeyElement is the label of Web Vitals alone that says which element of the page they are of: that of LCP as "image img#hero" or
	// "text h1", that of INP as the label interaction has it, "pointer button#save", and the one that the largest layout shift moved. A Web
	// Vital without it is not known to be of one.
	KeyElement = "element"
)

// The arms: a page view is in one by the draw, whatever became of it.
const (
	ArmProfiled = "profiled" // drawn to be profiled
	ArmHeader   = "header"   // not drawn, but the document allows a profiler
	ArmNone     = "none"     // not drawn by the server, which sends the header to those that are
)

// NavigationSoft is the value of [KeyNavigation] for changes of route within a document, with their
// own Largest Contentful Paint and INP, and no Time to First Byte.
const NavigationSoft = "soft"

// Level says which labels a record keeps apart. The record sums over all others.
type Level uint8

const (
	// Narrow has release, environment, phase, visibility and features: most queries use only these.
	Narrow Level = iota
	// Wide has all labels that records keep apart.
	Wide
	// Details has the functions and outcomes, which are not kept by label.
	Details
	// Whole is Wide and Details together.
	Whole
)

// Has reports whether l keeps key apart.
func (l Level) Has(key string) bool {
	switch key {
	case KeyRelease, KeyEnvironment, KeyPhase, KeyVisibility, KeyFeature:
		return true
	case KeyDevice, KeyBrowser, KeyConnection:
		return l != Narrow
	}
	return false
}

// project returns labels without those that l lacks. Both are sorted.
func (l Level) project(labels trie.Labels) trie.Labels {
	var out trie.Labels
	for _, x := range labels {
		if l.Has(x.Key) || x.Key == trie.FrameOther {
			out = append(out, x)
		}
	}
	return out
}

// otherLabels are the labels of data that found no room.
func otherLabels() trie.Labels { return trie.Labels{{Key: trie.FrameOther, Value: trie.FrameOther}} }

// foldWide returns l with (other) as the value of each label that Narrow lacks.
func foldWide(l trie.Labels) trie.Labels {
	return fold(l, func(key string) bool { return !Narrow.Has(key) })
}

// FoldElement returns labels of a [Vital] with (other) as its element, if it has one.
func FoldElement(l trie.Labels) trie.Labels {
	return fold(l, func(key string) bool { return key == KeyElement })
}

// fold returns l with (other) as the value of the labels with some keys.
func fold(l trie.Labels, folds func(key string) bool) trie.Labels {
	out := slices.Clone(l)
	for i := range out {
		if folds(out[i].Key) {
			out[i].Value = trie.FrameOther
		}
	}
	return out
}

// OfVitals reports whether a key is one that Web Vitals alone have.
func OfVitals(key string) bool { return slices.Contains(vitalKeys(), key) }

// vitalKeys are the labels that Web Vitals alone have, beside those of Wide.
func vitalKeys() []string { return []string{KeyArm, KeyElement, KeyNavigation} }

// cell is a cell under construction.
type cell struct {
	labels trie.Labels
	Silence
	dists []int // distributions that a view with time in the cell takes part in
}

// Silence is the time without a stack, in µs. Truncated counts samples whose stack the browser cut
// off.
//
// Likely is how much more JavaScript there was than the weights have, in µs, if it is taken that between two samples that are more than two intervals
// apart, where others are missing, half of the time was like the one and half like the other. A sample has the time after it for
// up to three intervals, but a busy device delays samples for as long as something runs, so that the time before a sample tells as much of it. In
// experiments with known times this is off by a few percent where the weights are by tens, see docs/benchmarks.md.
type Silence struct {
	Stackless, Idle, Unsampled, Truncated, Likely int64
}

func (s *Silence) add(o Silence, sign int64) {
	s.Stackless += sign * o.Stackless
	s.Idle += sign * o.Idle
	s.Unsampled += sign * o.Unsampled
	s.Truncated += sign * o.Truncated
	s.Likely += sign * o.Likely
}

// CellLabels returns the cell labels of a slice of a trace with the context c. A label of the slice
// overrides one of the context.
func CellLabels(slice trie.Slice, c *trie.Context) trie.Labels {
	l := make(trie.Labels, 0, len(slice.Features)+7)
	add := func(key, value string) {
		if value != "" {
			l = append(l, trie.Label{Key: key, Value: value})
		}
	}
	for _, key := range [...]string{KeyBrowser, KeyConnection, KeyDevice} {
		add(key, valueOf(slice, c, key))
	}
	add(KeyEnvironment, c.Environment)
	for _, f := range slice.Features {
		add(KeyFeature, f)
	}
	add(KeyPhase, valueOf(slice, c, KeyPhase))
	add(KeyRelease, c.Release)
	add(KeyVisibility, valueOf(slice, c, KeyVisibility))
	return l
}

func valueOf(slice trie.Slice, c *trie.Context, key string) string {
	if v := slice.Labels.Value(key); v != "" {
		return v
	}
	return c.Labels.Value(key)
}

// appendLabelsKey appends a text that is equal for equal labels only.
func appendLabelsKey(dst []byte, l trie.Labels) []byte {
	for _, x := range l {
		dst = append(strconv.AppendInt(dst, int64(len(x.Key)), 10), ':')
		dst = append(dst, x.Key...)
		dst = append(strconv.AppendInt(dst, int64(len(x.Value)), 10), ':')
		dst = append(dst, x.Value...)
	}
	return dst
}

// baseOf returns those labels of l that rarely change during a page view.
func baseOf(l trie.Labels) trie.Labels {
	var out trie.Labels
	for _, x := range l {
		if x.Key != KeyFeature && x.Key != KeyPhase && x.Key != KeyVisibility {
			out = append(out, x)
		}
	}
	return out
}

// BaseLabels returns those labels of a page view with the context c that rarely change during it.
// Distributions are kept by them.
func BaseLabels(c *trie.Context) trie.Labels { return baseOf(CellLabels(trie.Slice{}, c)) }
