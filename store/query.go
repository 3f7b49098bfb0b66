package store

import (
	"time"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Query says which traces are asked for.
type Query struct {
	Page         string                 // "" for all pages
	Pages        func(page string) bool // of all pages, those that it wants alone; nil wants each
	Since, Until time.Time              // half-open, by receive time; a zero time is an open end
	// EachPage hands a trace of several pages over under each of them. Else, if all pages
	// are asked for, it is handed over once.
	EachPage bool
}

// Takes reports whether Pages takes a page.
func (q *Query) Takes(page string) bool { return q.Pages == nil || q.Pages(page) }

// Wanted says which rollups a query can use.
type Wanted struct {
	Level   rollup.Level // Narrow or Wide: which labels are kept apart
	Details bool         // read the functions and outcomes, too
	// Vitals reads Web Vitals, too, also of pages that have nothing else. They are kept by the
	// hour: where a part of one is asked for, all of it is read.
	Vitals bool
	None   bool // use traces alone
	// Lag allows an answer without what came in the last time, of pages of which so many
	// traces come that summing them up again and again would take its toll.
	Lag time.Duration
}

// Rolled is a rollup of a page, as a query reads it.
type Rolled struct {
	Page   string
	Stacks *trie.Trie // rollups that follow each other share it, if they can
	Record *rollup.Record
	// First is when the first trace in it was received. A record has traces of one day.
	First time.Time
}

// Overlaps reports whether something of what was received from first to last (µs since the
// epoch) may be of [since, until). Zero times are open ends.
func Overlaps(first, last int64, since, until time.Time) bool {
	return (since.IsZero() || !time.UnixMicro(last).Before(since)) && (until.IsZero() || time.UnixMicro(first).Before(until))
}
