package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// outcomes are page views without a trace, and Web Vitals, that were counted and are not stored
// yet.
type outcomes struct {
	mu     sync.Mutex
	counts store.Counts
	since  time.Time // when the first of them was counted
}

// count has add count something.
func (s *Store) count(add func(*store.Counts)) {
	o := &s.outcomes
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counts.Empty() {
		o.since = s.opts.Now()
	}
	add(&o.counts)
}

// CountViews implements [store.Writer]. They are stored within [Options.RollEvery] or when the
// store is closed.
func (s *Store) CountViews(page, reason string, views int64) {
	s.count(func(c *store.Counts) { c.AddViews(page, reason, views) })
}

// CountVitals implements [store.Writer].
func (s *Store) CountVitals(page string, vitals []rollup.Vital) {
	s.count(func(c *store.Counts) { c.AddVitals(page, vitals) })
}

// lost returns how many were dropped.
func (o *outcomes) lost() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.counts.Dropped
}

// due reports whether there is something that has waited for long enough.
func (o *outcomes) due(now time.Time, longest time.Duration) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.counts.Empty() && now.Sub(o.since).Abs() >= longest
}

// drain empties o.
func (o *outcomes) drain() (views map[store.Outcome]int64, vitals map[store.VitalsOf][]rollup.Vital) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.counts.Take()
}

// storeOutcomes has the committer store what was counted. Only there is it taken, so that it
// is nowhere else while somebody closes the store.
func (s *Store) storeOutcomes(ctx context.Context, longest time.Duration) error {
	if !s.outcomes.due(s.opts.Now(), longest) {
		return nil
	}
	return s.control(ctx, "storing page views without a trace", func(at *waiting) error {
		views, vitals := s.outcomes.drain()
		return s.writeOutcomes(views, vitals, at)
	})
}

func (s *Store) countAgain(views map[store.Outcome]int64, vitals map[store.VitalsOf][]rollup.Vital) {
	for o, n := range views {
		s.CountViews(o.Page, o.Reason, n)
	}
	for of, v := range vitals {
		s.CountVitals(of.Page, v)
	}
}

// writeOutcomes stores views and vitals. What it could not store waits again. It runs in the
// committer.
func (s *Store) writeOutcomes(views map[store.Outcome]int64, vitals map[store.VitalsOf][]rollup.Vital, at *waiting) error {
	if len(views)+len(vitals) == 0 {
		return nil // another has stored them meanwhile
	}
	defer func() { s.countAgain(views, vitals) }()
	now := s.opts.Now()
	w, err := s.readyToWrite(now, at)
	if err != nil {
		return err
	}
	for len(views) > 0 {
		var in []store.Outcome
		err := w.Commit(func(b *part.Batch) (bool, error) {
			b.Count.Received = now.UnixMicro()
			for o, v := range views {
				if len(in) == maxOutcomesTxn {
					break
				}
				if err := countOutcome(b, o, v, now); err != nil {
					return false, err
				}
				in = append(in, o)
			}
			return true, nil
		})
		if err != nil {
			err = fmt.Errorf("store page views without a trace: %w", err)
			s.fail(err)
			return err
		}
		for _, o := range in {
			delete(views, o)
		}
	}
	return s.writeVitals(w, vitals, now)
}

// maxOutcomesTxn keeps a transaction of counts within the smallest memtable.
const maxOutcomesTxn = 500

func countOutcome(b *part.Batch, o store.Outcome, views int64, at time.Time) error {
	key := record.AppendOutcomeKey(nil, o.Page, o.Reason)
	c, err := b.Txn().Count(key)
	if errors.Is(err, store.ErrDamaged) {
		c, err = record.Count{}, nil // start over; the rest is lost
	}
	if err != nil {
		return err
	}
	now := at.UnixMicro()
	if c.Traces == 0 {
		c.First = now
	}
	c.Traces, c.Last = c.Traces+uint64(views), now
	return b.Set(key, record.AppendCount(nil, key, c))
}
