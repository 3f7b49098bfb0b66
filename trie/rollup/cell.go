package rollup

import (
	"slices"
	"strconv"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Labels that records distinguish. All other labels exist only in traces.
const (
	KeyRelease     = "release"
	KeyEnvironment = "environment"
	KeyPhase       = "phase"
	KeyVisibility  = "visibility"
	KeyFeature     = "feature" // may occur several times
	KeyDevice      = "device"
	KeyBrowser     = "browser"
	KeyConnection  = "connection"
	// KeyNavigation is a label of Web Vitals only: [NavigationSoft], or missing for a document.
	KeyNavigation = "navigation"
	// KeyArm is a label of Web Vitals only: the arm of the experiment that the sampling decision of
	// each page view is: [ArmProfiled], [ArmHeader] or [ArmNone]. Page views of browsers without a
	// profiler have none.
	KeyArm = "arm"
	// KeyElement is a label of Web Vitals only: the element of the page that determined the value.
	// For LCP it is like "image img#hero" or "text h1", for INP like the label interaction,
	// "pointer button#save", and for CLS the element moved by the largest layout shift. It is
	// missing if the element is unknown.
	KeyElement = "element"
)

// Arms. The sampling decision alone determines the arm, whatever the outcome.
const (
	ArmProfiled = "profiled" // selected for profiling
	ArmHeader   = "header"   // not selected, but the document allows a profiler
	ArmNone     = "none"     // not selected by the server, which sends the header only to selected views
)

// NavigationSoft is the value of [KeyNavigation] for route changes within a document, with their
// own Largest Contentful Paint and INP, and no Time to First Byte.
const NavigationSoft = "soft"

// Level determines which labels a record distinguishes. The record sums over all others.
type Level uint8

const (
	// Narrow has release, environment, phase, visibility and features, which is enough for most
	// queries.
	Narrow Level = iota
	// Wide has all labels that records distinguish.
	Wide
	// Details has functions and outcomes, which are not kept by label.
	Details
	// Whole is Wide and Details together.
	Whole
)

// Has reports whether l distinguishes key.
func (l Level) Has(key string) bool {
	switch key {
	case KeyRelease, KeyEnvironment, KeyPhase, KeyVisibility, KeyFeature:
		return true
	case KeyDevice, KeyBrowser, KeyConnection:
		return l != Narrow
	}
	return false
}

// project returns labels without those that l does not distinguish. Both are sorted.
func (l Level) project(labels trie.Labels) trie.Labels {
	var out trie.Labels
	for _, x := range labels {
		if l.Has(x.Key) || x.Key == trie.FrameOther {
			out = append(out, x)
		}
	}
	return out
}

// otherLabels returns the labels of data over the limits.
func otherLabels() trie.Labels { return trie.Labels{{Key: trie.FrameOther, Value: trie.FrameOther}} }

// foldWide returns l with (other) as the value of each label that Narrow does not distinguish.
func foldWide(l trie.Labels) trie.Labels {
	return fold(l, func(key string) bool { return !Narrow.Has(key) })
}

// FoldElement returns labels of a [Vital] with (other) as its element, if it has one.
func FoldElement(l trie.Labels) trie.Labels {
	return fold(l, func(key string) bool { return key == KeyElement })
}

// fold returns l with (other) as the value of labels for which folds returns true.
func fold(l trie.Labels, folds func(key string) bool) trie.Labels {
	out := slices.Clone(l)
	for i := range out {
		if folds(out[i].Key) {
			out[i].Value = trie.FrameOther
		}
	}
	return out
}

// OfVitals reports whether only Web Vitals have the label key.
func OfVitals(key string) bool { return slices.Contains(vitalKeys(), key) }

// vitalKeys returns the labels that only Web Vitals have, in addition to Wide.
func vitalKeys() []string { return []string{KeyArm, KeyElement, KeyNavigation} }

// cell is a cell under construction.
type cell struct {
	labels trie.Labels
	Silence
	dists []int // distributions that include a view with time in the cell
}

// Silence is the time without a stack, in µs. Truncated counts samples whose stack the browser cut
// off.
//
// Likely estimates how much more JavaScript ran than the weights show, in µs. If samples are
// missing between two samples that are more than two intervals apart, it assumes that half of the
// time was like the first and half like the second. A sample has the time after it for up to three
// intervals, but a busy device delays samples while something runs, so the time before a sample is
// as informative. In experiments with known times this estimate is off by a few percent where the
// weights are off by tens of percent, see docs/benchmarks.md.
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

// appendLabelsKey appends a text that is equal only for equal labels.
func appendLabelsKey(dst []byte, l trie.Labels) []byte {
	for _, x := range l {
		dst = append(strconv.AppendInt(dst, int64(len(x.Key)), 10), ':')
		dst = append(dst, x.Key...)
		dst = append(strconv.AppendInt(dst, int64(len(x.Value)), 10), ':')
		dst = append(dst, x.Value...)
	}
	return dst
}

// baseOf returns the labels of l that rarely change during a page view.
func baseOf(l trie.Labels) trie.Labels {
	var out trie.Labels
	for _, x := range l {
		if x.Key != KeyFeature && x.Key != KeyPhase && x.Key != KeyVisibility {
			out = append(out, x)
		}
	}
	return out
}

// BaseLabels returns the labels of a page view with the context c that rarely change during it.
// Distributions are kept by these labels.
func BaseLabels(c *trie.Context) trie.Labels { return baseOf(CellLabels(trie.Slice{}, c)) }
