package collect

import (
	"net/http"

	"github.com/fieldtrie/fieldtrie/trie"
)

// What a trace may claim of time, in µs. The browser script sends a chunk a minute, and
// 60,000 samples, the most of a trace, are ten minutes at 10 ms; nothing that a browser
// records comes near these. One view more in a mean of a thousand that claims all of it moves
// the mean by 0.6 s.
const (
	maxInterval  = 60_000_000
	maxTraceTime = 600_000_000    // that the samples speak for
	maxTraceSpan = 86_400_000_000 // from the first sample to the last: times without samples add up to no time of functions
)

// maxGap is how many intervals a sample speaks for at most: in a longer gap nothing was sampled.
const maxGap = 3

// believe refuses a trace with an interval that can not be, and cuts off what its samples
// claim beyond what one trace can have. It reports whether it cut something off.
func believe(t *trie.Trace) (cut bool, err error) {
	if us := t.Context.Interval; us > maxInterval {
		return false, refuse(http.StatusUnprocessableEntity, "invalid", "invalid: context.interval: %d µs: up to %d can be", us, maxInterval)
	}
	n := believable(t)
	if n < len(t.Samples) {
		t.Samples, cut = t.Samples[:n], true
	}
	if n > 0 && t.Gapless {
		if end := max(t.Samples[n-1].Time, min(t.End, t.Samples[0].Time+maxTraceTime)); end != t.End {
			t.End, cut = end, true
		}
	}
	return cut, nil
}

// believable returns how many of the samples can be believed, from the first on.
func believable(t *trie.Trace) int {
	spoken := int64(0) // by the samples so far
	for i, s := range t.Samples {
		if i == 0 {
			continue
		}
		gap := s.Time - t.Samples[i-1].Time
		if !t.Gapless {
			gap = min(gap, maxGap*int64(t.Context.Interval))
		}
		if spoken += gap; spoken > maxTraceTime || s.Time-t.Samples[0].Time > maxTraceSpan {
			return i
		}
	}
	return len(t.Samples)
}
