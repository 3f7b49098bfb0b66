package objects

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"time"
)

// Store is a place for objects, under keys whose parts are separated by slashes. Its methods may be called at once.
type Store interface {
	// Put stores an object durably and returns its tag. [ErrConflict] says that the condition is not met, and that nothing is
	// stored. After other errors it is not known what is stored. It is tried once, since a second attempt of the same call would
	// meet what the first one left.
	Put(ctx context.Context, key string, body []byte, c Condition) (Tag, error)

	// Get returns an object of at most so many bytes. It is nil if it is as known says. [ErrNotFound] says that there is none.
	Get(ctx context.Context, key string, most int64, known Tag) (*Object, error)

	// Range returns n bytes of an object from an offset on, and how many bytes the object has. An offset that is negative counts
	// from the end; then there may be fewer.
	Range(ctx context.Context, key string, offset, n int64) (body []byte, size int64, err error)

	// List yields the objects whose keys begin with prefix and are behind after, sorted by key. It ends with an error, if
	// there is one.
	List(ctx context.Context, prefix, after string) iter.Seq2[Entry, error]

	// Delete deletes objects, at most [MaxDelete]. Those that are not there are fine.
	Delete(ctx context.Context, keys ...string) error

	// Probe finds out whether the place keeps the promises above. It must have been called before a condition [Is] is used.
	Probe(ctx context.Context) error

	// Exclusive reports whether no other machine and no other process puts objects there.
	Exclusive() bool

	// Unready returns why nothing can be put for the moment, as far as that is known.
	Unready() error

	// Clock returns the clock of the place, which all who use it share.
	Clock() *Clock

	// Name is what messages call the place. It ends with a slash.
	Name() string

	// Requests returns what was asked since the start.
	Requests() Requests
}

// Purger is a [Store] that keeps the bytes of deleted objects on its disk for a while.
type Purger interface {
	// Purge removes them, at the latest an hour after they were stored if it is called regularly. If
	// everything is set, it removes them now, which is more work.
	Purge(everything bool)
}

// Tag names a state of an object. Equal contents may have equal ones.
type Tag string

// Condition says what must be there, or else nothing is put. The zero value is no condition.
type Condition struct {
	Absent bool // no object
	Tag    Tag  // an object in this state; "" is any, or none
}

// Absent is the condition that there is no such object.
var Absent = Condition{Absent: true}

// Is returns the condition that the object is as it was.
func Is(t Tag) Condition { return Condition{Tag: t} }

// Object is what a key has.
type Object struct {
	Body []byte
	Tag  Tag
}

// Entry is an object in a list.
type Entry struct {
	Key      string
	Size     int64
	Modified time.Time // by the clock of the store
}

// MaxDelete is how many objects one call deletes.
const MaxDelete = 1000

// Probes is what the names of objects begin with that [Store.Probe] puts and deletes.
const Probes = "probe/"

// Marker is the key of the first object of a place: without it nothing there is ours.
const Marker = "FORMAT"

// Fresh is what the keys of objects begin with that come from outside. Where room is scarce they leave some for those that are made
// of them, since these make it possible to delete something.
const Fresh = "seg/"

// Requests are how many requests were sent since the start, each attempt counted, by what stores charge for.
type Requests struct {
	Put, Get, List, Delete uint64
}

var (
	// ErrNotFound says that there is no such object.
	ErrNotFound = errors.New("there is no such object")

	// ErrDamaged is returned if the bytes of an object were read, and they are wrong. An error of
	// reading them is not damage.
	ErrDamaged = errors.New("damaged")

	// ErrConflict says that a condition is not met, and that nothing was stored.
	ErrConflict = errors.New("somebody else was first")

	// ErrNoSpace says that too little space is left to put an object, and that nothing was stored.
	ErrNoSpace = errors.New("too little free space")
)

// Temporary reports whether the place, or the way to it, is said to be at fault, and may not be soon: it is busy, fails, or does
// not answer.
func Temporary(err error) bool {
	e, ok := errors.AsType[interface {
		error
		Temporary() bool
	}](err)
	return ok && e.Temporary()
}

// Cause says what went wrong, without which object it was about.
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

// Refused reports whether the place says that the same call has no success however often it is tried.
func Refused(err error) bool {
	e, ok := errors.AsType[interface {
		error
		Refused() bool
	}](err)
	return ok && e.Refused()
}
