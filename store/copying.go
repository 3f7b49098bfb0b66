package store

import (
	"context"
	"time"

	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Source is a store that is copied into another one.
type Source interface {
	// Stretches returns what there is: first what has traces, then rollups of hours, then those
	// of days of which not all hours are there. It also says what can not be read, and of which
	// there are no rollups.
	Stretches() (list []Stretch, unreadable []Unreadable)
}

// Stretch is all that a store has of an hour, or of a day: traces or, where these are gone,
// rollups.
type Stretch struct {
	Name        string
	Start       time.Time
	First, Last time.Time // when something of it was received
	Traces      uint64    // a trace of two pages counts twice
	// Hours are the starts of the hours that the rollups of a day were made of; none if it is an
	// hour.
	Hours []time.Time
	// HasTraces says that the traces are there, which all is made of.
	HasTraces bool
	MayGrow   bool // it gets more when the store is written to

	Contents
}

// Contents is what there is of a [Stretch].
type Contents interface {
	// Pages returns the pages that there may be something of, sorted.
	Pages(ctx context.Context) ([]string, error)
	// Catalog calls f for each page and tag that is counted.
	Catalog(ctx context.Context, f func(CatalogEntry)) error
	// Scan calls f for each trace of a page, as [Scanner] does, of whatever age.
	Scan(ctx context.Context, page string, f func(Record) error) (ScanStats, error)
	// Sums returns what there is of a page beside traces that are there: all of its rollups, or
	// else page views without a trace and Web Vitals. An error that wraps [ErrDamaged] is about
	// this page alone.
	Sums(ctx context.Context, page string) ([]Rolled, error)
}

// Loader makes a store of what another one has, hour by hour, with the times at which all was
// received. One that was interrupted goes on with what it does not have yet.
type Loader interface {
	// Has reports whether there is an hour or day, in a state that who loads names as it likes.
	Has(name, state string) bool
	// Sums makes the rollups of an hour or a day.
	Sums(name, state string, x LoadSums) error
	// Hour begins an hour of which there are traces. What there is of it is replaced.
	Hour(start time.Time) (HourLoader, error)
}

// LoadSums says of what time rollups are.
type LoadSums struct {
	Start       time.Time
	Hours       []time.Time // of a day: the hours that it is made of
	First, Last time.Time   // when something was received
	Pages       []string    // sorted
	// Sums returns what there is of a page, and Catalog calls f with what is counted.
	Sums    func(page string) ([]Rolled, error)
	Catalog func(f func(CatalogEntry)) error
}

// HourLoader makes an hour of traces.
type HourLoader interface {
	// Add adds a trace under one of its pages, Page. Its tags are counted by Count.
	Add(rec *Record) error
	// Count counts traces of a page and tag.
	Count(e CatalogEntry) error
	// Untraced adds what rollups of a page have beside traces: page views without one, and Web
	// Vitals. It is for one record of a page, which has all of that, received between two times
	// (µs since the epoch).
	Untraced(page string, rec *rollup.Record, first, last int64) error
	// Close makes the hour durable. It has what was received between two times (µs since the
	// epoch).
	Close(name, state string, first, last int64) error
	// Cancel gives up what was not closed.
	Cancel()
}
