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

// Script continues a sentence about the JavaScript of page views with the time of the profiling script, own µs, which is none of it. text is that time in
// ms.
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

// WorthSaying is the unsampled share of time, from 0 to 1, from which on people are told about it.
const WorthSaying = 0.02

// Lacks reports whether people are told what a mean likely is with what it lacks since samples are missing.
func Lacks(mean, likely, unsampled float64) bool {
	return unsampled >= WorthSaying || math.Abs(likely-mean) >= WorthSaying*mean && mean > 0
}
