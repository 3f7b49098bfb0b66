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

// Folder returns the directory of a location. It returns false for a bucket. s3://BUCKET/PREFIX is
// a bucket; DIR and file:///DIR are directories.
func Folder(location string) (dir string, ok bool) {
	if !directory.IsLocation(location) {
		return location, !bucket.IsLocation(location)
	}
	dir, err := directory.ParseLocation(location)
	return dir, err == nil
}

// foreign matches the start of a location of an unsupported kind, such as gs://. A single letter is
// a Windows drive.
var foreign = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+):/`)

// CheckLocation returns an error if a location is invalid.
func CheckLocation(location string) error {
	switch {
	case bucket.IsLocation(location):
		_, err := bucket.ParseLocation(location)
		return err
	case directory.IsLocation(location):
		_, err := directory.ParseLocation(location)
		return err
	case foreign.MatchString(location):
		kind, _, _ := strings.Cut(location, "/") // the rest may contain a password
		return fmt.Errorf("%.40q is not a directory or s3://BUCKET/PREFIX; if it is the name of a directory, put ./ "+
			"before it", kind+"//…")
	}
	return nil
}

// PlaceOptions configures [OpenPlace]. All fields but Now apply to directories only, see
// [directory.Options].
type PlaceOptions struct {
	Now          func() time.Time
	Program      string
	ReadOnly     bool
	Brief        bool
	BelieveClock bool
	Warn         func(error)
}

// OpenPlace opens the bucket or directory at a location. It sends no request to a bucket.
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
	return directory.Open(dir, directory.Options{Program: o.Program, ReadOnly: o.ReadOnly, Brief: o.Brief, Now: o.Now,
		BelieveClock: o.BelieveClock, Warn: o.Warn})
}

// checkFolder returns an error if a directory contains files that are not objects. It must be
// called before the directory is changed.
func checkFolder(dir string) error {
	_, err := os.Stat(filepath.Join(dir, objects.Marker))
	list, lerr := os.ReadDir(dir)
	if err == nil || lerr != nil {
		return nil // it is a place for objects, or opening it reports the error
	}
	for _, e := range list {
		switch name := e.Name(); {
		case name == layout.Restoring:
			return &layout.RestoringError{Place: dir}
		case name+"/" == objects.Probes || !directory.IsObject(name):
		default:
			return fmt.Errorf(
				"%s is not empty (it contains %s) and has no %s: use a new directory, or restore that file", dir, name,
				objects.Marker)
		}
	}
	return nil
}
