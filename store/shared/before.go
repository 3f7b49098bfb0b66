package shared

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
)

// Before is the state of a location before a restore. A failed restore returns the location to it.
type Before struct {
	dir  string          // "" for a bucket
	has  map[string]bool // names of the entries of dir
	made []string        // dir and its parents, as far as they were missing, innermost first
}

// NoteBefore records the state of a location. For a bucket there is nothing to record, because a
// failed restore deletes its own objects.
func NoteBefore(location string) (*Before, error) {
	b := &Before{has: map[string]bool{}}
	dir, ok := Folder(location)
	if !ok {
		return b, nil
	}
	b.dir = filepath.Clean(dir)
	entries, err := os.ReadDir(b.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		b.has[e.Name()] = true
	}
	for above := b.dir; ; above = filepath.Dir(above) {
		if _, err := os.Lstat(above); !errors.Is(err, fs.ErrNotExist) {
			return b, nil
		}
		b.made = append(b.made, above)
	}
}

// Return removes the lock, the time of last use, the commits and the directories that opening the
// location created. It removes nothing if an object is left, or if another process uses the
// directory. The caller must close the location first.
func (b *Before) Return() error {
	if b.dir == "" {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(b.dir, disk.LockFile)); err == nil {
		if err := b.empty(); err != nil {
			return fmt.Errorf("empty %s: %w", b.dir, err)
		}
	}
	for _, dir := range b.made {
		if os.Remove(dir) != nil { // it is not empty, or was never created
			break
		}
	}
	return nil
}

// own are the entries of a directory that are not objects.
var own = []string{directory.Commits, directory.Used, disk.LockFile}

// empty removes the entries that opening the directory created, unless the directory contains other
// new entries.
func (b *Before) empty() (err error) {
	lock, err := disk.OpenLock(b.dir, "ingest")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := lock.Exclusive("restore", 0); err != nil {
		if _, used := errors.AsType[*disk.InUseError](err); used {
			return nil
		}
		return err
	}
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if !b.has[name] && !slices.Contains(own, name) && name+"/" != objects.Probes {
			return nil
		}
	}
	for _, name := range own {
		if !b.has[name] {
			err = errors.Join(err, os.RemoveAll(filepath.Join(b.dir, name)))
		}
	}
	return err
}
