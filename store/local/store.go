package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/head"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/read"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
)

// InUseError says who has a data directory open.
type InUseError = disk.InUseError

var _ store.Store = (*Store)(nil)

// Reader answers questions about a data directory.
type Reader struct {
	*read.Reader

	dir    string
	opts   Options
	lock   *disk.Lock
	space  *disk.Space
	codec  *record.Codec
	packer *record.Packer
	cache  *rollups.Cache
	parts  *part.Shelf
	sums   *rollups.Shelf
	head   *head.Head

	failed func(error)                               // is told that it is not known what is on disk
	begin  func(put func([]record.Pair) error) error // has put what a partition begins with

	life  *read.Life
	found read.Found
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

	samples  record.Sampler // what dictionaries are made of
	pending  head.Pending   // what is to be rolled up
	outcomes outcomes
	writing  writing // of the committer
	rolling  rolling
	watch    *watch
	clock    clockWatch
}

// counters are since Open.
type counters struct {
	stored, duplicates, refused, commits atomic.Uint64

	rolledUp atomic.Uint64 // traces that went into rollups
	rollCPU  atomic.Int64  // ns that rolling up took
}

// Open opens the data directory dir for writing, creating it if need be, and
// recovers what a crash has left. Another process that has it open is reported as
// [*InUseError], a directory of another format as [*FormatError].
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
	if err := disk.MakePrivate(dir); err != nil {
		o.Logger.Warn("others may read the data directory, and that can not be changed", logErr, err)
	}
	s := &Store{
		Reader:  r,
		queue:   make(chan *request, o.QueueTraces),
		ctl:     make(chan func()),
		done:    make(chan struct{}),
		ended:   make(chan struct{}),
		rolling: newRolling(),
		watch:   newWatch(o),
	}
	r.failed, r.begin = s.fail, s.putInUse
	go s.watch.run()
	go s.run()
	return s, nil
}

func newReader(dir string, o Options) (r *Reader, err error) {
	r = &Reader{dir: dir, opts: o, failed: func(error) {}, life: read.NewLife()}
	if r.lock, err = disk.OpenLock(dir, o.Program); err != nil {
		return nil, err
	}
	r.space = disk.NewSpace(dir, disk.SpaceOptions{MinFree: o.MinFree, Ballast: o.Ballast, MaxDisk: o.MaxDisk, Log: o.Logger})
	if r.codec, err = record.NewCodec(o.MaxPayload); err == nil {
		r.packer, err = record.NewPacker()
	}
	if err == nil {
		r.cache, err = rollups.NewCache()
	}
	if err != nil {
		return nil, errors.Join(err, r.release())
	}
	return r, nil
}

// release undoes newReader.
func (r *Reader) release() error {
	if r.codec != nil {
		r.codec.Close()
	}
	if r.packer != nil {
		r.packer.Close()
	}
	return r.lock.Release()
}

// load lists what there is. It returns the partitions that are to be recovered.
func (r *Reader) load(readOnly bool) (dirty []*part.Partition, err error) {
	r.parts, dirty, err = part.Open(r.dir, part.Options{Width: r.opts.Partition, MemTableSize: r.opts.MemTableSize, MaxOpen: r.opts.OpenPartitions,
		Space: r.space, Log: r.opts.Logger, Failed: func(err error) { r.failed(err) },
		Begin: func(put func([]record.Pair) error) error { return r.begin(put) }})
	if err != nil {
		return nil, err
	}
	if r.sums, err = rollups.Load(r.dir, rollups.Options{Cache: r.cache, ReadOnly: readOnly}); err != nil {
		return nil, err
	}
	o := head.Options{Shelf: r.parts, Codec: r.codec, Packer: r.packer, Limits: r.opts.Rollups, Log: r.opts.Logger}
	if readOnly { // most of them ask once
		o.Size = head.MaxSize / 4
	}
	r.head = head.New(o)
	r.Reader = r.newReading()
	return dirty, nil
}

// newReading returns what answers queries.
func (r *Reader) newReading() *read.Reader {
	return read.New(read.Options{Life: r.life, Found: &r.found, Parts: r.parts, Sums: r.sums, Head: r.head, Codec: r.codec, Limits: r.opts.Rollups,
		Partition: r.opts.Partition, Retention: r.opts.Retention, Unrolled: r.opts.RollEvery < 0, Now: r.opts.Now})
}

func (r *Reader) openExclusive() error {
	if err := r.lock.Exclusive("write", disk.LockWait); err != nil {
		return err
	}
	if err := part.RemoveTrash(r.dir); err != nil {
		return err
	}
	if err := ensureFormat(r.dir); err != nil {
		return err
	}
	dirty, err := r.load(false)
	if err != nil {
		return err
	}
	r.parts.Recover(dirty)
	r.space.PutBallast()
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
	if err := checkFormat(dir); errors.Is(err, os.ErrNotExist) {
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
	for deadline := time.Now().Add(disk.LockWait); ; {
		if err := r.lock.Shared(disk.LockWait); err != nil {
			return err
		}
		if err := checkFormat(r.dir); err != nil {
			return err
		}
		dirty, err := r.load(true)
		if err != nil {
			return err
		}
		pending := false
		for _, p := range dirty {
			fault := hopeless[p.Name]
			r.parts.SetFault(p, fault)
			pending = pending || fault == nil
		}
		if !pending {
			return nil
		}
		if err := r.lock.Exclusive("recover", 0); err != nil {
			if _, ok := errors.AsType[*InUseError](err); !ok || time.Now().After(deadline) {
				return fmt.Errorf("recover after a crash: %w", err)
			}
			continue // another reader may be about to do it, or have done it
		}
		// Someone else may have recovered it between the two locks.
		if err := checkFormat(r.dir); err != nil {
			return err
		}
		if dirty, err = r.load(false); err != nil {
			return err
		}
		r.parts.Recover(dirty)
		hopeless = r.parts.Faults()
	}
}

// Close waits for running scans and closes the data directory.
func (r *Reader) Close() error {
	if !r.life.End(context.Background()) {
		return nil
	}
	r.parts.CloseReaders()
	return r.release()
}

// closeWait is how long Close waits for what is running.
const closeWait = time.Minute

// Close commits what is queued, waits for running scans, and closes the data
// directory cleanly, so that it opens fast and without recovery next time. What does not end
// within a minute is left as it is: then the next start recovers the newest partitions.
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	if err := s.storeOutcomes(ctx, 0); err != nil && !errors.Is(err, store.ErrClosed) {
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
	defer s.watch.stop()
	err := s.quiesce(ctx)
	if err == nil {
		err = s.parts.CloseWriters(ctx, s.Err() == nil)
	}
	if err != nil {
		// Badger would write, and end the process. What is committed is in its logs.
		s.opts.Logger.Error("the newest partition is not closed; the next start recovers it", logErr, err)
		return fmt.Errorf("leave the newest partition to be recovered: %w", err) // and locked, until the process ends
	}
	s.parts.CloseReaders()
	return s.release()
}

// quiesce waits until the committer and all who read have ended.
func (s *Store) quiesce(ctx context.Context) error {
	select {
	case <-s.done:
	case <-ctx.Done():
		return fmt.Errorf("wait for the last commit: %w", context.Cause(ctx))
	}
	if !s.life.End(ctx) {
		return fmt.Errorf("wait for what is being read: %w", context.Cause(ctx))
	}
	return nil
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
