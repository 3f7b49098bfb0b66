package output

import (
	"fmt"

	"github.com/fieldtrie/fieldtrie/trie"
)

// MadeOf says in words what a profile was made of: page views and traces, or the profiles of a recording, which has no page
// views. It is "" if that is not known.
func MadeOf(c trie.Coverage) string {
	switch {
	case c.Views != 0:
		return counted(c.Views, "page view") + ", " + counted(c.Traces, "trace")
	case c.Traces != 0:
		return counted(c.Traces, "profile")
	}
	return ""
}

func counted(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// WorthSaying is the share of the time, from 0 to 1, that people are told of if it was not sampled.
const WorthSaying = 0.02
