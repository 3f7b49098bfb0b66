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
