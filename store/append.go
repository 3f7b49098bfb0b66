package store

import "errors"

// Errors of [Writer.Append].
var (
	// ErrBusy is returned if the queue is full. The caller should try again later.
	ErrBusy = errors.New("store is busy")
	// ErrNoSpace is returned if there is too little free disk space.
	ErrNoSpace = errors.New("too little free space")
	// ErrStuck is wrapped by errors about a disk that does not respond.
	ErrStuck = errors.New("store is stuck")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("store is closed")
)

// NoSpace wraps an error of a disk or a place for objects, so that it is [ErrNoSpace]. The text
// stays the same.
func NoSpace(err error) error { return noSpaceError{err} }

type noSpaceError struct{ error }

func (e noSpaceError) Is(target error) bool { return target == ErrNoSpace }
func (e noSpaceError) Unwrap() error        { return e.error }

// AppendResult is the result of a call to Append.
type AppendResult struct {
	Stored     int // new records, which are now durable
	Duplicates int // records that were stored before, which are durable as well
	Durability Durability
}

// Durability describes what stored traces survive.
type Durability string

// Levels of durability.
const (
	Local  Durability = "local"  // the end of the process and power failures, on the disk of one machine
	Bucket Durability = "bucket" // the loss of all machines
	Spool  Durability = "spool"  // as Local; not in the bucket yet
)
