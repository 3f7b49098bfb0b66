package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// outcome names a reason why page views of a page have no trace.
type outcome struct{ page, reason string }

// outcomes are page views without a trace that were counted and are not stored yet.
type outcomes struct {
	mu    sync.Mutex
	views map[outcome]int64
	since time.Time
}

// maxOutcomes bounds what may wait.
const maxOutcomes = 1 << 16

// CountViews counts page views of which there is no trace, by the reason. They are stored
// within [Options.RollEvery] or when the store is closed; a crash before that forgets them.
func (s *Store) CountViews(page, reason string, views int64) {
	if checkPage(page) != "" || reason == "" || len(reason) > MaxTagValue || views <= 0 {
		return
	}
	o := &s.outcomes
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.views == nil {
		o.views, o.since = make(map[outcome]int64), s.opts.Now()
	}
	if key := (outcome{page, reason}); o.views[key] > 0 || len(o.views) < maxOutcomes {
		o.views[key] += views
	}
}

// take empties o, if it has waited for long enough.
func (o *outcomes) take(now time.Time, longest time.Duration) map[outcome]int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.views == nil || now.Sub(o.since).Abs() < longest {
		return nil
	}
	views := o.views
	o.views = nil
	return views
}

// storeOutcomes has the committer store what was counted.
func (s *Store) storeOutcomes(ctx context.Context, longest time.Duration) error {
	views := s.outcomes.take(s.opts.Now(), longest)
	if len(views) == 0 {
		return nil
	}
	result := make(chan error, 1)
	var err error
	select {
	case s.ctl <- func() { result <- s.writeOutcomes(views) }:
		err = <-result
	case <-s.done:
		return ErrClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	for o, n := range views { // what was stored is not in it any more
		s.CountViews(o.page, o.reason, n)
	}
	return err
}

// writeOutcomes runs in the committer.
func (s *Store) writeOutcomes(views map[outcome]int64) (err error) {
	if err := s.Err(); err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("store page views: badger panicked: %v", r)
			s.fail(err)
		}
	}()
	now := s.opts.Now()
	if err := s.readyToWrite(now); err != nil {
		return err
	}
	w := s.writer
	for len(views) > 0 {
		txn := w.db.NewTransaction(true)
		b := batch{txn: txn, catalog: w.catalog, buf: w.buf[:0], now: now}
		var err error
		var in []outcome
		for o, v := range views {
			if len(in) == maxOutcomesTxn {
				break
			}
			if err = b.countOutcome(o, v); err != nil {
				break
			}
			in = append(in, o)
		}
		if err == nil {
			err = w.finish(&b)
		}
		txn.Discard()
		if err != nil {
			err = fmt.Errorf("store page views in partition %s: %w", w.p.name, err)
			s.fail(err)
			return err
		}
		for _, o := range in {
			delete(views, o)
		}
	}
	return nil
}

// maxOutcomesTxn keeps a transaction of counts within the smallest memtable.
const maxOutcomesTxn = 500

func (b *batch) countOutcome(o outcome, views int64) error {
	key := appendOutcomeKey(nil, o.page, o.reason)
	c, err := readCount(b.txn, key)
	if errors.Is(err, ErrDamaged) {
		c, err = count{}, nil // start over; the rest is lost
	}
	if err != nil {
		return err
	}
	now := b.now.UnixMicro()
	if c.traces == 0 {
		c.first = now
	}
	c.traces, c.last = c.traces+uint64(views), now
	return b.txn.Set(key, appendCount(nil, key, c))
}
