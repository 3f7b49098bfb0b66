package part

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/store"
)

// ErrGone says that a partition is deleted, and ErrClosed that [Shelf.CloseReaders] was called.
var (
	ErrGone   = errors.New("partition is deleted")
	ErrClosed = errors.New("the partitions are closed")
)

// Read calls f with a transaction that sees p as it is now, and opens p read-only if need
// be. It waits only while p is being opened or closed, and not longer than ctx. f must end
// soon, since p is not closed meanwhile; it may call Read. A panic of Badger over damaged
// bytes becomes an error that wraps [store.ErrDamaged].
func (s *Shelf) Read(ctx context.Context, p *Partition, f func(*Txn) error) error {
	db, err := s.enter(ctx, p)
	if err != nil {
		return err
	}
	defer s.leave(p)
	txn := db.NewTransaction(false)
	defer txn.Discard()
	return guarded(func() error { return f(&Txn{txn}) })
}

// enter counts a reader in, and returns what it reads from until leave is called.
func (s *Shelf) enter(ctx context.Context, p *Partition) (*badger.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.closed:
			return nil, ErrClosed
		case p.changing != nil:
			if err := s.wait(ctx, p); err != nil {
				return nil, err
			}
		case p.fault != nil:
			return nil, p.fault
		case p.doomed && p.pins == 0:
			return nil, ErrGone
		case p.db == nil:
			if err := s.openSealed(p); err != nil {
				return nil, err
			}
		default:
			s.tick++
			p.used = s.tick
			p.readers++
			return p.db, nil
		}
	}
}

// wait waits for the end of a change of p. It gives the lock up meanwhile.
func (s *Shelf) wait(ctx context.Context, p *Partition) error {
	change := p.changing
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-change:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for partition %s: %w", p.Name, context.Cause(ctx))
	}
}

func (s *Shelf) leave(p *Partition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.readers--
	p.admit()
}

// begin keeps readers out. It is called with the lock held, when there is none.
func (p *Partition) begin() { p.changing = make(chan struct{}) }

// end lets readers in again. It is called with the lock held.
func (p *Partition) end() {
	close(p.changing)
	p.changing = nil
	p.admit()
}

// admit gives the partition to who waits for it, if nobody has it. It is called with the
// lock held.
func (p *Partition) admit() {
	if p.readers > 0 || p.changing != nil || len(p.takers) == 0 {
		return
	}
	turn := p.takers[0]
	p.takers = p.takers[1:]
	p.begin()
	close(turn)
}

// take waits until nobody reads p, and keeps readers out from that moment on. give ends
// that. In between the caller alone may open or close the partition.
func (s *Shelf) take(ctx context.Context, p *Partition) error {
	s.mu.Lock()
	turn := make(chan struct{})
	p.takers = append(p.takers, turn)
	p.admit()
	s.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(p.takers, turn); i >= 0 {
		p.takers = slices.Delete(p.takers, i, i+1)
	} else {
		p.end() // its turn came just now
	}
	return fmt.Errorf("wait for the readers of partition %s: %w", p.Name, context.Cause(ctx))
}

// give ends what take began. f is called with the lock held, and may change p.
func (s *Shelf) give(p *Partition, f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	p.end()
}

// openSealed opens p read-only, closing the handle used longest ago if there are
// too many. It is called with the lock held and gives it up meanwhile.
func (s *Shelf) openSealed(p *Partition) error {
	p.begin()
	victim, tables := s.evict(), p.contents.Tables
	s.mu.Unlock()
	if victim != nil {
		s.closeHandle(victim)
	}
	err := preflight(p.path, tables)
	var db *badger.DB
	if err == nil {
		db, err = openBadger(badgerOptions(p.path, s.o.MemTableSize, true, s.o.Log))
	}
	s.mu.Lock()
	p.db = db
	if victim != nil {
		victim.db = nil
		victim.end()
	}
	if err != nil {
		err = fmt.Errorf("open partition %s: %w", p.Name, err)
		if errors.Is(err, store.ErrDamaged) {
			p.fault = err // it will not get better
		}
		s.o.Log.Error("partition unreadable", "partition", p.Name, "err", err)
	}
	p.end()
	return err
}

// evict picks the read-only handle to close before another is opened, and keeps readers out
// of it. It returns nil if there is room, or none can be closed now.
func (s *Shelf) evict() (victim *Partition) {
	open := 0
	for _, p := range s.parts {
		if p.db == nil || p.writable() {
			continue
		}
		open++
		if p.changing == nil && p.readers == 0 && (victim == nil || p.used < victim.used) {
			victim = p
		}
	}
	if open < s.o.MaxOpen || victim == nil {
		return nil
	}
	victim.begin()
	return victim
}

// closeHandle closes what p, which the caller has to itself, is read through. An error is
// logged: nothing is lost by it.
func (s *Shelf) closeHandle(p *Partition) {
	if p.db == nil {
		return
	}
	if err := closeBadger(p.db); err != nil {
		s.o.Log.Warn("close partition", "partition", p.Name, "err", err)
	}
}
