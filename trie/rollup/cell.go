package rollup

import (
	"slices"
	"strconv"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Labels that records keep apart. All others are in the traces alone.
const (
	KeyRelease     = "release"
	KeyEnvironment = "environment"
	KeyPhase       = "phase"
	KeyVisibility  = "visibility"
	KeyFeature     = "feature" // may stand several times
	KeyDevice      = "device"
	KeyBrowser     = "browser"
	KeyConnection  = "connection"
	// KeyNavigation is for Web Vitals alone: [NavigationSoft] or none, which is that of a document.
	KeyNavigation = "navigation"
)

// NavigationSoft is the value of [KeyNavigation] for changes of route within a document, which have a Largest Contentful Paint
// and an INP of their own and no Time to First Byte.
const NavigationSoft = "soft"

// Level says which labels a record keeps apart. What a record has no more it has summed up.
type Level uint8

const (
	// Narrow has release, environment, phase, visibility and features: most questions are
	// about these.
	Narrow Level = iota
	// Wide has all labels that records keep apart.
	Wide
	// Details has the functions and outcomes, which are not kept by labels.
	Details
	// Whole is Wide and Details: all that is known.
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

// project returns labels without those that l has not. Both are sorted.
func (l Level) project(labels trie.Labels) trie.Labels {
	var out trie.Labels
	for _, x := range labels {
		if l.Has(x.Key) || x.Key == trie.FrameOther {
			out = append(out, x)
		}
	}
	return out
}

// otherLabels are those of what there was no room for.
func otherLabels() trie.Labels { return trie.Labels{{Key: trie.FrameOther, Value: trie.FrameOther}} }

// foldWide returns l with (other) for the values of the labels that Narrow has not.
func foldWide(l trie.Labels) trie.Labels {
	out := slices.Clone(l)
	for i := range out {
		if !Narrow.Has(out[i].Key) {
			out[i].Value = trie.FrameOther
		}
	}
	return out
}

// cell is a cell in the making.
type cell struct {
	labels trie.Labels
	Silence
	dists []int // distributions that a view with time in the cell takes part in
}

// Silence is what is known beside stacks. All values are in µs, but Truncated, which
// counts samples whose stack the browser cut off.
type Silence struct {
	Stackless, Idle, Unsampled, Truncated int64
}

func (s *Silence) add(o Silence, sign int64) {
	s.Stackless += sign * o.Stackless
	s.Idle += sign * o.Idle
	s.Unsampled += sign * o.Unsampled
	s.Truncated += sign * o.Truncated
}

// CellLabels returns the labels of the cell that a slice of a trace with the context c
// belongs to. A label of the slice holds instead of one of the context.
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

// baseOf returns the labels of l that do not change during a page view, as a rule.
func baseOf(l trie.Labels) trie.Labels {
	var out trie.Labels
	for _, x := range l {
		if x.Key != KeyFeature && x.Key != KeyPhase && x.Key != KeyVisibility {
			out = append(out, x)
		}
	}
	return out
}

// BaseLabels returns the labels of a page view with the context c that do not change during
// it, as a rule: those by which distributions are kept.
func BaseLabels(c *trie.Context) trie.Labels { return baseOf(CellLabels(trie.Slice{}, c)) }
