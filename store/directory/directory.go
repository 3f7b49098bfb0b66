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

// Directory is a directory of objects. Its methods may be called at once.
type Directory struct {
	dir   string
	fs    disk.FS
	clock *objects.Clock
	space *disk.Space
	lock  *disk.Lock   // nil of who reads alone
	fresh *commits.Log // of objects that are there for a short time, under [objects.Fresh]

	swap    sync.Mutex // held by who puts an object under a condition
	noted   time.Time  // when it was last noted that the directory is used, guarded by swap
	warn    func(error)
	closed  atomic.Bool
	folders sync.Map // those that are on the disk, by path
	did     struct{ put, get, list, delete atomic.Uint64 }
	temp    atomic.Uint64 // names files that are written
}

// Options configures a directory. The zero value is the default given with each field.
type Options struct {
	FS       disk.FS          // all file operations but those of Badger and of the lock: disk.OS
	Program  string           // that others are told of who want to write: the name of this one
	ReadOnly bool             // nothing is put, and others may put
	Brief    bool             // it is open for a moment, for which others wait
	Now      func() time.Time // the clock: time.Now
	// MinFree is how many bytes of the file system stay free: 192 MiB. Half of them are for rolling up, since traces are
	// deleted after that, and what is put under a condition may take all.
	// Less than 0 is no check.
	MinFree int64
	// BelieveClock has things deleted by their age although the clock is days from when the directory was used last.
	BelieveClock bool
	Warn         func(error) // is told of what is damaged and fails no call; nobody is
}

// Open opens a directory. To write, it makes one that is not there, and fails with a [*disk.InUseError] if another process
// writes.
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
	dir = filepath.Clean(dir) // as the paths of its objects are
	d := &Directory{dir: dir, fs: o.FS, clock: objects.LocalClock(o.Now), warn: o.Warn}
	if o.ReadOnly {
		if _, err := d.fs.Stat(dir); err != nil {
			return nil, fmt.Errorf("open %s: %w", dir, without(err))
		}
		return d, d.openFresh(o)
	}
	if err := disk.MakeFolder(d.fs, dir, folderMode); err != nil {
		return nil, fmt.Errorf("make %s: %w", dir, without(err))
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

// without returns an error without the path that it is about.
func without(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// openLocked takes the lock, and opens what is in the directory.
func (d *Directory) openLocked(o Options) error {
	mode := "write"
	if o.Brief {
		mode = "recover"
	}
	if err := d.lock.Exclusive(mode, disk.LockWait); err != nil {
		return err
	}
	_, err := d.fs.Stat(filepath.Join(d.dir, objects.Marker))
	if err == nil { // else its files are not ours
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

// Commits is the folder of fresh objects, which lie in Badger and not in files.
const Commits = "commits"

// openFresh opens the log of fresh objects. Its logs are allocated where free space is watched.
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

// folderMode is the mode of folders: names of pages and functions are private.
const folderMode = 0o700

// Close lets others write. Nothing is put or deleted after it.
func (d *Directory) Close() error {
	if d.lock == nil || d.closed.Swap(true) {
		return nil
	}
	return errors.Join(d.fresh.Close(), d.lock.Release())
}

// writable fails if this process must not change anything.
func (d *Directory) writable() error {
	switch {
	case d.lock == nil:
		return errors.New("it is open for reading alone")
	case d.closed.Load():
		return errors.New("it is closed")
	}
	return d.lock.Check()
}

// Name implements [objects.Store].
func (d *Directory) Name() string { return d.dir + "/" }

// Clock implements [objects.Store]: it is that of this machine.
func (d *Directory) Clock() *objects.Clock { return d.clock }

// Exclusive implements [objects.Store]: the lock keeps others away.
func (d *Directory) Exclusive() bool { return true }

// Requests implements [objects.Store].
func (d *Directory) Requests() objects.Requests {
	return objects.Requests{Put: d.did.put.Load(), Get: d.did.get.Load(), List: d.did.list.Load(), Delete: d.did.delete.Load()}
}

// Used is the file with the time of the last use of a directory, by a clock that was believed. It
// is a file of its own, and changes only while the clock is believed, so no start can forget a
// doubt.
const Used = "USED"

const noteEvery = 10 * time.Minute

// lastUsed returns when a directory was used last; zero if that is not known.
func (d *Directory) lastUsed() (time.Time, error) {
	path := filepath.Join(d.dir, Used)
	text, err := disk.ReadFile(d.fs, path)
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read when it was used last: %w", err)
	}
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
	if err != nil {
		return time.Time{}, fmt.Errorf("read when it was used last: %s is damaged, it has one line such as %s: "+
			"check the clock of this machine, then delete the file: %w", path, time.RFC3339, err)
	}
	return at, nil
}

// noteUse notes that the directory is used, unless the clock is in doubt. If that fails, the next
// start may doubt a clock that is right.
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
		d.warn(fmt.Errorf("note when %s was used: %w", d.dir, err))
	}
}

// stuckAfter is how long a disk takes at most for a commit.
const stuckAfter = 10 * time.Second

// Waits returns for how long the disk has not answered; 0 if nothing waits for it.
func (d *Directory) Waits() time.Duration { return d.fresh.Waits() }

// Stuck returns an error if that is too long.
func (d *Directory) Stuck() error {
	if waits := d.Waits(); waits > stuckAfter {
		return fmt.Errorf("the disk of %s has not answered for %v", d.dir, waits.Round(time.Second))
	}
	return nil
}

// Unready implements [objects.Store]: traces are refused while the disk is full, or does not answer.
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

// Lost returns how many records of fresh objects were acknowledged and are lost, as far as that
// was found at the start.
func (d *Directory) Lost() int { return d.fresh.Lost() }

// FreshBytes returns how many bytes of the disk are taken by all fresh objects, and by those that are deleted and still take room.
func (d *Directory) FreshBytes() int64 {
	return disk.TreeBytes(filepath.Join(d.dir, Commits)) + disk.TreeBytes(filepath.Join(d.dir, objects.Fresh))
}

// Room returns how much room there is, as it was up to a second ago.
func (d *Directory) Room() (r disk.Room) {
	r.Free, _ = d.space.Free(time.Second)
	if d.space.Checked() {
		r.Needed = d.space.Writing()
	}
	r.Refusing = errors.Is(d.Unready(), objects.ErrNoSpace)
	return r
}

// roomError is [objects.ErrNoSpace]. No attempt has more room than the one before.
type roomError struct{ error }

func (e *roomError) Is(target error) bool { return target == objects.ErrNoSpace }
func (e *roomError) Refused() bool        { return true }
func (e *roomError) Unwrap() error        { return e.error }

// noRoom makes [objects.ErrNoSpace] of an error of a full file system, unless the object may be
// stored all the same.
func noRoom(err error) error {
	_, unsynced := errors.AsType[*disk.SyncError](err)
	if !unsynced && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)) {
		return &roomError{err}
	}
	return err
}

// room fails if fewer than n bytes are free, as it was so long ago.
func (d *Directory) room(n int64, age time.Duration) error {
	err := d.space.Room(n, age)
	if errors.Is(err, disk.ErrNoSpace) {
		return &roomError{err}
	}
	return err
}

// Probe implements [objects.Store]: what is put can be got, unless the disk is full.
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
		err = errors.New("it is not what was put")
	}
	if err = errors.Join(err, d.Delete(ctx, key)); err != nil {
		return fmt.Errorf("probe %s: %w", d.dir, err)
	}
	return nil
}
