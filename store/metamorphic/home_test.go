package metamorphic

import (
	"context"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

// engine is an open store, with what is done to it now and then.
type engine interface {
	store.Store
	// Roll rolls up what came in, Maintain closes and deletes what is over.
	Roll(context.Context) error
	Maintain(context.Context) error
	Close() error
}

// reader is what is asked.
type reader interface {
	store.Reader
	store.Scanner
}

// home is where the store of a run is kept: a directory, or a bucket.
type home interface {
	traits() traits
	// open opens the store for writing. Another one opens it for reading meanwhile or after.
	open(ctx context.Context) (engine, error)
	read(ctx context.Context, f func(reader) error) error
	// crash has the open engine end as a process does that is killed at any point.
	crash(ctx context.Context, s engine) error
	// sound says what is wrong, by what the home says of itself.
	sound(ctx context.Context, r reader, m *model) error
	// glance asks an open store what only this home has, while others work.
	glance(s engine) error
	// failing reports whether an error is one that the home was made to give. What was being
	// stored then is stored, or not.
	failing(err error) bool
	// remove deletes all.
	remove() error
}

// traits are what a home promises, as far as homes differ.
type traits struct {
	width     time.Duration // how long a partition is
	retention time.Duration
	// lateRepeats: a trace that was stored before may be told apart from a new one after it
	// was acknowledged as new.
	lateRepeats bool
	// slack is how far times of receipt may be off the clock.
	slack time.Duration
}
