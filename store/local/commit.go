package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
)

// run is the committer: the only goroutine that writes. Badger syncs once for each
// transaction and never for several, so what waits is put into one.
func (s *Store) run() {
	defer close(s.done)
	var group []*request
	var next *request // taken from the queue, but did not fit the group
	for {
		group = group[:0]
		if next != nil {
			select {
			case f := <-s.ctl: // it gets its turn under a full queue, too
				f()
			default:
			}
			group, next = append(group, next), nil
		} else {
			select {
			case q, ok := <-s.queue:
				if !ok {
					return
				}
				group = append(group, q)
			case f := <-s.ctl:
				f()
				continue
			}
		}
		group, next = s.gather(group)
		s.commit(group)
	}
}

// gather adds what is queued to the group until it is full. It does not wait: while
// one commit is being synced, the next group collects by itself.
func (s *Store) gather(group []*request) (_ []*request, next *request) {
	traces, cost := len(group[0].recs), group[0].cost
	for traces < s.opts.GroupTraces {
		select {
		case q, ok := <-s.queue:
			if !ok {
				return group, nil
			}
			if traces+len(q.recs) > s.opts.GroupTraces || cost+q.cost > s.opts.maxCost() {
				return group, q
			}
			group = append(group, q)
			traces += len(q.recs)
			cost += q.cost
		default:
			return group, nil
		}
	}
	return group, nil
}

// commit makes a group durable and answers its requests.
func (s *Store) commit(group []*request) {
	w := s.watch.begin("committer", commitLimit)
	defer w.end()
	err := s.Err()
	if err == nil {
		err = s.commitGroup(group, w)
	}
	for _, q := range group {
		if err != nil {
			q.result, q.err = store.AppendResult{}, err
		}
		s.stored.Add(uint64(q.result.Stored))
		s.duplicates.Add(uint64(q.result.Duplicates))
		close(q.done)
	}
}

func (s *Store) commitGroup(group []*request, at *waiting) error {
	now := s.opts.Now()
	w, err := s.readyToWrite(now, at)
	if err != nil {
		return err
	}
	at.step("committing to partition " + w.Partition().Name)
	if err := s.write(w, group, now); err != nil {
		s.fail(err)
		return s.Err()
	}
	s.commits.Add(1)
	return nil
}

// control has the committer run f, and waits until it has, no longer than ctx.
func (s *Store) control(ctx context.Context, what string, f func(*waiting) error) error {
	result := make(chan error, 1)
	run := func() {
		w := s.watch.begin("committer", commitLimit)
		w.step(what)
		defer w.end()
		result <- f(w)
	}
	select {
	case s.ctl <- run:
	case <-s.done:
		return store.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// readyToWrite returns what writes to the partition for now. It runs in the committer.
func (s *Store) readyToWrite(now time.Time, at *waiting) (*part.Writer, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	s.watchSpace(now)
	if err := s.admit(0); err != nil {
		return nil, err
	}
	at.step("turning to the partition of now")
	w, turned, err := s.parts.Writer(now)
	if err != nil {
		if errors.Is(err, part.ErrUnknown) {
			s.fail(err)
		}
		return nil, err
	}
	if turned {
		s.writing.turn(s, w)
		s.pending.Everything(now)
		s.head.Forget(func(p *part.Partition) bool { return p == w.Partition() || p == w.Before() })
		s.applyRetention(now)
	}
	return w, nil
}

// watchSpace looks once a second what compactions will need, and applies retention before
// commits are refused. It runs in the committer.
func (s *Store) watchSpace(now time.Time) {
	if time.Since(s.writing.watched) < time.Second {
		return
	}
	s.writing.watched = time.Now()
	s.parts.Measure(now)
	if s.space.Low() {
		s.applyRetention(now)
	}
}

// Maintain ends the newest partition if its time is over, and deletes what retention no
// longer keeps. Commits do that as well; call Maintain every minute or so, for the times when
// nothing is received. When it returns nil, what is to be closed and deleted is.
func (s *Store) Maintain(ctx context.Context) error {
	w := s.watch.begin("maintain", stepLimit)
	defer w.end()
	if err := s.life.Enter(); err != nil {
		return err
	}
	defer s.life.Leave()
	err := s.control(ctx, "maintaining", func(*waiting) error { return s.maintain(s.opts.Now()) })
	if err != nil {
		return err
	}
	w.step("waiting for partitions to be closed and deleted")
	if err := s.parts.Settle(ctx); err != nil {
		return err
	}
	return s.Err()
}

// maintain runs in the committer.
func (s *Store) maintain(now time.Time) error {
	s.watchSpace(now)
	s.parts.Retry()
	s.sums.Retry()
	s.space.PutBallast()
	if s.Err() == nil && s.space.Admit(0) == nil {
		if err := s.parts.Seal(now); err != nil {
			return fmt.Errorf("end the newest partition: %w", err)
		}
	}
	s.applyRetention(now)
	return nil
}
