package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// Query says which traces a scan wants.
type Query struct {
	Page         string                 // "" for all pages
	Pages        func(page string) bool // of all pages, those that it wants alone; nil wants each
	Since, Until time.Time              // half-open, by receive time; a zero time is an open end
	// EachPage hands a trace of several pages over under each of them. Else, if all pages
	// are asked for, it is handed over once.
	EachPage bool
}

// takes reports whether q wants page.
func (q *Query) takes(page string) bool { return q.Pages == nil || q.Pages(page) }

// ScanStats say what a scan has read, and what it should have read and could not.
type ScanStats struct {
	Partitions int    // of traces, read
	Days       int    // of which a rollup was read
	Hours      int    // partitions of which a rollup was read
	RolledUp   uint64 // traces that the rollups stand for; a trace of two pages counts twice
	Traces     uint64 // handed to the callback
	Skipped    uint64 // read, and received at another time than asked for
	Bytes      uint64 // stored size of what was read

	// Damaged is how many stored traces are not what was written; they are left
	// out. BadValues are the first of them.
	Damaged   uint64
	BadValues []BadValue

	// Gaps are traces that the catalogue counts and that were not found.
	Gaps []Gap

	// Unreadable are the partitions that could not be read, or not to their end.
	Unreadable []Unreadable

	// Widened are times that were taken as a whole, since the traces that could tell
	// what of it was asked for are deleted.
	Widened []Widened

	// Behind is how long ago the traces were looked at that are not rolled up yet; 0 is now.
	// It is not more than the query allows.
	Behind time.Duration

	// Lost is how many acknowledged traces the partitions of the queried time are
	// known to have lost in a crash, of any page.
	Lost uint64
}

// Complete reports whether all that was ever stored was read.
func (s *ScanStats) Complete() bool {
	return s.Damaged == 0 && len(s.Gaps) == 0 && len(s.Unreadable) == 0 && s.Lost == 0
}

// Widened is a time of which all was taken.
type Widened struct{ First, Last time.Time }

// BadValue names a stored value that is damaged.
type BadValue struct {
	Partition string
	Key       []byte
	Err       error
}

// Gap says how many traces of a page, of all pages if it is "", are missing from
// a partition.
type Gap struct {
	Partition, Page string
	Expected, Found uint64
}

// Unreadable names a partition and says why it cannot be read.
type Unreadable struct {
	Partition string
	Err       error
}

const (
	maxBadValues = 100     // named in ScanStats; all are counted
	batchRecords = 512     // copied out of Badger at once
	batchBytes   = 2 << 20 // or so many bytes
)

// Scan calls f for each trace that q asks for and that was stored when Scan was
// called: oldest partition first, within a partition by page, view and chunk. A
// trace of several pages is handed over once, also if all pages are asked for.
//
// The Payload and Pages of the record are valid during the call of f only; Tags are
// not stored. f may call Append, but none of the methods of [Reader]. Scan ends with
// the error of f, or that of ctx. What cannot be read is not an error: it is in the
// stats, which count up to where the scan ended.
func (r *Reader) Scan(ctx context.Context, q Query, f func(Record) error) (ScanStats, error) {
	if q.Page != "" {
		if why := checkPage(q.Page); why != "" {
			return ScanStats{}, fmt.Errorf("scan: %s", why)
		}
	}
	if err := r.enter(); err != nil {
		return ScanStats{}, err
	}
	defer r.leave()
	s := &scan{r: r, q: q, f: f, page: q.Page}
	s.q.Since = r.clip(q.Since)
	err := s.run(ctx)
	r.damaged.Add(s.stats.Damaged)
	for _, g := range s.stats.Gaps {
		r.missing.Add(g.Expected - g.Found)
	}
	return s.stats, err
}

// clip moves the start of a query to where retention begins. Directories go away
// some time later; readers need not see the difference.
func (r *Reader) clip(since time.Time) time.Time {
	if r.opts.Retention > 0 {
		if oldest := r.opts.Now().Add(-r.opts.Retention); oldest.After(since) {
			return oldest
		}
	}
	return since
}

type scan struct {
	r       *Reader
	q       Query
	f       func(Record) error
	page    string // the page of the last record, to make one string for all its traces
	stats   ScanStats
	arena   []byte
	items   []item
	payload []byte
	pages   []string
}

// item is a key and value in the arena.
type item struct{ key, value int }

// cursor is how far a scan has come in one partition.
type cursor struct {
	p        *partition
	prefix   []byte
	next     []byte // where to go on
	snapshot uint64 // newest Badger version to be seen
	begun    bool
	expected uint64 // trace keys with prefix, by the catalogue
	sure     bool   // expected is known
	found    uint64
	done     bool

	txn          *badger.Txn     // that reads p now; nil if none does
	noDictionary map[uint32]bool // looked for in vain
}

func (s *scan) run(ctx context.Context) error {
	sh := s.r.shelf
	parts := sh.pin(func(p *partition) bool {
		return p.concerns(s.q.Since, s.q.Until)
	})
	defer sh.unpin(parts)
	s.noteAside()
	return s.readAll(ctx, parts)
}

// readAll reads partitions of traces.
func (s *scan) readAll(ctx context.Context, parts []*partition) error {
	sh := s.r.shelf
	cursors := make([]*cursor, len(parts))
	for i, p := range parts {
		cursors[i] = s.cursor(p)
		// What is written from now on is not part of the scan.
		if sh.isWriter(p) {
			s.attempt(cursors[i], s.begin)
		}
	}
	for _, c := range cursors {
		for !c.done {
			if err := ctx.Err(); err != nil {
				return err
			}
			s.attempt(c, s.read)
			if err := s.deliver(ctx, c); err != nil {
				return err
			}
		}
		s.settle(c)
	}
	return nil
}

func (s *scan) cursor(p *partition) *cursor {
	c := &cursor{p: p, snapshot: noSnapshot, prefix: []byte{kindTrace}}
	if s.q.Page != "" {
		c.prefix = appendPagePrefix(nil, s.q.Page)
	}
	c.next = bytes.Clone(c.prefix)
	return c
}

// attempt runs do on the open partition of c. If that does not work, the rest of
// the partition is given up and noted.
func (s *scan) attempt(c *cursor, do func(*cursor, *badger.DB) error) {
	if c.done {
		return
	}
	db, release, err := s.r.shelf.lease(c.p)
	if err == nil {
		err = do(c, db)
		release()
	}
	if err != nil {
		c.done, c.sure = true, false
		s.stats.Unreadable = append(s.stats.Unreadable, Unreadable{c.p.name, err})
	}
}

// begin fixes the snapshot of c, and how much there is in it.
func (s *scan) begin(c *cursor, db *badger.DB) error {
	c.begun = true
	return view(db, func(txn *badger.Txn) error {
		if s.r.shelf.isWriter(c.p) {
			c.snapshot = txn.ReadTs()
		}
		var err error
		if s.q.Page != "" {
			c.expected, err = pageTotal(txn, s.q.Page)
		} else {
			c.expected, err = allTotals(txn)
			if c.snapshot == noSnapshot {
				c.expected = max(c.expected, s.r.shelf.entries(c.p))
			}
		}
		if errors.Is(err, ErrDamaged) {
			s.bad(c.p.name, appendCatalogKey(nil, s.q.Page, Tag{}), err)
			return nil
		}
		c.sure = err == nil
		return err
	})
}

// read copies the next traces into the arena, so that Badger is not held up by
// what the callback does.
func (s *scan) read(c *cursor, db *badger.DB) error {
	s.arena, s.items = s.arena[:0], s.items[:0]
	if !c.begun {
		if err := s.begin(c, db); err != nil {
			return err
		}
	}
	return view(db, func(txn *badger.Txn) error {
		// Values are not prefetched: they come with the keys, and Badger would start
		// a goroutine for each, in which a panic over damaged bytes ends the process.
		it := txn.NewIterator(badger.IteratorOptions{Prefix: c.prefix})
		defer it.Close()
		for it.Seek(c.next); it.Valid(); it.Next() {
			if len(s.items) >= batchRecords || len(s.arena) >= batchBytes {
				return nil
			}
			if err := s.copy(c, it.Item()); err != nil {
				return err
			}
		}
		c.done = true
		return nil
	})
}

func (s *scan) copy(c *cursor, it *badger.Item) error {
	key := it.Key()
	// The successor of a key is the key with a NUL behind it.
	c.next = append(append(c.next[:0], key...), 0)
	if it.Version() > c.snapshot {
		return nil
	}
	c.found++
	start := len(s.arena)
	s.arena = append(s.arena, key...)
	err := it.Value(func(b []byte) error {
		s.arena = append(s.arena, b...)
		return nil
	})
	if err != nil {
		s.arena = s.arena[:start]
		s.bad(c.p.name, key, fmt.Errorf("%w: %w", ErrDamaged, err))
		return nil
	}
	s.items = append(s.items, item{len(key), len(s.arena) - start - len(key)})
	return nil
}

// deliver hands what is in the arena to the callback.
func (s *scan) deliver(ctx context.Context, c *cursor) error {
	rest := s.arena
	for _, it := range s.items {
		key, value := rest[:it.key], rest[it.key:it.key+it.value]
		rest = rest[it.key+it.value:]
		s.stats.Bytes += uint64(len(key) + len(value))
		rec, wanted, err := s.decode(c, key, value)
		if err != nil {
			s.bad(c.p.name, key, err)
			continue
		}
		if !wanted {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		s.stats.Traces++
		if err := s.f(rec); err != nil {
			return err
		}
	}
	s.items = s.items[:0]
	s.arena = s.arena[:0]
	return nil
}

// decode returns the record under key, and whether the query wants it.
func (s *scan) decode(c *cursor, key, value []byte) (rec Record, wanted bool, err error) {
	page, id, err := parseTraceKey(key)
	if err != nil {
		return Record{}, false, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	v, err := UnpackValue(key, value)
	if err != nil {
		return Record{}, false, err
	}
	if string(page) != s.page {
		s.page = string(page)
	}
	if !s.q.takes(s.page) {
		return Record{}, false, nil
	}
	if v.Received.Before(s.q.Since) || !s.q.Until.IsZero() && !v.Received.Before(s.q.Until) {
		s.stats.Skipped++
		return Record{}, false, nil
	}
	if s.q.Page == "" && !s.q.EachPage && len(v.Others) > 0 && v.Others[0] < s.page {
		return Record{}, false, nil // handed over under its first page
	}
	if err := s.decompress(c, v.Compressed); err != nil {
		return Record{}, false, err
	}
	s.pages = append(append(s.pages[:0], s.page), v.Others...)
	slices.Sort(s.pages)
	return Record{ID: id, Page: s.page, Partition: c.p.name, Pages: s.pages, Received: v.Received, Payload: s.payload}, true, nil
}

// settle closes the account of a partition.
func (s *scan) settle(c *cursor) {
	s.stats.Partitions++
	if c.sure && c.found < c.expected {
		s.stats.Gaps = append(s.stats.Gaps, Gap{c.p.name, s.q.Page, c.expected, c.found})
	}
	if c.sure && c.found > c.expected {
		s.bad(c.p.name, appendCatalogKey(nil, s.q.Page, Tag{}),
			fmt.Errorf("%w catalogue: it counts %d traces of %d", ErrDamaged, c.expected, c.found))
	}
	s.r.shelf.mu.Lock()
	defer s.r.shelf.mu.Unlock()
	s.stats.Lost += c.p.LostTraces
}

func (s *scan) bad(partition string, key []byte, err error) {
	s.stats.Damaged++
	if len(s.stats.BadValues) < maxBadValues {
		s.stats.BadValues = append(s.stats.BadValues, BadValue{partition, bytes.Clone(key), err})
	}
}

// isWriter reports whether p is open for writing.
func (s *shelf) isWriter(p *partition) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.writer
}

// entries returns how many trace keys p had when it was closed.
func (s *shelf) entries(p *partition) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.Entries
}

// allTotals returns how many trace keys the catalogue says there are.
func allTotals(txn *badger.Txn) (total uint64, err error) {
	err = eachCount(txn, func(_ string, t Tag, c count) {
		if t == (Tag{}) && total <= math.MaxUint64-c.traces {
			total += c.traces
		}
	})
	return total, err
}
