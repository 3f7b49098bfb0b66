package collect

import (
	"net/http"

	"github.com/fieldtrie/fieldtrie/trie"
)

// What a trace may claim of time, in µs. The browser script sends a chunk a minute, and
// 60,000 samples, the most of a trace, are ten minutes at 10 ms; nothing that a browser
// records comes near these. A page view may claim as much as one trace, and the time since its
// first trace came: see viewTimes.
const (
	maxInterval  = 60_000_000
	maxTraceTime = 600_000_000    // that the samples speak for
	maxTraceSpan = 86_400_000_000 // from the first sample to the last: times without samples add up to no time of functions
)

// maxGap is how many intervals a sample speaks for at most: in a longer gap nothing was sampled.
const maxGap = 3

// believe refuses a trace with an interval that can not be, and cuts off what its samples
// claim beyond what one trace can have. claim returns how much of some µs the page view may
// claim. It reports whether something was cut off.
func believe(t *trie.Trace, claim func(us int64) int64) (cut bool, err error) {
	if us := t.Context.Interval; us > maxInterval {
		return false, refuse(http.StatusUnprocessableEntity, "invalid",
			"invalid: context.interval: %d µs: up to %d can be", us, maxInterval)
	}
	n, spoken := believable(t, maxTraceTime)
	claimed := claim(spoken)
	if claimed < spoken {
		n, _ = believable(t, claimed)
	}
	if n < len(t.Samples) {
		t.Samples, cut = t.Samples[:n], true
	}
	if n > 0 && t.Gapless {
		if end := max(t.Samples[n-1].Time, min(t.End, t.Samples[0].Time+claimed)); end != t.End {
			t.End, cut = end, true
		}
	}
	return cut, nil
}

// believable returns how many of the samples can be believed, from the first on, if they may
// speak for most µs, and for how many they do.
func believable(t *trie.Trace, most int64) (n int, spoken int64) {
	for i, s := range t.Samples {
		gap := int64(0)
		if i > 0 {
			gap = s.Time - t.Samples[i-1].Time
		}
		if !t.Gapless {
			gap = min(gap, maxGap*int64(t.Context.Interval))
		}
		if spoken+gap > most || s.Time-t.Samples[0].Time > maxTraceSpan {
			if t.Gapless { // the stack before goes on until then
				spoken = most
			}
			return i, spoken
		}
		spoken += gap
	}
	if n = len(t.Samples); t.Gapless && n > 0 {
		spoken = min(spoken+max(t.End-t.Samples[n-1].Time, 0), most)
	}
	return n, spoken
}
