package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// WriteFile writes b to path, atomically and durably. Only the owner may read it.
func WriteFile(path string, b []byte) error {
	return WriteFileBy(OS, path, path+".tmp", b, time.Time{})
}

// WriteFileBy is like [WriteFile], on any file system. It writes to a file named tmp in the same
// directory first, so callers that write to one path concurrently need different names. It sets the
// file's modification time, unless modified is zero.
func WriteFileBy(on FS, path, tmp string, b []byte, modified time.Time) error {
	f, err := on.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil && !modified.IsZero() {
		err = on.Chtimes(tmp, modified, modified)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = on.Rename(tmp, path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), errors.Join(err, on.Remove(tmp)))
	}
	return SyncDirOf(on, filepath.Dir(path))
}

// SyncDirOf makes the creation, renaming and removal of files in dir durable.
func SyncDirOf(on FS, dir string) error {
	f, err := Open(on, dir)
	if err != nil {
		return &SyncError{dir, err}
	}
	err = f.Sync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return &SyncError{dir, err}
	}
	return nil
}

// SyncError is returned if changes in a directory may not be durable. The changes may still be
// visible.
type SyncError struct {
	Dir string
	Err error
}

func (e *SyncError) Error() string { return fmt.Sprintf("sync directory %s: %v", e.Dir, e.Err) }

// Unwrap returns the cause.
func (e *SyncError) Unwrap() error { return e.Err }

// TreeBytes returns the disk space of a directory or file. Files that disappear during the walk do
// not count.
func TreeBytes(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if fi, err := e.Info(); err == nil {
			n += Bytes(fi)
		}
		return nil
	})
	return n
}
