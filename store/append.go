package store

import "errors"

// What keeps a store from taking traces.
var (
	// ErrBusy says that the queue is full: try again later.
	ErrBusy = errors.New("store is busy")
	// ErrNoSpace says that too little space is free to write.
	ErrNoSpace = errors.New("too little free space")
	// ErrStuck is wrapped by errors that say what has waited for too long.
	ErrStuck = errors.New("store is stuck")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("store is closed")
)

// NoSpace returns an error of a disk, or of a place for objects, as [ErrNoSpace], with its own text.
func NoSpace(err error) error { return noSpaceError{err} }

type noSpaceError struct{ error }

func (e noSpaceError) Is(target error) bool { return target == ErrNoSpace }
func (e noSpaceError) Unwrap() error        { return e.error }

// AppendResult says what became of the records of one call to Append.
type AppendResult struct {
	Stored     int // new, now durable
	Duplicates int // there already, durable as well
	Durability Durability
}

// Durability says what traces survive that were stored. The zero value is [Local].
type Durability string

// What traces survive.
const (
	Local  Durability = "local"  // the end of the process and of the power, on the disk of one machine
	Bucket Durability = "bucket" // the loss of every machine
	Spool  Durability = "spool"  // as Local, and they are not in the bucket yet
)
