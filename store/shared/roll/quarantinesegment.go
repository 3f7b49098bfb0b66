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

// badSegments counts the consecutive rounds in which each damaged segment was found.
type badSegments struct {
	mu     sync.Mutex
	rounds map[layout.Segment]int
	last   map[layout.Segment]*layout.Listing
}

// quarantineSegmentAfter is the number of rounds in which a segment must be found damaged before it
// is quarantined. Fewer failures may be caused by the network or the store.
const quarantineSegmentAfter = 3

// note records that a segment of a listing is damaged.
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

// due returns the segments to quarantine, and drops those that were not found damaged in this
// round.
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

// quarantineSegments moves damaged segments out of the way. Shards that can read their part have
// rolled it up before.
func (n *Roller) quarantineSegments(ctx context.Context, l *layout.Listing) {
	for _, s := range n.bad.due(l) {
		if err := n.quarantineSegment(ctx, s); err != nil {
			n.warn(ctx, "a damaged segment cannot be quarantined", -1, err)
		}
	}
}

// gone returns the stored segments that are not listed any more, because all shards have rolled
// them up or because they are lost. It logs lost ones. Segments that this instance quarantined are
// not included.
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
			continue // the next round decides
		}
		out = append(out, s)
		if len(lost) > 0 {
			n.did.gone.Add(1)
			n.opts.Logger.Error("an acknowledged segment is missing and was not rolled up; "+
				"its traces are lost unless the segment is restored", "segment", s.Key(), "shards", lost)
		}
	}
	return out
}

func (n *Roller) quarantineSegment(ctx context.Context, s layout.Segment) error {
	got, err := n.Bucket.Get(ctx, s.Key(), layout.MaxSegment, "")
	if errors.Is(err, objects.ErrNotFound) {
		return nil // another node has quarantined it
	}
	if err != nil {
		return err
	}
	if len(got.Body) == 0 {
		return fmt.Errorf("cannot quarantine %s: it is empty", s.Key())
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
			return nil // it still has to be rolled up by this shard
		case !errors.Is(err, block.ErrDamaged):
			return err
		default:
			why = err
		}
	}
	if why == nil {
		return nil // it can be read now, or all shards have rolled it up
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
	n.opts.Logger.Warn("a damaged segment was quarantined; its traces of some shards are missing from responses",
		"segment", s.Key(), "quarantine", s.QuarantineKey(), logErr, why)
	return nil
}
