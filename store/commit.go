package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"
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
			if traces+len(q.recs) > s.opts.GroupTraces || cost+q.cost > s.opts.maxCost() ||
				q.dictionary != group[0].dictionary { // a transaction has room for one
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
	err := s.Err()
	if err == nil {
		err = s.commitGroup(group)
	}
	for _, q := range group {
		if err != nil {
			q.result, q.err = AppendResult{}, err
		}
		s.stored.Add(uint64(q.result.Stored))
		s.duplicates.Add(uint64(q.result.Duplicates))
		close(q.done)
	}
}

func (s *Store) commitGroup(group []*request) error {
	now := s.opts.Now()
	if err := s.readyToWrite(now); err != nil {
		return err
	}
	if err := s.writer.write(group, now); err != nil {
		s.fail(err)
		return s.Err()
	}
	s.commits.Add(1)
	return nil
}

// readyToWrite makes the partition for now the one that is written to.
func (s *Store) readyToWrite(now time.Time) error {
	s.watchSpace(now)
	if err := s.space.commits(0); err != nil {
		return err
	}
	rotated, err := s.writer.turn(now)
	if err != nil {
		if errors.Is(err, errSeal) {
			s.fail(err)
		}
		return err
	}
	if rotated {
		s.applyRetention(now)
	}
	return nil
}

// checkSpace keeps Badger from meeting a full disk, which it answers with SIGBUS.
func (s *Store) checkSpace() error { return s.space.commits(0) }

// watchSpace looks once a second what compactions will need, and applies retention before
// commits are refused. It runs in the committer.
func (s *Store) watchSpace(now time.Time) {
	w := s.writer
	if time.Since(w.watched) < time.Second {
		return
	}
	w.watched = time.Now()
	if w.db != nil {
		s.space.compaction.Store(compactionOf(levelsOf(w.db)))
	} else if p := s.shelf.newest(); p == nil || p.Sealed || !writeTarget(now, p.start, false, s.opts.Partition).Equal(p.start) {
		s.space.compaction.Store(0) // the next partition will be a new one
	}
	if s.space.low() {
		s.applyRetention(now)
	}
}

// writer writes to the newest partition. It belongs to the committer.
type writer struct {
	r       *Reader
	p       *partition // nil until the first commit
	prev    *partition // the one before p, searched for duplicates
	db      *badger.DB
	commits *commitLog
	next    uint64           // number of the next commit
	catalog map[string]count // what p's catalogue holds, as far as it was used
	buf     []byte           // keys and values of one transaction
	fresh   *fresh           // what is to be rolled up

	dictionaries map[uint32]bool // by id, that p has
	large        uint64          // dictionaryAfter, but for tests

	watched time.Time // when space was last looked after
}

// maxCatalog bounds the memory of writer.catalog. Beyond it, entries are read again.
const maxCatalog = 1 << 16

func newWriter(r *Reader, f *fresh) *writer {
	return &writer{r: r, fresh: f, large: dictionaryAfter}
}

// errSeal is wrapped by an error that leaves open what a sealed partition holds.
var errSeal = errors.New("seal partition")

// turn makes the partition for now the one that is written to, sealing the one
// before, and reports whether it did anything.
func (w *writer) turn(now time.Time) (bool, error) {
	if w.p != nil && !w.over(now) {
		return false, nil
	}
	if err := w.seal(true, true); err != nil {
		return false, err
	}
	var newest time.Time
	var sealed bool
	p := w.r.shelf.newest()
	if p != nil {
		newest, sealed = p.start, p.Sealed
	}
	target := writeTarget(now, newest, sealed, w.r.opts.Partition)
	if p == nil || !p.start.Equal(target) {
		var err error
		if p, err = w.r.shelf.create(target); err != nil {
			return false, err
		}
	}
	if err := w.open(p); err != nil {
		err = fmt.Errorf("open partition %s for writing: %w", p.name, err)
		switch {
		case errors.Is(err, errBlocks):
			w.r.opts.Logger.Error("partition is not written to any more", logPartition, p.name, logErr, err)
			if serr := w.r.shelf.markSealed(p); serr != nil {
				return false, errors.Join(err, serr)
			}
			return w.turn(now)
		case errors.Is(err, ErrDamaged):
			w.r.shelf.giveUp(p, err) // the next commit makes a fresh one
		}
		return false, err
	}
	return true, nil
}

// over reports whether the time of the partition that is written to has passed.
func (w *writer) over(now time.Time) bool {
	return !writeTarget(now, w.p.start, false, w.r.opts.Partition).Equal(w.p.start)
}

// open opens p for writing. Its CLEAN file goes away first.
func (w *writer) open(p *partition) error {
	sh := w.r.shelf
	sh.claim(p)
	if p.db != nil {
		if err := closeBadger(p.db); err != nil {
			w.r.opts.Logger.Warn("close partition", logPartition, p.name, logErr, err)
		}
	}
	db, err := w.openFiles(p)
	sh.settle(p, db, db != nil)
	if err != nil {
		return err
	}
	w.p, w.db, w.next = p, db, p.LastCommit+1
	w.prev = sh.before(p)
	w.catalog = make(map[string]count)
	w.chooseDictionary()
	w.fresh.everything(w.r.opts.Now())
	w.r.opts.Logger.Info("partition open for writing", logPartition, p.name)
	return nil
}

func (w *writer) openFiles(p *partition) (*badger.DB, error) {
	if p.fault != nil { // could not be recovered when the store was opened
		if err := w.r.shelf.heal(p); err != nil {
			return nil, err
		}
	}
	tables := -1
	if !p.blank() {
		tables = p.Tables
	}
	if err := preflight(p.path, tables); err != nil {
		return nil, err
	}
	if tables > 0 {
		if err := verifyBlocks(p.path, w.r.opts); err != nil {
			return nil, err
		}
	}
	levels, err := levelsIn(p.path)
	if err != nil {
		return nil, err
	}
	w.r.space.compaction.Store(compactionOf(levels))
	if err := w.r.space.commits(0); err != nil {
		return nil, err
	}
	if err := removeClean(p.path); err != nil && !errors.Is(err, errNotExist) {
		return nil, err
	}
	commits, err := openCommitLog(p.path)
	if err != nil {
		return nil, err
	}
	memTable, err := memTableFor(p.path, w.r.opts.MemTableSize)
	if err != nil {
		return nil, errors.Join(err, commits.Close())
	}
	db, err := openBadger(badgerOptions(p.path, memTable, false, w.r.opts.Logger))
	if err != nil {
		return nil, errors.Join(err, commits.Close())
	}
	w.commits = commits
	return db, nil
}

// seal closes the partition that is written to. If clean is false it is left for
// recovery to look into; if final is true it is never written to again.
func (w *writer) seal(clean, final bool) error {
	if w.p == nil {
		return nil
	}
	p := w.p
	w.r.shelf.claim(p)
	err := errors.Join(w.commits.Close(), closeBadger(w.db))
	if err == nil && clean {
		c := p.contents
		c.Sealed = final
		if c, err = writeClean(p.path, c); err == nil {
			w.r.shelf.mu.Lock()
			p.contents = c
			w.r.shelf.mu.Unlock()
		}
	}
	w.r.shelf.settle(p, nil, false)
	w.p, w.prev, w.db, w.commits, w.catalog = nil, nil, nil, nil, nil
	w.r.space.compaction.Store(0)
	if err != nil {
		return fmt.Errorf("%w %s: %w", errSeal, p.name, err)
	}
	w.r.opts.Logger.Info("partition closed", logPartition, p.name, "traces", p.Traces, "sealed", final)
	return nil
}
