package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClosed is returned after Close.
var ErrClosed = errors.New("store is closed")

// Reader answers questions about a data directory.
type Reader struct {
	dir    string
	opts   Options
	lock   *dirLock
	space  *space
	shelf  *shelf
	codec  *Codec
	pack   *packer
	writer *writer // nil unless it belongs to a Store

	samples sampler // what a Store makes dictionaries of
	tails   tails   // of the partition that is written to
	records *recordCache

	damaged atomic.Uint64 // values found damaged by scans
	missing atomic.Uint64 // traces found missing by scans

	life   sync.RWMutex // held shared while reading, for Close to wait
	closed bool
}

// Store is a data directory open for writing. Exactly one process can have it.
type Store struct {
	*Reader

	queue chan *request
	ctl   chan func()
	done  chan struct{} // closed when the committer has ended

	ended chan struct{} // closed when the first Close returns

	qmu          sync.Mutex // guards the fields below
	closing      bool
	queuedTraces int
	queuedBytes  int64

	counters
	failure atomic.Pointer[error]

	fresh    fresh
	roller   roller
	outcomes outcomes
}

// counters are since Open.
type counters struct {
	stored, duplicates, refused, commits atomic.Uint64

	rolledUp atomic.Uint64 // traces that went into rollups
	rollCPU  atomic.Int64  // ns that rolling up took
}

// Open opens the data directory dir for writing, creating it if need be, and
// recovers what a crash has left. Another process that has it open is reported as
// [*InUseError], a directory written by a newer release as [*FormatError].
func Open(dir string, o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	r, err := newReader(dir, o)
	if err != nil {
		return nil, err
	}
	if err := r.openExclusive(); err != nil {
		return nil, errors.Join(err, r.release())
	}
	s := &Store{
		Reader: r,
		queue:  make(chan *request, o.QueueTraces),
		ctl:    make(chan func()),
		done:   make(chan struct{}),
		ended:  make(chan struct{}),
	}
	s.roller.stint = rollFor
	r.writer = newWriter(r, &s.fresh)
	go s.run()
	return s, nil
}

func newReader(dir string, o Options) (*Reader, error) {
	lock, err := openLock(dir, o.Program)
	if err != nil {
		return nil, err
	}
	codec, err := NewCodec(o.MaxPayload)
	if err != nil {
		return nil, errors.Join(err, lock.release())
	}
	pack, err := newPacker()
	if err != nil {
		codec.Close()
		return nil, errors.Join(err, lock.release())
	}
	records, err := newRecordCache()
	if err != nil {
		codec.Close()
		pack.close()
		return nil, errors.Join(err, lock.release())
	}
	sh := newShelf(dir, o)
	return &Reader{dir: dir, opts: o, lock: lock, codec: codec, pack: pack, shelf: sh, space: sh.space, records: records}, nil
}

// release undoes newReader.
func (r *Reader) release() error {
	r.codec.Close()
	r.pack.close()
	r.records.of.Close()
	return r.lock.release()
}

func (r *Reader) openExclusive() error {
	if err := r.lock.exclusive("write", lockWait); err != nil {
		return err
	}
	if err := ensureFormat(r.dir, r.opts.Logger); err != nil {
		return err
	}
	dirty, trash, err := r.shelf.load()
	if err != nil {
		return err
	}
	for _, path := range trash {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("finish deleting a partition: %w", err)
		}
	}
	r.shelf.recover(dirty)
	r.space.settle()
	return nil
}

// OpenReader opens the data directory dir for reading, while no [Store] has it
// open. Any number of readers can have it open at once. If a crash has left
// something to recover, the first reader does that and keeps others out meanwhile.
func OpenReader(dir string, o Options) (*Reader, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if _, err := readFormat(dir); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a data directory: %w", dir, err)
	} else if err != nil {
		return nil, err
	}
	r, err := newReader(dir, o)
	if err != nil {
		return nil, err
	}
	if err := r.openShared(); err != nil {
		return nil, errors.Join(err, r.release())
	}
	return r, nil
}

// openShared locks the directory together with other readers, and alone as long as
// there is something to recover.
func (r *Reader) openShared() error {
	hopeless := make(map[string]error) // partitions that cannot be recovered now
	for deadline := time.Now().Add(lockWait); ; {
		if err := r.lock.shared(lockWait); err != nil {
			return err
		}
		r.shelf = newShelf(r.dir, r.opts)
		dirty, _, err := r.shelf.load()
		if err != nil {
			return err
		}
		pending := false
		for _, p := range dirty {
			p.fault = hopeless[p.name]
			pending = pending || p.fault == nil
		}
		if !pending {
			return nil
		}
		if err := r.lock.exclusive("recover", 0); err != nil {
			if _, ok := errors.AsType[*InUseError](err); !ok || time.Now().After(deadline) {
				return fmt.Errorf("recover after a crash: %w", err)
			}
			continue // another reader may be about to do it, or have done it
		}
		// Someone else may have recovered it between the two locks.
		r.shelf = newShelf(r.dir, r.opts)
		if dirty, _, err = r.shelf.load(); err != nil {
			return err
		}
		r.shelf.recover(dirty)
		for _, p := range dirty {
			if p.fault != nil {
				hopeless[p.name] = p.fault
			}
		}
	}
}

// Close waits for running scans and closes the data directory.
func (r *Reader) Close() error {
	if !r.shut() {
		return nil
	}
	r.shelf.closeAll()
	return r.release()
}

// shut waits for running scans and refuses new ones. It returns false if that was
// done before.
func (r *Reader) shut() bool {
	r.life.Lock()
	defer r.life.Unlock()
	was := r.closed
	r.closed = true
	return !was
}

// Now returns the time by the clock of the store.
func (r *Reader) Now() time.Time { return r.opts.Now() }

// enter keeps the directory open until leave is called.
func (r *Reader) enter() error {
	r.life.RLock()
	if r.closed {
		r.life.RUnlock()
		return ErrClosed
	}
	return nil
}

func (r *Reader) leave() { r.life.RUnlock() }

// Close commits what is queued, waits for running scans, and closes the data
// directory cleanly, so that it opens fast and without recovery next time.
func (s *Store) Close() error {
	if err := s.storeOutcomes(context.Background(), 0); err != nil && !errors.Is(err, ErrClosed) {
		s.opts.Logger.Warn("page views without a trace are forgotten", logErr, err)
	}
	s.qmu.Lock()
	if s.closing {
		s.qmu.Unlock()
		<-s.ended
		return nil
	}
	s.closing = true
	close(s.queue) // Append sends under qmu, and never after closing is set
	s.qmu.Unlock()
	defer close(s.ended)
	<-s.done
	s.shut()
	if err := s.closable(); err != nil {
		// Badger would write, and end the process. What is committed is in its logs.
		s.opts.Logger.Error("the newest partition is not closed; the next start recovers it", logErr, err)
		return fmt.Errorf("leave the newest partition to be recovered: %w", err) // and locked, until the process ends
	}
	err := s.writer.seal(s.Err() == nil, false)
	s.shelf.closeAll()
	return errors.Join(err, s.release())
}

// closable reports what keeps the partition that is written to from being closed: no
// space, or a disk that does not take anything.
func (s *Store) closable() error {
	w := s.writer
	if w.db == nil {
		return nil
	}
	need, err := recoveryNeeds(w.p.path)
	if err != nil {
		return err
	}
	if err := s.space.make(need + compactionOf(levelsOf(w.db))); err != nil {
		return err
	}
	if s.Err() == nil {
		return nil
	}
	probe := filepath.Join(w.p.path, "PROBE")
	if err := writeFileSynced(probe, []byte("1")); err != nil {
		return err
	}
	return os.Remove(probe)
}

// Err returns why the store has stopped accepting traces, or nil. A commit that
// went wrong leaves open what is on disk, so nothing is acknowledged after it until
// the directory is opened anew.
func (s *Store) Err() error {
	if p := s.failure.Load(); p != nil {
		return *p
	}
	return nil
}

func (s *Store) fail(err error) {
	err = fmt.Errorf("store has stopped: %w", err)
	if s.failure.CompareAndSwap(nil, &err) {
		s.opts.Logger.Error("store has stopped accepting traces", logErr, err)
	}
}

// Maintain seals the newest partition if its time is over, and deletes what
// retention no longer keeps. Commits do that as well; call Maintain every minute
// or so, for the times when nothing is received.
func (s *Store) Maintain(ctx context.Context) error {
	result := make(chan error, 1)
	select {
	case s.ctl <- func() { result <- s.maintain(s.opts.Now()) }:
		return <-result
	case <-s.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// maintain runs in the committer.
func (s *Store) maintain(now time.Time) error {
	w := s.writer
	s.watchSpace(now)
	s.shelf.recover(s.shelf.waiting())
	s.space.settle()
	if w.p != nil && w.over(now) && s.checkSpace() == nil {
		if err := w.seal(s.Err() == nil, true); err != nil {
			s.fail(err)
			return err
		}
	}
	if w.p == nil {
		s.sealIdle(now)
	}
	s.applyRetention(now)
	return nil
}

// sealIdle seals the newest partition if its time was over when the store was opened.
func (s *Store) sealIdle(now time.Time) {
	p := s.shelf.newest()
	if p == nil || p.Sealed || p.fault != nil || writeTarget(now, p.start, false, s.opts.Partition).Equal(p.start) {
		return
	}
	if err := s.shelf.markSealed(p); err != nil {
		s.opts.Logger.Warn("seal partition", logPartition, p.name, logErr, err)
	}
}

// markSealed notes that p, which is closed, is never written to again.
func (s *shelf) markSealed(p *partition) error {
	c := p.contents
	c.Sealed = true
	c, err := writeClean(p.path, c)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.contents = c
	return nil
}

// create adds a new, empty partition to the shelf. Its name must be greater than
// those of all others. A directory that is there is what an earlier attempt has made
// before something else failed.
func (s *shelf) create(start time.Time) (*partition, error) {
	p := &partition{name: partitionName(start), start: start}
	p.path = filepath.Join(s.dir, p.name)
	if err := makeDir(p.path); err != nil {
		return nil, fmt.Errorf("create partition: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts = append(s.parts, p)
	return p, nil
}
