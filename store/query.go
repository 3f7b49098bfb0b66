package store

import (
	"time"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Query selects traces.
type Query struct {
	Page         string                 // "" for all pages
	Pages        func(page string) bool // which pages to include if Page is ""; nil for all
	Since, Until time.Time              // range of receive times [Since, Until); a zero time is an open end
	// EachPage returns a trace of several pages once for each of them. Otherwise a query for all
	// pages returns it once.
	EachPage bool
}

// Takes reports whether Pages includes a page.
func (q *Query) Takes(page string) bool { return q.Pages == nil || q.Pages(page) }

// Wanted configures which rollups a query uses.
type Wanted struct {
	Level   rollup.Level // Narrow or Wide: which labels are distinguished
	Details bool         // also read functions and outcomes
	// Vitals also reads Web Vitals, including Web Vitals of pages without other data. They are
	// stored by the hour: if a query covers a part of an hour, all Web Vitals of that hour are
	// returned.
	Vitals bool
	None   bool // read only traces, no rollups
	// Lag allows the result to lack traces that were received within this time. 0 requires all
	// acknowledged traces, which may have to be rolled up first.
	Lag time.Duration
}

// Rolled is a rollup of a page that a query reads.
type Rolled struct {
	Page   string
	Stacks *trie.Trie // consecutive rollups share it if possible
	Record *rollup.Record
	// First is when the first trace in it was received. A record has traces of one day.
	First time.Time
}

// Overlaps reports whether the time from first to last (µs since the epoch) overlaps [since,
// until). Zero times are open ends.
func Overlaps(first, last int64, since, until time.Time) bool {
	return (since.IsZero() || !time.UnixMicro(last).Before(since)) && (until.IsZero() ||
		time.UnixMicro(first).Before(until))
}
