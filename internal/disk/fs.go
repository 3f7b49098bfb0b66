package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// FS has the file operations that the store needs. [OS] is the file system of this machine. Tests
// replace it by a file system that fails on demand.
type FS interface {
	OpenFile(name string, flag int, mode fs.FileMode) (File, error)
	Mkdir(name string, mode fs.FileMode) error
	ReadDir(name string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Rename(from, to string) error
	Remove(name string) error
	Chtimes(name string, accessed, modified time.Time) error
	Chmod(name string, mode fs.FileMode) error
}

// File is an open file of an [FS].
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
}

// Failer is implemented by an [FS] that also injects errors into operations that bypass it: a
// library such as Badger has its own file operations.
type Failer interface {
	// Fail returns the error to inject into an operation on a path, or nil.
	Fail(operation, path string) error
}

// Fail returns the injected error of an operation if on is a [Failer], and otherwise nil.
func Fail(on FS, operation, path string) error {
	if f, ok := on.(Failer); ok {
		return f.Fail(operation, path)
	}
	return nil
}

// OS is the file system of this machine.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenFile(name string, flag int, mode fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, mode)
	if err != nil {
		return nil, err // not a File with a nil pointer
	}
	return f, nil
}

func (osFS) Mkdir(name string, mode fs.FileMode) error  { return os.Mkdir(name, mode) }
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (osFS) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (osFS) Lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (osFS) Rename(from, to string) error               { return os.Rename(from, to) }
func (osFS) Remove(name string) error                   { return os.Remove(name) }
func (osFS) Chtimes(name string, accessed, modified time.Time) error {
	return os.Chtimes(name, accessed, modified)
}
func (osFS) Chmod(name string, mode fs.FileMode) error { return os.Chmod(name, mode) }

// Open opens a file for reading.
func Open(on FS, name string) (File, error) { return on.OpenFile(name, os.O_RDONLY, 0) }

// ReadFile returns the content of a file.
func ReadFile(on FS, name string) ([]byte, error) {
	f, err := Open(on, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // a close error after reading does not matter
	return io.ReadAll(f)
}

// MakeFolder creates a directory and its missing parents, like [os.MkdirAll].
func MakeFolder(on FS, name string, mode fs.FileMode) error {
	err := on.Mkdir(name, mode)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(name) != name {
		if err = MakeFolder(on, filepath.Dir(name), mode); err == nil {
			err = on.Mkdir(name, mode)
		}
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, serr := on.Stat(name)
	switch {
	case serr != nil:
		return serr
	case !info.IsDir():
		return err
	}
	return nil
}

// RemoveTree removes a file or a directory with its contents, like [os.RemoveAll].
func RemoveTree(on FS, name string) error {
	info, err := on.Lstat(name)
	if err == nil && info.IsDir() {
		var list []fs.DirEntry
		list, err = on.ReadDir(name)
		for _, e := range list {
			err = errors.Join(err, RemoveTree(on, filepath.Join(name, e.Name())))
		}
	}
	if err == nil {
		err = on.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
