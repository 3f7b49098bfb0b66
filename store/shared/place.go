package shared

import (
	"context"
	"time"

	"github.com/fieldtrie/fieldtrie/store/bucket"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
)

// IsLocation reports whether a text says where objects are, s3://BUCKET/PREFIX or file:///DIR, and not which directory.
func IsLocation(s string) bool { return bucket.IsLocation(s) || directory.IsLocation(s) }

// CheckLocation returns an error if a text does not say where objects are.
func CheckLocation(s string) (err error) {
	if directory.IsLocation(s) {
		_, err = directory.ParseLocation(s)
	} else {
		_, err = bucket.ParseLocation(s)
	}
	return err
}

// PlaceOptions say how a place for objects is used. Those but Now are for a directory alone, see [directory.Options].
type PlaceOptions struct {
	Now      func() time.Time
	Program  string
	ReadOnly bool
}

// OpenPlace prepares to use what is at a location. A bucket is not asked.
func OpenPlace(ctx context.Context, location string, o PlaceOptions) (objects.Store, error) {
	if !directory.IsLocation(location) {
		at, err := bucket.ParseLocation(location)
		if err != nil {
			return nil, err
		}
		return bucket.Open(ctx, at, bucket.Options{Now: o.Now})
	}
	dir, err := directory.ParseLocation(location)
	if err != nil {
		return nil, err
	}
	return directory.Open(dir, directory.Options{Program: o.Program, ReadOnly: o.ReadOnly, Now: o.Now})
}
