package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dgraph-io/badger/v4"
)

// shelf holds the partitions of a data directory and the open handles on them.
//
// Two counts keep a partition under its readers. A lease is held while a batch is
// copied out of Badger, for milliseconds: a handle is closed only between leases,
// so that sealing never waits for a slow reader. A pin is held by a scan from its
// start to its end: a directory is deleted only without pins.
type shelf struct {
	dir      string
	memTable int64
	maxOpen  int
	space    *space
	log      *slog.Logger

	mu    sync.Mutex
	calm  *sync.Cond   // leases, busy or pins of some partition went down
	parts []*partition // of traces, by name, which is by time
	sums  []*partition // of rollups, by name
	aside []setAside
	tick  uint64 // counts leases, as the clock of the handle cache
}

var errGone = errors.New("partition is deleted")

func newShelf(dir string, o Options) *shelf {
	s := &shelf{dir: dir, memTable: o.MemTableSize, maxOpen: o.OpenPartitions, space: newSpace(dir, o), log: o.Logger}
	s.calm = sync.NewCond(&s.mu)
	return s
}

// load lists the data directory. It returns the partitions that were not closed
// cleanly, and the directories left by an interrupted deletion.
func (s *shelf) load() (dirty []*partition, trash []string, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, nil, fmt.Errorf("list data directory: %w", err)
	}
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(s.dir, e.Name())
		if strings.HasSuffix(name, trashSuffix) {
			trash = append(trash, path)
			continue
		}
		if of, span, start, ok := parseCorruptName(name); ok {
			s.aside = append(s.aside, readSetAside(s.dir, name, of, span, start))
			continue
		}
		span, start, ok := parseSpan(name)
		if !ok || !e.IsDir() {
			continue
		}
		p := &partition{name: name, start: start, span: span, path: path}
		if p.contents, err = readClean(path); err != nil {
			dirty = append(dirty, p)
		}
		if span == traces {
			s.parts = append(s.parts, p) // ReadDir sorts by name
		} else {
			s.sums = append(s.sums, p)
		}
	}
	return dirty, trash, nil
}

// giveUp takes a partition that cannot be opened out of use. The caller must have
// the data directory for itself, and no handle on the partition.
func (s *shelf) giveUp(p *partition, reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	level := slog.LevelError
	if p.fault != nil {
		level = slog.LevelDebug // it was said before, and is tried every few seconds
	}
	s.log.Log(context.Background(), level, "partition unreadable", logPartition, p.name, logErr, reason)
	if !errors.Is(reason, ErrDamaged) {
		p.fault = reason
		return
	}
	name, err := quarantine(s.dir, p.name, reason)
	if err != nil {
		p.fault = errors.Join(reason, err)
		return
	}
	s.parts = slices.DeleteFunc(s.parts, func(q *partition) bool { return q == p })
	s.sums = slices.DeleteFunc(s.sums, func(q *partition) bool { return q == p })
	a := readSetAside(s.dir, name, p.name, p.span, p.start)
	a.reason = reason.Error()
	s.aside = append(s.aside, a)
	p.fault = reason // for scans that have it pinned
}

// newest returns the newest partition, nil if there is none.
func (s *shelf) newest() *partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.parts) == 0 {
		return nil
	}
	return s.parts[len(s.parts)-1]
}

// before returns the partition before p, nil if there is none.
func (s *shelf) before(p *partition) *partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.parts, p); i > 0 {
		return s.parts[i-1]
	}
	return nil
}

// lease returns the handle on p, opening the partition read-only if need be. The
// handle stays open until release is called, which must be soon.
func (s *shelf) lease(p *partition) (db *badger.DB, release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p.busy {
		s.calm.Wait()
	}
	if p.fault != nil {
		return nil, nil, p.fault
	}
	if p.doomed && p.pins == 0 {
		return nil, nil, errGone
	}
	if p.db == nil {
		if err := s.openSealed(p); err != nil {
			return nil, nil, err
		}
	}
	s.tick++
	p.used = s.tick
	p.leases++
	return p.db, func() {
		s.mu.Lock()
		p.leases--
		s.calm.Broadcast()
		s.mu.Unlock()
	}, nil
}

// openSealed opens p read-only, closing the handle used longest ago if there are
// too many. It is called with the lock held and gives it up meanwhile.
func (s *shelf) openSealed(p *partition) error {
	p.busy = true
	victim := s.evict()
	s.mu.Unlock()
	if victim != nil {
		s.shut(victim)
	}
	db, err := s.openReadOnly(p)
	s.mu.Lock()
	p.busy = false
	s.calm.Broadcast()
	if err != nil {
		err = fmt.Errorf("open partition %s: %w", p.name, err)
		if errors.Is(err, ErrDamaged) {
			p.fault = err // it will not get better
		}
		s.log.Error("partition unreadable", logPartition, p.name, logErr, err)
		return err
	}
	p.db, p.writer = db, false
	return nil
}

func (s *shelf) openReadOnly(p *partition) (*badger.DB, error) {
	if err := preflight(p.path, p.Tables); err != nil {
		return nil, err
	}
	return openBadger(badgerOptions(p.path, s.memTable, true, s.log))
}

// evict picks the read-only handle to close before another is opened, and marks
// it busy. It returns nil if there is room, or none can be closed now.
func (s *shelf) evict() (victim *partition) {
	open := 0
	for _, p := range slices.Concat(s.parts, s.sums) {
		if p.db == nil || p.writer {
			continue
		}
		open++
		if !p.busy && p.leases == 0 && (victim == nil || p.used < victim.used) {
			victim = p
		}
	}
	if open < s.maxOpen || victim == nil {
		return nil
	}
	victim.busy = true
	return victim
}

// shut closes the handle of p, which the caller has marked busy, without the lock.
func (s *shelf) shut(p *partition) {
	if err := closeBadger(p.db); err != nil {
		s.log.Warn("close partition", logPartition, p.name, logErr, err)
	}
	s.mu.Lock()
	p.db = nil
	p.busy = false
	s.calm.Broadcast()
	s.mu.Unlock()
}

// claim waits until nobody uses p and marks it busy; settle undoes that. In
// between the caller alone may open or close the partition.
func (s *shelf) claim(p *partition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p.busy {
		s.calm.Wait()
	}
	p.busy = true
	for p.leases > 0 {
		s.calm.Wait()
	}
}

func (s *shelf) settle(p *partition, db *badger.DB, writer bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.db, p.writer, p.busy = db, writer, false
	s.calm.Broadcast()
}

// remove takes the named partitions off the shelf and deletes their directories,
// now or when the last scan that wants them ends.
func (s *shelf) remove(names []string) {
	var now []*partition
	s.mu.Lock()
	for _, p := range slices.Concat(s.parts, s.sums) {
		if slices.Contains(names, p.name) {
			p.doomed = true
			if p.pins == 0 {
				now = append(now, p)
			}
		}
	}
	s.parts = slices.DeleteFunc(s.parts, func(p *partition) bool { return p.doomed })
	s.sums = slices.DeleteFunc(s.sums, func(p *partition) bool { return p.doomed })
	var aside []setAside
	s.aside = slices.DeleteFunc(s.aside, func(a setAside) bool {
		gone := slices.Contains(names, a.name)
		if gone {
			aside = append(aside, a)
		}
		return gone
	})
	s.mu.Unlock()
	for _, p := range now {
		s.destroy(p)
	}
	for _, a := range aside {
		s.erase(a.path)
	}
}

// destroy deletes a doomed partition that nobody has pinned.
func (s *shelf) destroy(p *partition) {
	s.claim(p)
	if p.db != nil {
		if err := closeBadger(p.db); err != nil {
			s.log.Warn("close partition", logPartition, p.name, logErr, err)
		}
	}
	s.erase(p.path)
	s.settle(p, nil, false)
}

// erase deletes a directory. It is renamed first, so that a crash halfway leaves
// no partition that looks damaged.
func (s *shelf) erase(path string) {
	trash := path + trashSuffix
	err := os.Rename(path, trash)
	if err == nil {
		err = syncDir(s.dir)
	}
	if err == nil {
		err = os.RemoveAll(trash)
	}
	if err != nil {
		s.log.Error("delete partition", "path", path, logErr, err)
		return
	}
	s.log.Info("partition deleted", "path", path)
}

// pin returns the partitions for which want is true, oldest first, and keeps their
// directories until unpin is called with them.
func (s *shelf) pin(want func(*partition) bool) (parts []*partition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parts {
		if want(p) {
			p.pins++
			parts = append(parts, p)
		}
	}
	return parts
}

// pinRollups pins the partition of rollups with this name. It returns nil if there is none.
func (s *shelf) pinRollups(name string) *partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.sums {
		if p.name == name {
			p.pins++
			return p
		}
	}
	return nil
}

func (s *shelf) unpin(parts []*partition) {
	var gone []*partition
	s.mu.Lock()
	for _, p := range parts {
		if p.pins--; p.pins == 0 && p.doomed {
			gone = append(gone, p)
		}
	}
	s.mu.Unlock()
	for _, p := range gone {
		s.destroy(p)
	}
}

// closeAll closes all read-only handles. Nobody may use the shelf any more.
func (s *shelf) closeAll() {
	s.mu.Lock()
	parts := slices.Concat(s.parts, s.sums)
	s.mu.Unlock()
	for _, p := range parts {
		s.claim(p)
		if p.db != nil && !p.writer {
			if err := closeBadger(p.db); err != nil {
				s.log.Warn("close partition", logPartition, p.name, logErr, err)
			}
			s.settle(p, nil, false)
			continue
		}
		s.settle(p, p.db, p.writer)
	}
}
