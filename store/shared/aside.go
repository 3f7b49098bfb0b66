package shared

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/bucket"
)

// badSegments are segments that rollers have found damaged, and in how many rounds in a row.
type badSegments struct {
	mu     sync.Mutex
	rounds map[segmentName]int
	last   map[segmentName]*listing
}

// setAsideAfter is in how many rounds a segment must be found damaged before it is set aside: it may be the way to it that is bad.
const setAsideAfter = 3

// note notes that a segment of a listing is damaged.
func (b *badSegments) note(l *listing, s segmentName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rounds == nil {
		b.rounds, b.last = map[segmentName]int{}, map[segmentName]*listing{}
	}
	if b.last[s] != l {
		b.rounds[s], b.last[s] = b.rounds[s]+1, l
	}
}

// due returns the segments that are to be set aside, and forgets those that were not found damaged in this round.
func (b *badSegments) due(l *listing) (list []segmentName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s, n := range b.rounds {
		switch {
		case b.last[s] != l:
			delete(b.rounds, s)
			delete(b.last, s)
		case n >= setAsideAfter:
			list = append(list, s)
		}
	}
	return list
}

// setAside moves damaged segments to where they stop nobody. What shards can read of them is rolled up before.
func (n *rollers) setAside(ctx context.Context, l *listing) {
	for _, s := range n.bad.due(l) {
		if err := n.setSegmentAside(ctx, s); err != nil {
			n.warn(ctx, "a damaged segment is not set aside", -1, err)
		}
	}
}

func (n *rollers) setSegmentAside(ctx context.Context, s segmentName) error {
	got, err := n.b.Get(ctx, s.key(), maxSegment, "")
	if errors.Is(err, bucket.ErrNotFound) {
		return nil // another machine has done it
	}
	if err != nil {
		return err
	}
	o, why := n.b.parseSegment(s.key(), got.Body)
	for shard := range n.b.shards {
		m, _, err := n.b.manifest(ctx, shard, 0)
		if err != nil {
			return err
		}
		if m.has(s) || o == nil {
			continue
		}
		switch _, err := o.shardOf(ctx, shard); {
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
	if _, err := n.b.Put(ctx, s.asideKey(), got.Body, bucket.Condition{}); err != nil {
		return fmt.Errorf("set %s aside: %w", s.key(), err)
	}
	if err := n.b.Delete(ctx, s.key()); err != nil {
		return fmt.Errorf("set %s aside: %w", s.key(), err)
	}
	n.did.setAside.Add(1)
	n.opts.Logger.Warn("a segment is damaged: what it had of some shards is in no answer", "segment", s.key(), "now", s.asideKey(), logErr, why)
	return nil
}
