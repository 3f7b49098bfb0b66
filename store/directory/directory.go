package directory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/commits"
	"github.com/fieldtrie/fieldtrie/store/objects"
)

// Directory is a directory of objects. It is safe for concurrent use by multiple goroutines.
type Directory struct {
	dir   string
	fs    disk.FS
	clock *objects.Clock
	space *disk.Space
	lock  *disk.Lock   // nil in read-only mode
	fresh *commits.Log // objects under [objects.Fresh], which are short-lived

	swap    sync.Mutex // held while an object is put under a condition
	noted   time.Time  // when the last use was recorded; guarded by swap
	warn    func(error)
	closed  atomic.Bool
	folders sync.Map // paths of folders that are known to be durable
	did     struct{ put, get, list, delete atomic.Uint64 }
	temp    atomic.Uint64 // numbers temporary files
}

// Options configures a directory. Zero fields have the defaults given below.
type Options struct {
	FS       disk.FS          // for all file operations except those of Badger and of the lock; default: disk.OS
	Program  string           // name of this program, for the error of other writers
	ReadOnly bool             // nothing may be put; other processes may write
	Brief    bool             // open only briefly, so that other processes should wait
	Now      func() time.Time // default: time.Now
	// MinFree is how many bytes of the file system stay free: 192 MiB. Half of them are reserved
	// for rolling up, because traces are deleted only after that. Objects that are put under a
	// condition may use all of them. A negative value disables the check.
	MinFree int64
	// BelieveClock allows deletion by age even if the clock is days away from the last use.
	BelieveClock bool
	Warn         func(error) // called for damage that fails no call; may be nil
}

// Open opens a directory. In read-write mode it creates a missing directory, and returns a
// [*disk.InUseError] if another process is writing.
func Open(dir string, o Options) (_ *Directory, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.FS == nil {
		o.FS = disk.OS
	}
	if o.MinFree == 0 {
		o.MinFree = 192 << 20
	}
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	dir = filepath.Clean(dir) // like the paths of its objects
	d := &Directory{dir: dir, fs: o.FS, clock: objects.LocalClock(o.Now), warn: o.Warn}
	if o.ReadOnly {
		if _, err := d.fs.Stat(dir); err != nil {
			return nil, fmt.Errorf("open %s: %w", dir, without(err))
		}
		return d, d.openFresh(o)
	}
	if err := disk.MakeFolder(d.fs, dir, folderMode); err != nil {
		return nil, fmt.Errorf("create %s: %w", dir, without(err))
	}
	if d.lock, err = disk.OpenLock(dir, o.Program); err != nil {
		return nil, err
	}
	if err = d.openLocked(o); err != nil {
		return nil, errors.Join(err, d.lock.Release())
	}
	d.noteUse()
	return d, nil
}

// without strips the operation and the path from a path error, because callers name both.
func without(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// openLocked acquires the lock, and opens the directory.
func (d *Directory) openLocked(o Options) error {
	mode := "write"
	if o.Brief {
		mode = "recover"
	}
	if err := d.lock.Exclusive(mode, disk.LockWait); err != nil {
		return err
	}
	_, err := d.fs.Stat(filepath.Join(d.dir, objects.Marker))
	if err == nil { // otherwise its files are not objects
		err = errors.Join(disk.MakePrivate(d.fs, d.dir), d.clean(d.dir))
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	if !o.BelieveClock {
		used, err := d.lastUsed()
		if err != nil {
			return err
		}
		if !used.IsZero() {
			d.clock.LastUsed(used)
		}
	}
	d.space = disk.NewSpace(d.dir, o.MinFree)
	return d.openFresh(o)
}

// Commits is the folder of fresh objects, which are stored in Badger rather than in files.
const Commits = "commits"

// openFresh opens the log of fresh objects. It allocates log files if the free space is checked.
func (d *Directory) openFresh(o Options) (err error) {
	d.fresh, err = commits.Open(filepath.Join(d.dir, Commits), commits.Options{
		ReadOnly: o.ReadOnly, Now: d.clock.Now, Warn: o.Warn, FS: o.FS,
		Room:     func() bool { return d.space == nil || d.space.Room(commits.Needs, 0) == nil },
		Allocate: d.space != nil && d.space.Checked(), MaxBytes: commits.OneLog,
	})
	if err != nil {
		return fmt.Errorf("open the commits of %s: %w", d.dir, err)
	}
	return nil
}

// folderMode is the mode of folders. Names of pages and functions are private.
const folderMode = 0o700

// Close releases the lock, so that another process can write. Nothing may be put or deleted
// afterwards.
func (d *Directory) Close() error {
	if d.lock == nil || d.closed.Swap(true) {
		return nil
	}
	return errors.Join(d.fresh.Close(), d.lock.Release())
}

// writable returns an error if this process must not change the directory.
func (d *Directory) writable() error {
	switch {
	case d.lock == nil:
		return errors.New("it is open in read-only mode")
	case d.closed.Load():
		return errors.New("it is closed")
	}
	return d.lock.Check()
}

// Name implements [objects.Store].
func (d *Directory) Name() string { return d.dir + "/" }

// Clock implements [objects.Store]. It is the clock of this machine.
func (d *Directory) Clock() *objects.Clock { return d.clock }

// Exclusive implements [objects.Store]. It is true, because the lock excludes other writers.
func (d *Directory) Exclusive() bool { return true }

// Requests implements [objects.Store].
func (d *Directory) Requests() objects.Requests {
	return objects.Requests{Put: d.did.put.Load(), Get: d.did.get.Load(), List: d.did.list.Load(),
		Delete: d.did.delete.Load()}
}

// Used is the file with the time of the last use of a directory. It is a separate file, and is
// written only while the clock is trusted, so no start can lose a doubt about the clock.
const Used = "USED"

const noteEvery = 10 * time.Minute

// lastUsed returns the time of the last use of the directory, or zero if it is unknown.
func (d *Directory) lastUsed() (time.Time, error) {
	path := filepath.Join(d.dir, Used)
	text, err := disk.ReadFile(d.fs, path)
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time of the last use: %w", err)
	}
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
	if err != nil {
		return time.Time{}, fmt.Errorf(
			"read the time of the last use: %s is damaged; it should contain one line such as %s; "+
				"check the clock of this machine, then delete the file: %w", path, time.RFC3339, err)
	}
	return at, nil
}

// noteUse records the time of use, unless the clock is in doubt. If that fails, the next start may
// doubt a correct clock.
func (d *Directory) noteUse() {
	if d.clock.Doubt() != nil {
		return
	}
	at := d.clock.Now()
	if at.Sub(d.noted).Abs() < noteEvery {
		return
	}
	d.noted = at
	path := filepath.Join(d.dir, Used)
	text := at.UTC().Format(time.RFC3339) + "\n"
	if err := disk.WriteFileBy(d.fs, path, path+tempSuffix, []byte(text), time.Time{}); err != nil {
		d.warn(fmt.Errorf("record the use of %s: %w", d.dir, err))
	}
}

// stuckAfter is how long a commit may take before the disk counts as stuck.
const stuckAfter = 10 * time.Second

// Waits returns how long the oldest commit has been waiting for the disk, or 0 if none is.
func (d *Directory) Waits() time.Duration { return d.fresh.Waits() }

// Stuck returns an error if a commit has been waiting for more than 10 s.
func (d *Directory) Stuck() error {
	if waits := d.Waits(); waits > stuckAfter {
		return fmt.Errorf("the disk of %s has not responded for %v", d.dir, waits.Round(time.Second))
	}
	return nil
}

// Unready implements [objects.Store]. Traces are rejected while the disk is full or does not
// respond.
func (d *Directory) Unready() error {
	if err := d.writable(); err != nil {
		return err
	}
	if err := d.Stuck(); err != nil {
		return err
	}
	if err := d.room(d.space.Writing(), time.Second); err != nil {
		return err
	}
	if err := d.fresh.Failure(); err != nil {
		return fmt.Errorf("write to %s: %w", d.dir, noRoom(err))
	}
	return nil
}

// Lost returns how many acknowledged fresh objects, or deletions of them, were found to be lost
// when the directory was opened.
func (d *Directory) Lost() int { return d.fresh.Lost() }

// FreshBytes returns the disk usage of fresh objects, including deleted ones whose space is not
// free yet.
func (d *Directory) FreshBytes() int64 {
	return disk.TreeBytes(filepath.Join(d.dir, Commits)) + disk.TreeBytes(filepath.Join(d.dir, objects.Fresh))
}

// Room returns the free space, which may be up to 1 s old.
func (d *Directory) Room() (r disk.Room) {
	r.Free, _ = d.space.Free(time.Second)
	if d.space.Checked() {
		r.Needed = d.space.Writing()
	}
	r.Refusing = errors.Is(d.Unready(), objects.ErrNoSpace)
	return r
}

// roomError is an [objects.ErrNoSpace]. Retrying does not help.
type roomError struct{ error }

func (e *roomError) Is(target error) bool { return target == objects.ErrNoSpace }
func (e *roomError) Refused() bool        { return true }
func (e *roomError) Unwrap() error        { return e.error }

// noRoom converts an error of a full file system to [objects.ErrNoSpace], unless the object may
// have been stored.
func noRoom(err error) error {
	_, unsynced := errors.AsType[*disk.SyncError](err)
	if !unsynced && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)) {
		return &roomError{err}
	}
	return err
}

// room returns an error if fewer than n bytes are free. The free space may be up to age old.
func (d *Directory) room(n int64, age time.Duration) error {
	err := d.space.Room(n, age)
	if errors.Is(err, disk.ErrNoSpace) {
		return &roomError{err}
	}
	return err
}

// Probe implements [objects.Store]. It checks that a new object can be read, unless the disk is
// full.
func (d *Directory) Probe(ctx context.Context) error {
	const key, text = objects.Probes + "probe", "probe"
	_, err := d.Put(ctx, key, []byte(text), objects.Condition{})
	if errors.Is(err, objects.ErrNoSpace) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("probe %s: %w", d.dir, err)
	}
	got, err := d.Get(ctx, key, 1<<10, "")
	if err == nil && string(got.Body) != text {
		err = errors.New("the object differs from what was written")
	}
	if err = errors.Join(err, d.Delete(ctx, key)); err != nil {
		return fmt.Errorf("probe %s: %w", d.dir, err)
	}
	return nil
}
