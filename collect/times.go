package collect

import (
	"net/http"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Upper bounds of time in a trace, in µs. The browser script sends a chunk a minute, and the
// maximum of 60,000 samples of a trace are ten minutes at 10 ms, so no real recording comes near
// these bounds. A page view may claim the time of one trace plus the time since its first trace,
// see viewTimes.
const (
	maxInterval  = 60_000_000
	maxTraceTime = 600_000_000    // that the samples cover
	maxTraceSpan = 86_400_000_000 // from the first to the last sample: time without samples counts for no function
)

// maxGap is the maximum number of intervals that a sample covers: nothing was sampled in a longer
// gap.
const maxGap = 3

// believe refuses a trace with an impossible interval, and drops samples that claim more time than
// a trace can have. claim returns how many of the given µs the page view may claim. believe reports
// whether it dropped samples.
func believe(t *trie.Trace, claim func(us int64) int64) (cut bool, err error) {
	if us := t.Context.Interval; us > maxInterval {
		return false, refuse(http.StatusUnprocessableEntity, "invalid",
			"invalid: context.interval: %d µs is over the limit of %d", us, maxInterval)
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

// believable returns the number n of leading samples that together cover at most most µs, and how
// many µs they cover.
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
			if t.Gapless { // the stack before lasts until then
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
