package part

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
)

// ErrUnknown is wrapped by an error after which it is not known what is on disk. Nothing may
// be acknowledged any more until the directory is opened anew.
var ErrUnknown = errors.New("it is not known what was stored")

// Writer writes to the newest partition. One goroutine at a time uses it.
type Writer struct {
	s      *Shelf
	p      *Partition
	before *Partition // searched for repeats; nil if there is none, or it can not be read
	next   uint64     // number of the next commit
	since  uint64     // version of the newest entry when it was opened
}

// Partition returns what is written to.
func (w *Writer) Partition() *Partition { return w.p }

// Since returns the version of the newest entry that was there before this process wrote to the partition.
func (w *Writer) Since() uint64 { return w.since }

// Before returns the partition before that, nil if there is none.
func (w *Writer) Before() *Partition { return w.before }

// WriteTarget returns the start of the partition to write to at now. newest is the
// start of the newest partition there is, zero if there is none. A clock that went
// backwards keeps writing to the newest, or, if that is sealed, to the one after
// it: a sealed partition is never written again.
func WriteTarget(now, newest time.Time, sealed bool, width time.Duration) time.Time {
	at := StartOf(now, width)
	switch {
	case newest.IsZero() || at.After(newest):
		return at
	case sealed:
		return StartOf(newest, width).Add(width)
	}
	return newest
}

// over reports whether the time of p has passed.
func (s *Shelf) over(p *Partition, now time.Time) bool {
	return !WriteTarget(now, p.Start, false, s.o.Width).Equal(p.Start)
}

// Writer returns what writes to the partition for now, and whether that is another than
// before. Then the one before the last is closed behind it. Shortly before the turn the next
// one is made in the background. It waits for nobody but for that, if the turn comes before
// it is made.
func (s *Shelf) Writer(now time.Time) (w *Writer, turned bool, err error) {
	if w := s.Current(); w != nil && !s.over(w.p, now) {
		s.prepare(now)
		return w, false, nil
	}
	s.seal()
	var newest Info
	for {
		var there bool
		newest, there = s.newest()
		target := WriteTarget(now, newest.start(), newest.Sealed, s.o.Width)
		p := newest.Partition
		if !there || !p.Start.Equal(target) {
			ready, err := s.adopt(target)
			if ready {
				break
			}
			if err == nil {
				p, err = s.create(target)
			}
			if err != nil {
				return nil, false, err
			}
		}
		err = s.openWriter(p)
		if err == nil {
			break
		}
		if err = s.doWithout(p, err); err != nil {
			return nil, false, err
		}
	}
	s.closeBehind(now)
	return s.Current(), true, nil
}

func (i *Info) start() time.Time {
	if i.Partition == nil {
		return time.Time{}
	}
	return i.Start
}

// doWithout sees to a partition that can not be written to. It returns the error if another
// can not take its place.
func (s *Shelf) doWithout(p *Partition, err error) error {
	err = fmt.Errorf("open partition %s for writing: %w", p.Name, err)
	switch {
	case errors.Is(err, errBlocks):
		s.o.Log.Error("partition is not written to any more", "partition", p.Name, "err", err)
		return s.markSealed(p)
	case errors.Is(err, store.ErrDamaged):
		if terr := s.take(context.Background(), p); terr == nil {
			s.giveUp(p, err)
			s.give(p, func() {})
			return err // the next commit makes a fresh one
		}
	}
	return err
}

// markSealed notes that p, which is closed, is never written to again.
func (s *Shelf) markSealed(p *Partition) error {
	c := s.Lookup(p).Contents
	c.Sealed = true
	c, err := writeClean(p.path, c)
	if err != nil {
		return fmt.Errorf("seal partition %s: %w", p.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.contents = c
	return nil
}

// Current returns the writer that there is, nil if there is none.
func (s *Shelf) Current() *Writer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writer
}

// Resumable reports whether an earlier process has written to the newest partition, and the next commit goes on with it.
func (s *Shelf) Resumable(now time.Time) bool {
	p, ok := s.newest()
	return ok && s.Current() == nil && !p.Sealed && p.Fault == nil && !p.Blank() && !s.over(p.Partition, now)
}

// openWriter opens p for writing. Its CLEAN file goes away first. The newest partition may be
// open for reading, and is read meanwhile; that ends soon.
func (s *Shelf) openWriter(p *Partition) error {
	if err := s.take(context.Background(), p); err != nil {
		return err
	}
	info := s.Lookup(p)
	if p.db != nil {
		s.closeHandle(p)
	}
	var healed *Contents
	if info.Fault != nil { // could not be recovered when the store was opened
		c, err := s.heal(p)
		if err != nil {
			s.give(p, func() { p.db = nil })
			return err
		}
		healed = &c
		info.Contents = c
	}
	db, log, err := s.openFiles(p, info.Contents)
	s.give(p, func() {
		if healed != nil {
			p.contents, p.fault = *healed, nil
		}
		p.db, p.commits = db, log
		if err == nil {
			s.writer = &Writer{s: s, p: p, next: p.contents.LastCommit + 1, since: db.MaxVersion()}
		}
	})
	if err != nil {
		return err
	}
	s.writer.before = s.before(p)
	s.o.Log.Info("partition open for writing", "partition", p.Name)
	return nil
}

func (s *Shelf) openFiles(p *Partition, c Contents) (*badger.DB, *commitLog, error) {
	tables := -1
	if !c.Blank() {
		tables = c.Tables
	}
	if err := preflight(p.path, tables); err != nil {
		return nil, nil, err
	}
	levels, err := levelsIn(p.path)
	if err == nil && tables > 0 && sum(levels) <= verifyMost {
		err = verifyBlocks(p.path, s.o)
	}
	if err != nil {
		return nil, nil, err
	}
	s.o.Space.SetCompaction(disk.CompactionOf(levels))
	if err := s.o.Space.Admit(0); err != nil {
		return nil, nil, err
	}
	if err := removeClean(p.path); err != nil {
		return nil, nil, err
	}
	memTable, err := memTableFor(p.path, s.o.MemTableSize)
	if err != nil {
		return nil, nil, err
	}
	log, err := openCommitLog(p.path)
	if err != nil {
		return nil, nil, err
	}
	db, err := openBadger(badgerOptions(p.path, memTable, false, s.o.Log))
	if err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	return db, log, nil
}

// Seal ends writing to the newest partition if its time is over at now, closes what has been
// over for long enough, and removes what was made ahead for a time without commits. The
// goroutine that uses the writer calls it.
func (s *Shelf) Seal(now time.Time) error {
	if w := s.Current(); w != nil && s.over(w.p, now) {
		s.seal()
	}
	if s.Current() == nil {
		if p, ok := s.newest(); ok && !p.Sealed && !p.writable() && p.Fault == nil && s.over(p.Partition, now) {
			if err := s.markSealed(p.Partition); err != nil { // its time was over when the store was opened
				s.o.Log.Warn("seal partition", "partition", p.Name, "err", err)
			}
		}
	}
	s.discardOver(now)
	s.closeBehind(now)
	return nil
}

// seal ends writing to the newest partition for good. It is left open: the next one's
// commits look for repeats there.
func (s *Shelf) seal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer != nil {
		s.writer.p.contents.Sealed = true
		s.writer = nil
	}
}

// closeBehind closes the partitions that were written to and that nobody looks for repeats
// in, each in the background as soon as nobody reads it. If nothing is written, the last one
// is closed when another partition's time has passed.
func (s *Shelf) closeBehind(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range s.parts {
		written := s.writer != nil && s.writer.p == p
		searched := s.writer != nil && s.writer.before == p
		recent := i == len(s.parts)-1 && !s.over(p, now.Add(-s.o.Width))
		if !p.writable() || p.closing || written || searched || recent {
			continue
		}
		p.closing = true
		s.spawn(func() {
			err := s.retire(context.Background(), p, true)
			s.mu.Lock()
			p.closing = false
			s.mu.Unlock()
			switch {
			case errors.Is(err, ErrUnknown):
				s.o.Failed(err)
			case err != nil:
				s.o.Log.Warn("a partition is not closed yet; it is tried again", "err", err)
			}
		})
	}
}

// retire closes a partition that was written to. If clean is false it is left for recovery to
// look into. Where there is no room to close it, it stays open until it is tried again.
func (s *Shelf) retire(ctx context.Context, p *Partition, clean bool) error {
	if err := s.take(ctx, p); err != nil {
		return err
	}
	if p.db == nil { // it was deleted meanwhile
		s.give(p, func() {})
		return nil
	}
	if err := s.roomToClose(p); err != nil {
		s.give(p, func() {})
		return fmt.Errorf("close partition %s: %w", p.Name, err)
	}
	err := errors.Join(p.commits.Close(), closeBadger(p.db))
	c := s.Lookup(p).Contents
	if err == nil && clean {
		c, err = writeClean(p.path, c)
	}
	s.give(p, func() {
		p.db, p.commits = nil, nil
		if err == nil {
			p.contents = c
		}
	})
	if err != nil {
		return fmt.Errorf("%w: close partition %s: %w", ErrUnknown, p.Name, err)
	}
	s.o.Log.Info("partition closed", "partition", p.Name, "traces", c.Traces, "sealed", c.Sealed)
	return nil
}

// roomToClose reports what keeps Badger from closing p, which would write, and end the
// process without room.
func (s *Shelf) roomToClose(p *Partition) error {
	need, err := recoveryNeeds(p.path)
	if err != nil {
		return err
	}
	return s.o.Space.Ensure(need + disk.CompactionOf(levelsOf(p.db)))
}

// compactionWait is how long CloseWriters waits for room. A compaction keeps what it reads
// until what it writes is there, so on a full disk room comes back when it ends.
const compactionWait = 10 * time.Second

// CloseWriters closes all that is open for writing, or reports why not: then what is committed
// is in the logs, and the next start recovers it. If clean is false, it does so in any case.
// It is the last that is done to a shelf before [Shelf.CloseReaders].
func (s *Shelf) CloseWriters(ctx context.Context, clean bool) error {
	if err := s.Settle(ctx); err != nil {
		return err
	}
	if a := s.takeAhead(); a != nil && (clean || probe(a.w.p.path) == nil) {
		s.discard(a.w.p)
	}
	s.mu.Lock()
	s.writer = nil
	parts := append([]*Partition(nil), s.parts...)
	s.mu.Unlock()
	var errs error
	for _, p := range parts {
		if !p.writable() {
			continue
		}
		var err error
		if !clean {
			err = probe(p.path)
		}
		if err == nil {
			err = s.retireWithin(ctx, p, clean, compactionWait)
		}
		errs = errors.Join(errs, err)
	}
	return errs
}

// retireWithin retires a partition, and waits up to so long for the room to do so.
func (s *Shelf) retireWithin(ctx context.Context, p *Partition, clean bool, wait time.Duration) error {
	for end := time.Now().Add(wait); ; time.Sleep(50 * time.Millisecond) {
		err := s.retire(ctx, p, clean)
		if !errors.Is(err, disk.ErrNoSpace) || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
	}
}

// probe reports what keeps a disk from taking anything: Badger would end the process.
func probe(dir string) error {
	path := filepath.Join(dir, "PROBE")
	if err := disk.WriteFile(path, []byte("1")); err != nil {
		return err
	}
	return os.Remove(path)
}

// Measure sees how much room compactions may need.
func (s *Shelf) Measure(now time.Time) {
	s.mu.Lock()
	var open []*Partition
	for _, p := range s.parts {
		if p.writable() && !p.closing && p.changing == nil {
			p.readers++ // so that it stays open
			open = append(open, p)
		}
	}
	s.mu.Unlock()
	var most int64
	for _, p := range open {
		most += disk.CompactionOf(levelsOf(p.db))
		s.leave(p)
	}
	if len(open) == 0 {
		if p, ok := s.newest(); ok && !p.Sealed && !s.over(p.Partition, now) {
			return // it will be written to, and what it needs is known since it was opened
		}
	}
	s.o.Space.SetCompaction(most)
}
