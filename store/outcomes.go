package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/store/part"
	"github.com/fieldtrie/fieldtrie/store/record"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// outcome names a reason why page views of a page have no trace.
type outcome struct{ page, reason string }

// outcomes are page views without a trace, and Web Vitals, that were counted and are not stored
// yet.
type outcomes struct {
	mu     sync.Mutex
	views  map[outcome]int64
	vitals map[vitalsOf][]rollup.Vital
	since  time.Time

	dropped uint64 // that found no room, since the store was opened
}

// begin prepares o for the first that is counted.
func (o *outcomes) begin(now time.Time) {
	if o.views == nil {
		o.views, o.vitals, o.since = map[outcome]int64{}, map[vitalsOf][]rollup.Vital{}, now
	}
}

// maxOutcomes bounds what may wait.
const maxOutcomes = 1 << 16

// CountViews counts page views of which there is no trace, by the reason. They are stored
// within [Options.RollEvery] or when the store is closed; a crash before that forgets them.
func (s *Store) CountViews(page, reason string, views int64) {
	if record.CheckPage(page) != "" || reason == "" || len(reason) > MaxTagValue || views <= 0 {
		return
	}
	o := &s.outcomes
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begin(s.opts.Now())
	if key := (outcome{page, reason}); o.views[key] > 0 || len(o.views) < maxOutcomes {
		o.views[key] += views
	} else {
		o.dropped += uint64(views)
	}
}

// lost returns how many were dropped.
func (o *outcomes) lost() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dropped
}

// due reports whether there is something that has waited for long enough.
func (o *outcomes) due(now time.Time, longest time.Duration) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.views)+len(o.vitals) > 0 && now.Sub(o.since).Abs() >= longest
}

// drain empties o.
func (o *outcomes) drain() (views map[outcome]int64, vitals map[vitalsOf][]rollup.Vital) {
	o.mu.Lock()
	defer o.mu.Unlock()
	views, vitals = o.views, o.vitals
	o.views, o.vitals = nil, nil
	return views, vitals
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

func (s *Store) countAgain(views map[outcome]int64, vitals map[vitalsOf][]rollup.Vital) {
	for o, n := range views {
		s.CountViews(o.page, o.reason, n)
	}
	for of, v := range vitals {
		s.CountVitals(of.page, v)
	}
}

// writeOutcomes stores views and vitals. What it could not store waits again. It runs in the
// committer.
func (s *Store) writeOutcomes(views map[outcome]int64, vitals map[vitalsOf][]rollup.Vital, at *waiting) error {
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
		var in []outcome
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

func countOutcome(b *part.Batch, o outcome, views int64, at time.Time) error {
	key := record.AppendOutcomeKey(nil, o.page, o.reason)
	c, err := b.Txn().Count(key)
	if errors.Is(err, ErrDamaged) {
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
