package collect

import (
	"cmp"
	"slices"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// tally is what is counted of a trace once it is stored, and said in the answer.
type tally struct {
	index    int       // of the trace in the batch
	page     string    // that it began on, whether or not there is room for it this hour
	first    bool      // it is the first trace of a page view
	cost     trie.Cost // as the client claims
	profiled int64     // µs that its samples speak for
	marked   bool      // the browser says what it did
	who      client
	id       store.ID
	claimed  int64 // µs that are new for its view
}

// What a client may claim of one trace. Counters never fall again, so one absurd number
// would spoil them until the next start.
const (
	maxWork     = 60_000_000    // µs to start, stop and encode, together
	maxSent     = 64 << 20      // bytes
	maxDropped  = 1_000         // traces
	maxProfiled = 3_600_000_000 // µs
)

// profiledTime returns the time that the samples of t speak for, in µs. A sample speaks
// for three intervals at most, as in a profile: in a longer gap nothing was sampled.
func profiledTime(t *trie.Trace) (us int64) {
	interval := int64(t.Context.Interval)
	for i, s := range t.Samples {
		gap := interval
		if i+1 < len(t.Samples) {
			gap = t.Samples[i+1].Time - s.Time
		}
		us = min(us+min(gap, maxGap*interval), maxProfiled)
	}
	return us
}

// marked reports whether t has markers of the browser. Those that the browser script adds from long animation frames have no stack.
func marked(t *trie.Trace) bool {
	return slices.ContainsFunc(t.Samples, func(s trie.Sample) bool {
		switch s.Marker {
		case trie.MarkerNone, trie.MarkerIdle:
			return false
		case trie.MarkerLayout:
			return s.Node != trie.Root
		}
		return true
	})
}

// count counts the traces of a batch that are new.
func (c *Collector) count(b *batch, duplicates int) {
	repeat := make([]bool, len(b.records)) // of a trace before it in the batch
	seen := map[store.ID]bool{}
	for i, r := range b.records {
		if repeat[i] = seen[r.ID]; repeat[i] {
			duplicates--
		}
		seen[r.ID] = true
	}
	// The store says how many others it had already, and not which. A client that got no
	// answer sends its traces again, and new ones after them, so they are the first.
	// Were it otherwise, the number counted would still be right, and its page not.
	for i, t := range b.tallies {
		switch {
		case repeat[i]:
			c.viewTimes.giveBack(t.id, t.claimed)
		case duplicates > 0:
			duplicates--
			c.viewTimes.giveBack(t.id, t.claimed)
		default:
			c.countTrace(t)
		}
	}
}

func (c *Collector) countTrace(t tally) {
	m := c.metrics
	if t.first {
		c.countView(c.viewPage(t.page, t.who), rollup.OutcomeProfiled, 1)
	}
	left := uint32(maxWork)
	for i, us := range [...]uint32{t.cost.Start, t.cost.Stop, t.cost.Encode} {
		us = min(us, left)
		left -= us
		m.work[i].Add(float64(us) / 1e6)
	}
	m.sent.Add(float64(min(t.cost.Bytes, maxSent)))
	m.dropped.Add(float64(min(t.cost.Dropped, maxDropped)))
	m.profiled.Add(float64(t.profiled) / 1e6)
	if t.marked {
		m.marked.Inc()
	}
}

// labelBrowser is the label with the family and the major version of a browser.
const labelBrowser = "browser"

// addBrowser adds the label browser to those of x unless there is one, or no room.
func addBrowser(x *trie.Context, browser string, most int) {
	i, found := slices.BinarySearchFunc(x.Labels, labelBrowser, func(l trie.Label, key string) int { return cmp.Compare(l.Key, key) })
	if browser != "" && !found && len(x.Labels) < most {
		x.Labels = slices.Insert(x.Labels, i, trie.Label{Key: labelBrowser, Value: browser})
	}
}
