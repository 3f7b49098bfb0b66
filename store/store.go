package store

import (
	"context"
	"time"

	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Writer stores traces. It is safe for concurrent use by multiple goroutines.
type Writer interface {
	// Append stores the records and returns once they are durable. It checks all records first, and
	// returns a [*RecordError] if one cannot be stored. If it returns [ErrBusy] or [ErrNoSpace],
	// nothing was stored. After any other error, including [ErrStuck] and the end of ctx, all, some
	// or none of the records may be stored, and it is safe to repeat the call.
	Append(ctx context.Context, recs []Record) (AppendResult, error)
	// CountViews counts page views without a trace, by reason. They are stored some time later; a
	// crash before that loses them.
	CountViews(page, reason string, views int64)
	// CountVitals counts the Web Vitals of page views. Each must have labels that rollups support.
	// They are stored together with page views without a trace.
	CountVitals(page string, vitals []rollup.Vital)
}

// Reader answers queries. It is safe for concurrent use by multiple goroutines. Times are receive
// times, and zero times are open ends. Data that cannot be read is reported in the stats, not as an
// error.
type Reader interface {
	// Select reads the data that q selects in the cheapest way: from rollups where it can, else
	// from traces. It calls rolled and trace as it reads; traces are passed like by Scan with
	// EachPage. A page view with traces in several hours is passed separately for each of them.
	// Select returns the error of a callback or of ctx.
	Select(ctx context.Context, q Query, want Wanted, trace func(Record) error,
		rolled func(Rolled) error) (ScanStats, error)
	// Catalog returns the number of traces by page and tag, sorted by [CompareEntries]. An entry is
	// included if the range from its first to its last trace in some hour overlaps [since, until);
	// where only the rollup of a day is left, the day is used instead of the hour. It counts all
	// traces of that hour or day. Traces that were stored within lag may be missing.
	Catalog(ctx context.Context, since, until time.Time, lag time.Duration) ([]CatalogEntry, ScanStats, error)
	// Version returns a string that changes whenever the data of [since, until) changes or cannot
	// be read any more. For a past time it stays the same until traces expire.
	Version(since, until time.Time) string
	// Deleted returns a string that changes whenever data is deleted on request.
	Deleted() string
	// HasTraces reports whether all traces of [since, until) are still stored, rather than only
	// their rollups.
	HasTraces(since, until time.Time) bool
	// HasHours reports whether all data of [since, until) is still stored by the hour, as traces or
	// as hourly rollups.
	HasHours(since, until time.Time) bool
	// Now returns the time of the clock that determines receive times.
	Now() time.Time
}

// Scanner reads individual traces.
type Scanner interface {
	// Scan calls f for each trace that q selects and that was stored before the call, oldest hour
	// first. A trace of several pages is passed once, even in a query for all pages, unless
	// q.EachPage is set.
	//
	// The Payload and Pages of the record are only valid during the call of f. Tags are not stored,
	// so they are empty. Scan returns the error of f or of ctx. Data that cannot be read is
	// reported in the stats, which are complete when Scan returns.
	Scan(ctx context.Context, q Query, f func(Record) error) (ScanStats, error)
}

// Store is the complete interface of a store.
type Store interface {
	Writer
	Reader
	Scanner
}
