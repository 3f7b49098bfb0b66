package shared

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/store/bucket"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// Folder returns the directory that a location means, if it does not mean a bucket: s3://BUCKET/PREFIX is one, and DIR and file:///DIR are
// directories.
func Folder(location string) (dir string, ok bool) {
	if !directory.IsLocation(location) {
		return location, !bucket.IsLocation(location)
	}
	dir, err := directory.ParseLocation(location)
	return dir, err == nil
}

// foreign matches the beginning of a location of a kind that is not known, such as gs://; a single letter is a drive.
var foreign = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+):/`)

// CheckLocation returns an error if a location can not be one.
func CheckLocation(location string) error {
	switch {
	case bucket.IsLocation(location):
		_, err := bucket.ParseLocation(location)
		return err
	case directory.IsLocation(location):
		_, err := directory.ParseLocation(location)
		return err
	case foreign.MatchString(location):
		kind, _, _ := strings.Cut(location, "/") // the rest may have a password
		return fmt.Errorf("%.40q is neither a directory nor s3://BUCKET/PREFIX; if a directory has such a name, put ./ before it", kind+"//…")
	}
	return nil
}

// PlaceOptions say how a place for objects is used. All but Now are for a directory alone, see [directory.Options].
type PlaceOptions struct {
	Now          func() time.Time
	Program      string
	ReadOnly     bool
	Brief        bool
	BelieveClock bool
	Warn         func(error)
}

// OpenPlace prepares to use what is at a location. A bucket is not asked.
func OpenPlace(ctx context.Context, location string, o PlaceOptions) (objects.Store, error) {
	if err := CheckLocation(location); err != nil {
		return nil, err
	}
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
	return directory.Open(dir, directory.Options{Program: o.Program, ReadOnly: o.ReadOnly, Brief: o.Brief, Now: o.Now, BelieveClock: o.BelieveClock, Warn: o.Warn})
}

// checkFolder refuses a directory that has something else than objects, before anything of it is changed.
func checkFolder(dir string) error {
	_, err := os.Stat(filepath.Join(dir, objects.Marker))
	list, lerr := os.ReadDir(dir)
	if err == nil || lerr != nil {
		return nil // it has objects, or whoever opens it says what is wrong
	}
	for _, e := range list {
		switch name := e.Name(); {
		case name == layout.Restoring:
			return &layout.RestoringError{Place: dir}
		case name+"/" == objects.Probes || !directory.IsObject(name):
		default:
			return fmt.Errorf("%s is not empty (%s is there), and has no objects: use a new directory, or put its file %s back", dir, name, objects.Marker)
		}
	}
	return nil
}
