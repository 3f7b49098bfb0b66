package objects

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"time"
)

// Store is a place for objects. The parts of keys are separated by slashes. It is safe for
// concurrent use by multiple goroutines.
type Store interface {
	// Put stores an object durably and returns its tag. It returns [ErrConflict] if the condition
	// is not met; nothing is stored then. After any other error the object may or may not be
	// stored. Put does not retry, because a second attempt could conflict with the object that the
	// first one has stored.
	Put(ctx context.Context, key string, body []byte, c Condition) (Tag, error)

	// Get returns an object of up to most bytes. It returns nil if the tag of the object is
	// known, and [ErrNotFound] if there is no object.
	Get(ctx context.Context, key string, most int64, known Tag) (*Object, error)

	// Range returns n bytes of an object from offset on, and the size of the object. If offset is
	// negative, Range returns the last -offset bytes, or the whole object if it is smaller.
	Range(ctx context.Context, key string, offset, n int64) (body []byte, size int64, err error)

	// List yields the objects whose keys begin with prefix and are greater than after, sorted by
	// key. After an error it stops.
	List(ctx context.Context, prefix, after string) iter.Seq2[Entry, error]

	// Delete deletes objects, at most [MaxDelete]. It ignores missing objects.
	Delete(ctx context.Context, keys ...string) error

	// Probe checks that the place keeps the guarantees above. It must be called before a condition
	// [Is] is used.
	Probe(ctx context.Context) error

	// Exclusive reports whether no other process can put objects.
	Exclusive() bool

	// Unready returns why no object can be put at the moment, or nil.
	Unready() error

	// Clock returns the clock of the place, which all of its users share.
	Clock() *Clock

	// Name returns the name of the place for messages. It ends with a slash.
	Name() string

	// Requests returns the numbers of requests since the place was opened.
	Requests() Requests
}

// Purger is a [Store] that keeps the bytes of deleted objects on disk for a while.
type Purger interface {
	// Purge removes the bytes of deleted objects. If it is called regularly, they are removed
	// within an hour after they were stored. If everything is set, it removes them immediately,
	// which is more work.
	Purge(everything bool)
}

// Tag identifies a version of an object. Versions with equal content may have the same tag.
type Tag string

// Condition is a condition of [Store.Put]. The zero value is no condition.
type Condition struct {
	Absent bool // there must be no object
	Tag    Tag  // the object must have this tag; "" for any or no object
}

// Absent is the condition that there is no object.
var Absent = Condition{Absent: true}

// Is returns the condition that the object has tag t.
func Is(t Tag) Condition { return Condition{Tag: t} }

// Object is the content of an object, with its tag.
type Object struct {
	Body []byte
	Tag  Tag
}

// Entry is an object in a list.
type Entry struct {
	Key      string
	Size     int64
	Modified time.Time // by the store's clock
}

// MaxDelete is the maximum number of objects per call of [Store.Delete].
const MaxDelete = 1000

// Probes is the prefix of objects that [Store.Probe] creates and deletes.
const Probes = "probe/"

// Marker is the key of the first object of a place. Without it, none of the files there belong to
// this program.
const Marker = "FORMAT"

// Fresh is the prefix of objects with incoming data. When space is scarce they leave some of it for
// objects that are made from them, because only after that can fresh objects be deleted.
const Fresh = "seg/"

// Requests are the numbers of requests since a place was opened, by kind, as stores charge for
// them. Each attempt counts.
type Requests struct {
	Put, Get, List, Delete uint64
}

var (
	// ErrNotFound is returned if there is no such object.
	ErrNotFound = errors.New("object not found")

	// ErrDamaged is returned if the bytes of an object were read but are wrong. A failed read is
	// not damage.
	ErrDamaged = errors.New("damaged")

	// ErrConflict is returned if a condition is not met. Nothing was stored.
	ErrConflict = errors.New("another writer was first")

	// ErrNoSpace is returned if there is too little free space for an object. Nothing was stored.
	ErrNoSpace = errors.New("too little free space")
)

// Temporary reports whether the failure may be over soon: the place is busy, failed, or did not
// respond.
func Temporary(err error) bool {
	e, ok := errors.AsType[interface {
		error
		Temporary() bool
	}](err)
	return ok && e.Temporary()
}

// Cause returns the error without the name of the object, so that equal errors can be grouped.
func Cause(err error) string {
	if e, ok := errors.AsType[interface {
		error
		Cause() string
	}](err); ok {
		return e.Cause()
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Op + ": " + e.Err.Error()
	}
	return err.Error()
}

// Refused reports whether retrying the same call is useless.
func Refused(err error) bool {
	e, ok := errors.AsType[interface {
		error
		Refused() bool
	}](err)
	return ok && e.Refused()
}
