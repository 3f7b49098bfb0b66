package part

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// aheadSuffix ends the name of an empty file beside a partition that was made ahead of its
// time. The file is there before the partition is, and goes before the first commit. While
// it is there the partition holds nothing, nobody sees it, and a start removes both.
const aheadSuffix = ".ahead"

// maxLead is how long before a turn the next partition is made, at most a tenth of the width
// of partitions.
const maxLead = 30 * time.Second

// ahead is the partition of the next turn, open for writing and not yet on the shelf. To make
// its files takes Badger some 50 ms, and several times that under load, which commits would
// wait for.
type ahead struct {
	w    *Writer
	made chan struct{} // closed when it is made, or err says why it can not be
	err  error
}

// prepare begins to make the partition of the next turn if that is near at now.
func (s *Shelf) prepare(now time.Time) {
	next := StartOf(now, s.o.Width).Add(s.o.Width)
	if next.Sub(now) > min(maxLead, s.o.Width/10) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ahead != nil || s.writer == nil || !next.After(s.writer.p.Start) {
		return // there is one, or it could not be made; or the clock went back and there is no turn
	}
	p := s.at(next)
	a := &ahead{w: &Writer{s: s, p: p, next: 1}, made: make(chan struct{})}
	s.ahead = a
	s.spawn(func() {
		defer close(a.made)
		if a.err = s.makeAhead(a.w); a.err != nil {
			s.o.Log.Warn("the next partition is not made ahead of its time", "partition", p.Name, "err", a.err)
			s.discard(p)
		}
	})
}

// makeAhead makes the files of the partition of w, opens them for writing, and puts what it
// begins with there.
func (s *Shelf) makeAhead(w *Writer) error {
	p := w.p
	if err := s.o.Space.Room(s.o.Space.Writing(), 0); err != nil {
		return err
	}
	if _, err := os.Lstat(p.path); err == nil {
		return fmt.Errorf("%s is there", p.path) // and must not get the mark
	}
	if err := mark(p.path); err != nil {
		return err
	}
	if err := disk.MakeDir(p.path); err != nil {
		return err
	}
	log, err := openCommitLog(p.path)
	if err != nil {
		return err
	}
	db, err := openBadger(badgerOptions(p.path, s.o.MemTableSize, false, s.o.Log))
	if err != nil {
		return errors.Join(err, log.Close())
	}
	p.db, p.commits = db, log
	if s.o.Begin == nil {
		return nil
	}
	return s.o.Begin(w.Put)
}

// takeAhead returns the partition that was made ahead, nil if there is none or it could not be
// made. It waits for one in the making: to make it anew would take longer.
func (s *Shelf) takeAhead() *ahead {
	s.mu.Lock()
	a := s.ahead
	s.ahead = nil
	s.mu.Unlock()
	if a == nil {
		return nil
	}
	if <-a.made; a.err != nil {
		return nil
	}
	return a
}

// adopt has commits go to the partition that was made ahead, if it is the one that begins at
// start, and reports whether it does. One of another time is discarded: the clock jumped.
func (s *Shelf) adopt(start time.Time) (bool, error) {
	a := s.takeAhead()
	if a == nil {
		return false, nil
	}
	p := a.w.p
	if !p.Start.Equal(start) {
		s.discard(p)
		return false, nil
	}
	if err := unmark(p.path); err != nil {
		s.discard(p)
		return false, err
	}
	s.o.Space.SetCompaction(0)
	s.mu.Lock()
	if n := len(s.parts); n > 0 {
		a.w.before = s.parts[n-1]
	}
	s.parts = append(s.parts, p)
	s.writer = a.w
	s.mu.Unlock()
	s.o.Log.Info("partition open for writing", "partition", p.Name)
	return true, nil
}

// discardOver discards the partition that was made ahead if its time is over at now: nothing
// was committed in it.
func (s *Shelf) discardOver(now time.Time) {
	s.mu.Lock()
	over := s.ahead != nil && s.over(s.ahead.w.p, now)
	s.mu.Unlock()
	if !over {
		return
	}
	if a := s.takeAhead(); a != nil {
		s.discard(a.w.p)
	}
}

// discard closes and removes a partition that was made ahead and is not needed, or made in
// part. What is left of it after an error is removed before another is made in its place, or
// by the next start.
func (s *Shelf) discard(p *Partition) {
	if err := s.closeAhead(p); err != nil {
		s.o.Log.Warn("remove a partition that was made ahead of its time", "partition", p.Name, "err", err)
	}
}

func (s *Shelf) closeAhead(p *Partition) error {
	if p.db == nil {
		return withdraw(p.path)
	}
	if err := s.roomToClose(p); err != nil {
		return err // it stays open and marked
	}
	return errors.Join(p.commits.Close(), closeBadger(p.db), mark(p.path), withdraw(p.path))
}

// mark notes durably that the partition in path, which there is not yet, is made ahead.
func mark(path string) error {
	f, err := os.OpenFile(path+aheadSuffix, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(path))
}

// unmark takes the mark away durably: from now on the partition is one like the others.
func unmark(path string) error {
	if err := os.Remove(path + aheadSuffix); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(path))
}

// withdraw removes the partition in path if it is marked as made ahead, and then the mark. One
// with commits stays: a release that does not know the mark has used it.
func withdraw(path string) error {
	if _, err := os.Lstat(path + aheadSuffix); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if fi, err := os.Stat(filepath.Join(path, commitsFile)); err == nil && fi.Size() > 0 {
		return unmark(path)
	}
	if err := disk.Erase(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return unmark(path)
}

// isAhead reports whether the partition of that name is made ahead, by the entries of its
// directory, which are sorted.
func isAhead(entries []os.DirEntry, name string) bool {
	_, found := slices.BinarySearchFunc(entries, name+aheadSuffix, func(e os.DirEntry, mark string) int {
		return strings.Compare(e.Name(), mark)
	})
	return found
}

// removeAheads removes the partitions in dir that were made ahead when something ended the
// process.
func removeAheads(dir string, entries []os.DirEntry) error {
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), aheadSuffix)
		if !ok {
			continue
		}
		if _, ok := ParseName(name); !ok {
			continue
		}
		if err := withdraw(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("remove a partition that was made ahead of its time: %w", err)
		}
	}
	return nil
}
