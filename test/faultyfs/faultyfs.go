package faultyfs

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// Op is an operation on a file. Its kind is one of the constants below, or the operation that a
// caller passes to [FS.Fail].
type Op struct {
	Kind string
	Path string
}

// Kinds of operations.
const (
	Open    = "open" // of an existing file
	Create  = "create"
	Mkdir   = "mkdir"
	ReadDir = "readdir"
	Stat    = "stat"
	Rename  = "rename"
	Remove  = "remove"
	Chtimes = "chtimes"
	Chmod   = "chmod"
	Read    = "read"
	Write   = "write"
	Sync    = "sync"
	Close   = "close"
)

// String implements [fmt.Stringer].
func (o Op) String() string { return o.Kind + " " + o.Path }

// Fault configures which operations fail, and how.
type Fault struct {
	// N is the number of the first operation that fails, from 1; 0 means none. If Only is not nil,
	// only the operations that it accepts are counted.
	N    int
	Only func(Op) bool
	// Stays makes all later operations fail as well.
	Stays bool
	// Err is the cause, such as syscall.EMFILE; nil means syscall.EIO.
	Err error
	// Torn makes a read or a write fail after half of its bytes.
	Torn bool
}

// On returns a function for [Fault.Only] that accepts some kinds of operations.
func On(kinds ...string) func(Op) bool {
	return func(o Op) bool {
		for _, k := range kinds {
			if o.Kind == k {
				return true
			}
		}
		return false
	}
}

// FS is a [disk.FS] whose operations fail on demand. It is safe for concurrent use. The zero value
// is ready to use: it is the real file system without faults.
type FS struct {
	mu     sync.Mutex
	fault  Fault
	count  int
	failed []Op
}

// Set sets the fault and restarts the count.
func (f *FS) Set(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.count, f.failed = fault, 0, nil
}

// Count returns the number of operations since [FS.Set].
func (f *FS) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// Failed returns the operations that failed since [FS.Set].
func (f *FS) Failed() []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Op(nil), f.failed...)
}

// Fail implements [disk.Failer].
func (f *FS) Fail(operation, path string) error {
	err, _ := f.next(operation, path)
	return err
}

// next counts an operation. It returns the operation's error if it fails, and whether half of it is
// executed before.
func (f *FS) next(kind, path string) (err error, torn bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	op := Op{kind, path}
	if f.fault.Only != nil && !f.fault.Only(op) {
		return nil, false
	}
	f.count++
	if f.fault.N == 0 || f.count < f.fault.N || f.count > f.fault.N && !f.fault.Stays {
		return nil, false
	}
	f.failed = append(f.failed, op)
	err = f.fault.Err
	if err == nil {
		err = syscall.EIO
	}
	return &fs.PathError{Op: kind, Path: path, Err: fmt.Errorf("injected: %w", err)}, f.fault.Torn
}

// OpenFile implements [disk.FS].
func (f *FS) OpenFile(name string, flag int, mode fs.FileMode) (disk.File, error) {
	kind := Open
	if flag&os.O_CREATE != 0 {
		kind = Create
	}
	if err := f.Fail(kind, name); err != nil {
		return nil, err
	}
	of, err := disk.OS.OpenFile(name, flag, mode)
	if err != nil {
		return nil, err
	}
	return &file{f, of, name}, nil
}

// Mkdir implements [disk.FS].
func (f *FS) Mkdir(name string, mode fs.FileMode) error {
	if err := f.Fail(Mkdir, name); err != nil {
		return err
	}
	return disk.OS.Mkdir(name, mode)
}

// ReadDir implements [disk.FS].
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.Fail(ReadDir, name); err != nil {
		return nil, err
	}
	return disk.OS.ReadDir(name)
}

// Stat implements [disk.FS].
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	if err := f.Fail(Stat, name); err != nil {
		return nil, err
	}
	return disk.OS.Stat(name)
}

// Lstat implements [disk.FS].
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	if err := f.Fail(Stat, name); err != nil {
		return nil, err
	}
	return disk.OS.Lstat(name)
}

// Rename implements [disk.FS].
func (f *FS) Rename(from, to string) error {
	if err := f.Fail(Rename, to); err != nil {
		return err
	}
	return disk.OS.Rename(from, to)
}

// Remove implements [disk.FS].
func (f *FS) Remove(name string) error {
	if err := f.Fail(Remove, name); err != nil {
		return err
	}
	return disk.OS.Remove(name)
}

// Chtimes implements [disk.FS].
func (f *FS) Chtimes(name string, accessed, modified time.Time) error {
	if err := f.Fail(Chtimes, name); err != nil {
		return err
	}
	return disk.OS.Chtimes(name, accessed, modified)
}

// Chmod implements [disk.FS].
func (f *FS) Chmod(name string, mode fs.FileMode) error {
	if err := f.Fail(Chmod, name); err != nil {
		return err
	}
	return disk.OS.Chmod(name, mode)
}

// file is an open file.
type file struct {
	on   *FS
	of   disk.File
	path string
}

// part executes a read or a write, or half of it if it is torn.
func (f *file) part(kind string, b []byte, do func([]byte) (int, error)) (int, error) {
	err, torn := f.on.next(kind, f.path)
	switch {
	case err == nil:
		return do(b)
	case !torn:
		return 0, err
	}
	n, _ := do(b[:len(b)/2])
	return n, err
}

func (f *file) Read(b []byte) (int, error)  { return f.part(Read, b, f.of.Read) }
func (f *file) Write(b []byte) (int, error) { return f.part(Write, b, f.of.Write) }

func (f *file) ReadAt(b []byte, offset int64) (int, error) {
	return f.part(Read, b, func(b []byte) (int, error) { return f.of.ReadAt(b, offset) })
}

func (f *file) Stat() (fs.FileInfo, error) {
	if err := f.on.Fail(Stat, f.path); err != nil {
		return nil, err
	}
	return f.of.Stat()
}

func (f *file) Sync() error {
	if err := f.on.Fail(Sync, f.path); err != nil {
		return err
	}
	return f.of.Sync()
}

// Close closes the file even if it fails, as close(2) does.
func (f *file) Close() error {
	err := f.on.Fail(Close, f.path)
	if cerr := f.of.Close(); err == nil {
		err = cerr
	}
	return err
}
