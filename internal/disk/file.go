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
func WriteFile(path string, b []byte) error { return WriteFileBy(path, path+".tmp", b, time.Time{}) }

// WriteFileBy is [WriteFile] by a file named tmp in the same directory, so that several may write to path at once. The file
// is said to be of a time, unless that is zero.
func WriteFileBy(path, tmp string, b []byte, modified time.Time) error {
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil && !modified.IsZero() {
		err = os.Chtimes(tmp, modified, modified)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), errors.Join(err, os.Remove(tmp)))
	}
	return SyncDir(filepath.Dir(path))
}

// MakeDir makes an empty directory, durably. An existing empty one is accepted: an earlier
// attempt may have failed after creating it.
func MakeDir(path string) error {
	err := os.Mkdir(path, dirMode)
	if errors.Is(err, fs.ErrExist) {
		var entries []fs.DirEntry
		if entries, err = os.ReadDir(path); err == nil && len(entries) > 0 {
			err = fmt.Errorf("%s is there and not empty", path)
		}
	}
	if err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes the creation, renaming and removal of files in dir durable.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	return nil
}

// TreeBytes returns the disk space of a directory or file. Files that vanish meanwhile do
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

// SyncFiles makes the files in dir durable.
func SyncFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		var f *os.File
		if err == nil {
			f, err = os.Open(filepath.Join(dir, e.Name()))
		}
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
	}
	return err
}

// TrashSuffix is the suffix of a file or directory that is being deleted. The next start
// completes the deletion.
const TrashSuffix = ".deleting"

// Erase deletes a file or directory. It is renamed first, so that a crash halfway leaves
// nothing that looks damaged.
func Erase(path string) error {
	trash := path + TrashSuffix
	if err := os.Rename(path, trash); err != nil {
		return err
	}
	if err := SyncDir(filepath.Dir(path)); err != nil {
		return err
	}
	return os.RemoveAll(trash)
}
