package shared

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/bucket"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// IsLocation reports whether a text says where objects are: s3://BUCKET/PREFIX, file:///DIR, or the path of a directory that
// has objects.
func IsLocation(s string) bool {
	return bucket.IsLocation(s) || directory.IsLocation(s) || hasObjects(s)
}

// hasObjects reports whether a directory has objects, or some of those of a backup.
func hasObjects(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, objects.Marker))
	if errors.Is(err, fs.ErrNotExist) {
		_, err := os.Stat(filepath.Join(dir, layout.Restoring))
		return err == nil
	}
	return err == nil && layout.IsFormat(text)
}

// Folder returns the directory that a location means, if it does not mean a bucket.
func Folder(s string) (dir string, ok bool) {
	if !directory.IsLocation(s) {
		return s, !bucket.IsLocation(s)
	}
	dir, err := directory.ParseLocation(s)
	return dir, err == nil
}

// CheckLocation returns an error if a text does not say where objects are.
func CheckLocation(s string) error {
	if bucket.IsLocation(s) {
		_, err := bucket.ParseLocation(s)
		return err
	}
	if directory.IsLocation(s) {
		_, err := directory.ParseLocation(s)
		return err
	}
	return nil
}

// PlaceOptions say how a place for objects is used. Program, ReadOnly and Warn are for a directory alone, see [directory.Options].
type PlaceOptions struct {
	Now      func() time.Time
	Program  string
	ReadOnly bool
	Warn     func(error)
}

// OpenPlace prepares to use what is at a location. A bucket is not asked.
func OpenPlace(ctx context.Context, location string, o PlaceOptions) (objects.Store, error) {
	if bucket.IsLocation(location) {
		at, err := bucket.ParseLocation(location)
		if err != nil {
			return nil, err
		}
		return bucket.Open(ctx, at, bucket.Options{Now: o.Now})
	}
	dir := location
	if directory.IsLocation(location) {
		var err error
		if dir, err = directory.ParseLocation(location); err != nil {
			return nil, err
		}
	}
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	return directory.Open(dir, directory.Options{Program: o.Program, ReadOnly: o.ReadOnly, Now: o.Now, Warn: o.Warn})
}

// checkFolder refuses a directory that has something else than objects.
func checkFolder(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, objects.Marker))
	if err == nil && !layout.IsFormat(text) {
		return fmt.Errorf("%s has no objects but a data directory: use it as --data %s, or move it by --data file:///ANOTHER --import %s", dir, dir, dir)
	}
	list, lerr := os.ReadDir(dir)
	if err == nil || lerr != nil {
		return nil // it has objects, or whoever opens it says what is wrong
	}
	for _, e := range list {
		switch name := e.Name(); {
		case name == layout.Restoring:
			return &layout.RestoringError{Place: dir}
		case name+"/" == objects.Probes, name == disk.LockFile, name == directory.Commits, strings.HasSuffix(name, ".sock"):
		default:
			return fmt.Errorf("%s is not empty (%s is there), and has no objects: use a new directory, or put its file %s back", dir, name, objects.Marker)
		}
	}
	return nil
}
