package collect

import (
	"cmp"
	"slices"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// tally is what to count for a trace once it is stored, and the page for the response.
type tally struct {
	index    int       // of the trace in the batch
	page     string    // the first page, even if it has no place this hour
	first    bool      // it is the first trace of a page view
	cost     trie.Cost // as claimed by the client
	profiled int64     // µs that its samples cover
	marked   bool      // it has markers of the browser
	who      client
	id       store.ID
	claimed  int64 // µs that its view had not claimed before
}

// Upper bounds of what a client may claim for one trace. Counters never decrease, so one absurd
// number would spoil them until the next restart.
const (
	maxWork     = 60_000_000    // µs to start, stop and encode, together
	maxSent     = 64 << 20      // bytes
	maxDropped  = 1_000         // traces
	maxProfiled = 3_600_000_000 // µs
)

// profiledTime returns the time that the samples of t cover, in µs. A sample covers at most three
// intervals, as in a profile: nothing was sampled in a longer gap.
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

// marked reports whether t has markers of the browser. Markers that the browser script derives from
// long animation frames have no stack and do not count.
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

// count updates the metrics for the new traces of a batch.
func (c *Collector) count(b *batch, duplicates int) {
	repeat := make([]bool, len(b.records)) // of an earlier trace in the batch
	seen := map[store.ID]bool{}
	for i, r := range b.records {
		if repeat[i] = seen[r.ID]; repeat[i] {
			duplicates--
		}
		seen[r.ID] = true
	}
	// The store returns the number of duplicates, not which they are. A client that got no response
	// sends its traces again with new ones after them, so the first are the duplicates. If that is
	// wrong, the total is still right, but pages are not.
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

// labelBrowser is the label with the family and major version of a browser.
const labelBrowser = "browser"

// addBrowser adds the label browser to x unless it is present or x has most labels.
func addBrowser(x *trie.Context, browser string, most int) {
	i, found := slices.BinarySearchFunc(x.Labels, labelBrowser, func(l trie.Label, key string) int {
		return cmp.Compare(l.Key, key)
	})
	if browser != "" && !found && len(x.Labels) < most {
		x.Labels = slices.Insert(x.Labels, i, trie.Label{Key: labelBrowser, Value: browser})
	}
}
