package read

import (
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/head"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Options are what a [Reader] reads.
type Options struct {
	Life   *Life // keeps the directory open meanwhile
	Found  *Found
	Parts  *part.Shelf
	Sums   *rollups.Shelf
	Head   *head.Head
	Codec  *record.Codec
	Limits rollup.Limits // of rollups

	Partition time.Duration // how much time a partition is of
	Retention time.Duration // how long traces are kept, 0 is for ever
	// Unrolled says that nobody rolls up: traces that are expired are in nothing that is kept.
	Unrolled bool
	Now      func() time.Time
}

// Found counts what was met that is not as it was written.
type Found struct {
	Damaged atomic.Uint64 // values
	Missing atomic.Uint64 // traces
}

// Reader answers queries. It is safe for concurrent use.
type Reader struct{ o Options }

var (
	_ store.Reader  = (*Reader)(nil)
	_ store.Scanner = (*Reader)(nil)
	_ store.Source  = (*Reader)(nil)
)

// New returns a Reader.
func New(o Options) *Reader { return &Reader{o} }

// Now implements [store.Reader].
func (r *Reader) Now() time.Time { return r.o.Now() }

// count counts what a query has found missing or damaged.
func (r *Reader) count(s *store.ScanStats) {
	r.o.Found.Damaged.Add(s.Damaged)
	for _, g := range s.Gaps {
		r.o.Found.Missing.Add(g.Expected - g.Found)
	}
}

// clip moves the start of a query to where retention begins.
func (r *Reader) clip(since time.Time) time.Time {
	return store.Clip(since, r.o.Now(), r.o.Retention)
}
