package store

import (
	"context"
	"time"

	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Writer takes what is to be stored. Its methods may be called at once.
type Writer interface {
	// Append stores the records and returns when they are durable. All are checked before any
	// is stored: a record that cannot be stored gives a [*RecordError]. [ErrBusy] and
	// [ErrNoSpace] mean that nothing was stored. After any other error, when ctx ends, and with
	// [ErrStuck], all, some or none may be; repeating the call does no harm.
	Append(ctx context.Context, recs []Record) (AppendResult, error)
	// CountViews counts page views of which there is no trace, by the reason. They are stored
	// some time later; a crash before that forgets them.
	CountViews(page, reason string, views int64)
	// CountVitals counts the Web Vitals of page views of page, each with labels that have a
	// value in rollups. They are stored when page views without a trace are.
	CountVitals(page string, vitals []rollup.Vital)
}

// Reader answers queries. Its methods may be called at once. Zero times are open ends, and
// times are those of receipt. What cannot be read is no error: it is in the stats.
type Reader interface {
	// Select reads what q asks for by the shortest way: rollups where it can, else traces.
	// Rollups of pages and traces are handed over as they come; traces as by Scan with
	// EachPage. A page view in several hours is in each of them by itself. It ends with the
	// error of a callback, or that of ctx.
	Select(ctx context.Context, q Query, want Wanted, trace func(Record) error, rolled func(Rolled) error) (ScanStats, error)
	// Catalog returns what is stored for which page and tag, sorted by [CompareEntries]. An
	// entry is there if its first and last trace in some hour, or some day of which there is
	// a rollup alone, enclose a part of [since, until), and counts all traces of that: the
	// times are exact to the hour only. It may leave out what was stored within lag.
	Catalog(ctx context.Context, since, until time.Time, lag time.Duration) ([]CatalogEntry, ScanStats, error)
	// Version returns a text that changes whenever what is stored of [since, until) changes,
	// or can no more be read. Of a time that is over it stays the same, until its traces
	// expire.
	Version(since, until time.Time) string
	// Deleted returns a text that changes whenever something was deleted on request.
	Deleted() string
	// HasTraces reports whether the traces of all that was received in [since, until) are
	// there, and not only rollups of them.
	HasTraces(since, until time.Time) bool
	// HasHours reports whether what was received in [since, until) can be told apart by the
	// hour: its traces are there, or rollups by the hour.
	HasHours(since, until time.Time) bool
	// Now returns the time by the clock that traces are received by.
	Now() time.Time
}

// Scanner reads trace by trace.
type Scanner interface {
	// Scan calls f for each trace that q asks for and that was stored when Scan was called:
	// oldest hour first. A trace of several pages is handed over once, also if all pages are
	// asked for, unless q says EachPage.
	//
	// The Payload and Pages of the record are valid during the call of f only; Tags are not
	// stored. Scan ends with the error of f, or that of ctx. What cannot be read is not an
	// error: it is in the stats, which count up to where the scan ended.
	Scan(ctx context.Context, q Query, f func(Record) error) (ScanStats, error)
}

// Store is what an engine does for a daemon.
type Store interface {
	Writer
	Reader
	Scanner
}
