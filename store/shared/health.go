package shared

import (
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/store/bucket"
)

// Counters are what a machine has done since its start, and how it is.
type Counters struct {
	Segments, SegmentBytes uint64 // that it stored
	Traces                 uint64 // in them
	Refused                uint64 // traces that could not be stored
	QueuedTraces           int
	QueuedBytes            int64
	Spooled                uint64 // segments that went to the spool
	SpoolSegments          int    // that are in it
	SpoolBytes             int64

	Requests               bucket.Requests
	CacheHits, CacheMisses uint64 // parts of objects that questions read, from the cache and from the store

	RolledUp, Duplicates, Unreadable uint64 // rows that it rolled up, dropped, and could not read
	LostRaces                        uint64 // for manifests
	DroppedCounts                    uint64 // page views without a trace, and Web Vitals of page views, that found no room
	BadSegments                      uint64 // that it set aside

	Shards      int             // that it rolls up
	Lags        []time.Duration // how old the oldest segment is that each shard has to roll up
	Waiting     []int           // how many segments each has to roll up
	Open        []time.Duration // for how long the oldest hour of each has been over and is not closed
	Lost        int             // shards whose manifest is lost
	Silent      time.Duration   // since the store answered last
	ClockOffset time.Duration   // how far the clock of the store is ahead of that of this machine
}

// Counters returns what the machine has done.
func (n *Node) Counters() Counters {
	c := Counters{
		Segments: n.did.segments.Load(), SegmentBytes: n.did.bytes.Load(), Traces: n.did.traces.Load(), Refused: n.did.refused.Load(),
		RolledUp: n.did.rolled.Load(), Duplicates: n.did.duplicates.Load(), Unreadable: n.did.unreadable.Load(), LostRaces: n.did.lost.Load(), BadSegments: n.did.setAside.Load(),
		Shards: n.led(), Lags: n.lags(),
	}
	c.Waiting, c.Open, c.Lost = n.shardHealth()
	c.Spooled = n.did.spooled.Load()
	c.SpoolSegments, c.SpoolBytes = n.spool.size()
	c.Requests, c.CacheHits, c.CacheMisses = n.b.Requests(), n.cache.hits.Load(), n.cache.misses.Load()
	c.Silent = n.silent()
	c.ClockOffset, _, _ = n.b.Clock().Offset()
	n.writing.mu.Lock()
	defer n.writing.mu.Unlock()
	c.QueuedTraces, c.QueuedBytes, c.DroppedCounts = n.queuedTraces, n.queuedBytes, n.counting.dropped
	return c
}

// lags returns how old the oldest segment is that the shards have to roll up, as far as that is known.
func (n *Node) lags() []time.Duration {
	out := make([]time.Duration, n.shards)
	now := n.Now()
	n.Reader.mu.Lock()
	defer n.Reader.mu.Unlock()
	if n.listing == nil {
		return out
	}
	for shard := range out {
		m := n.states[shard].m
		for _, s := range n.listing.list {
			if m != nil && !m.has(s.segmentName) {
				out[shard] = max(out[shard], now.Sub(s.modified))
			}
		}
	}
	return out
}

// shardHealth returns how many segments each shard has to roll up, for how long its oldest hour that is not closed has been
// over, and how many have lost their manifest.
func (n *Node) shardHealth() (waiting []int, open []time.Duration, lost int) {
	waiting, open = make([]int, n.shards), make([]time.Duration, n.shards)
	now := n.Now()
	n.Reader.mu.Lock()
	defer n.Reader.mu.Unlock()
	for shard := range n.shards {
		if n.Reader.lost[shard] != nil {
			lost++
		}
		m := n.states[shard].m
		if m == nil {
			continue
		}
		if n.listing != nil {
			for _, s := range n.listing.list {
				if !m.has(s.segmentName) {
					waiting[shard]++
				}
			}
		}
		for name, h := range m.Hours {
			if start, err := parseHour(name); err == nil && !h.Sealed {
				open[shard] = max(open[shard], now.Sub(start.Add(time.Hour)))
			}
		}
	}
	return waiting, open, lost
}

// Bounds of what is well.
const (
	maxSilence = 30 * time.Second
	maxOffset  = 10 * time.Minute
)

// Unready returns why traces are not taken for the moment, or should not be: the store does not answer, a manifest is
// lost, or the clocks of the machine and of the store are far apart.
func (n *Node) Unready() error {
	if offset, _, ok := n.b.Clock().Offset(); ok && offset.Abs() > maxOffset {
		return fmt.Errorf("the clock of this machine and that of %s differ by %v; set this one right", n.b.Location(), offset.Abs().Round(time.Second))
	}
	if err := n.anyLost(); err != nil {
		return err
	}
	if n.spool != nil {
		return nil // traces are taken all the same
	}
	if silent := n.silent(); silent > maxSilence {
		return fmt.Errorf("%s has not answered for %v", n.b.Location(), silent.Round(time.Second))
	}
	return nil
}

// silent returns how long the store has not answered.
func (n *Node) silent() time.Duration {
	last := n.b.Clock().Heard()
	if last.IsZero() {
		return 0 // it was not asked
	}
	return n.b.Clock().Local().Sub(last)
}
