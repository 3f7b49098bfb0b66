package roll

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// badSegments are segments that rollers have found damaged, and in how many rounds in a row.
type badSegments struct {
	mu     sync.Mutex
	rounds map[layout.Segment]int
	last   map[layout.Segment]*layout.Listing
}

// quarantineSegmentAfter is in how many rounds a segment must be found damaged before it is quarantined: it may be the way to it that is bad.
const quarantineSegmentAfter = 3

// note notes that a segment of a listing is damaged.
func (b *badSegments) note(l *layout.Listing, s layout.Segment) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rounds == nil {
		b.rounds, b.last = map[layout.Segment]int{}, map[layout.Segment]*layout.Listing{}
	}
	if b.last[s] != l {
		b.rounds[s], b.last[s] = b.rounds[s]+1, l
	}
}

// due returns the segments that are to be quarantined, and forgets those that were not found damaged in this round.
func (b *badSegments) due(l *layout.Listing) (list []layout.Segment) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s, n := range b.rounds {
		switch {
		case b.last[s] != l:
			delete(b.rounds, s)
			delete(b.last, s)
		case n >= quarantineSegmentAfter:
			list = append(list, s)
		}
	}
	return list
}

// quarantineSegments moves damaged segments to where they stop nobody. What shards can read of them is rolled up before.
func (n *Roller) quarantineSegments(ctx context.Context, l *layout.Listing) {
	for _, s := range n.bad.due(l) {
		if err := n.quarantineSegment(ctx, s); err != nil {
			n.warn(ctx, "a damaged segment is not quarantined", -1, err)
		}
	}
}

// gone returns those of some segments that are not listed: they are rolled up by all shards, quarantined, or lost, which
// is said.
func (n *Roller) gone(l *layout.Listing, stored []layout.Segment) (out []layout.Segment) {
	listed := map[layout.Segment]bool{}
	for _, s := range l.List {
		listed[s.Segment] = true
	}
	for _, s := range stored {
		if listed[s] || n.inQuarantine[s] {
			continue
		}
		lost, known := []int(nil), true
		for shard := range n.Bucket.Shards {
			m, ok := n.Bucket.KnownAfter(shard, l.Sequence)
			if known = known && ok; ok && !m.Has(s) {
				lost = append(lost, shard)
			}
		}
		if !known {
			continue // the next round tells
		}
		out = append(out, s)
		if len(lost) > 0 {
			n.did.gone.Add(1)
			n.opts.Logger.Error("a segment that was acknowledged is not there, and not rolled up: "+
				"its traces are lost unless it is restored", "segment", s.Key(), "shards", lost)
		}
	}
	return out
}

func (n *Roller) quarantineSegment(ctx context.Context, s layout.Segment) error {
	got, err := n.Bucket.Get(ctx, s.Key(), layout.MaxSegment, "")
	if errors.Is(err, objects.ErrNotFound) {
		return nil // another node has done it
	}
	if err != nil {
		return err
	}
	if len(got.Body) == 0 {
		return fmt.Errorf("no bytes of %s are left to quarantine, so it stays", s.Key())
	}
	o, why := n.Bucket.ParseSegment(s.Key(), got.Body)
	for shard := range n.Bucket.Shards {
		m, _, err := n.Bucket.Manifest(ctx, shard, 0)
		if err != nil {
			return err
		}
		if m.Has(s) || o == nil {
			continue
		}
		switch _, err := o.OfShard(ctx, shard); {
		case err == nil:
			return nil // it waits for this shard
		case !errors.Is(err, block.ErrDamaged):
			return err
		default:
			why = err
		}
	}
	if why == nil {
		return nil // it can be read now, or all shards have it
	}
	if _, err := n.Bucket.Put(ctx, s.QuarantineKey(), got.Body, objects.Condition{}); err != nil {
		return fmt.Errorf("quarantine %s: %w", s.Key(), err)
	}
	if err := n.Bucket.Delete(ctx, s.Key()); err != nil {
		return fmt.Errorf("quarantine %s: %w", s.Key(), err)
	}
	n.did.quarantined.Add(1)
	if n.inQuarantine == nil {
		n.inQuarantine = map[layout.Segment]bool{}
	}
	n.inQuarantine[s] = true
	n.opts.Logger.Warn("a segment is damaged: what it had of some shards is in no answer", "segment", s.Key(), "now", s.QuarantineKey(), logErr, why)
	return nil
}
