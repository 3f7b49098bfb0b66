package output

import (
	"fmt"
	"math"

	"github.com/fieldtrie/fieldtrie/trie"
)

// MadeOf describes the content of a profile: page views and traces, or profiles of a recording,
// which has no page views. It is "" if unknown.
func MadeOf(c trie.Coverage) string {
	switch {
	case c.Views != 0:
		return counted(c.Views, "page view") + ", " + counted(c.Traces, "trace")
	case c.Traces != 0:
		return counted(c.Traces, "profile")
	}
	return ""
}

// Script returns the end of a sentence about the JavaScript of page views: the time of the
// profiling script, own µs, which is not included in it. text is that time in ms.
func Script(own int64, text string) string {
	if own <= 0 {
		return ""
	}
	return ", " + text + " ms of the profiling script"
}

func counted(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// WorthSaying is the unsampled share of time, from 0 to 1, above which texts mention it.
const WorthSaying = 0.02

// Lacks reports whether texts mention the likely mean, which includes the time of missing samples.
func Lacks(mean, likely, unsampled float64) bool {
	return unsampled >= WorthSaying || math.Abs(likely-mean) >= WorthSaying*mean && mean > 0
}
