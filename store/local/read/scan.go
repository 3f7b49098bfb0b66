package read

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

const (
	batchRecords = 512     // copied out of Badger at once
	batchBytes   = 2 << 20 // or so many bytes
)

// Scan implements [store.Scanner]: oldest partition first, within a partition by page, view
// and chunk. f may call Append, but none of the methods of [Reader].
func (r *Reader) Scan(ctx context.Context, q store.Query, f func(store.Record) error) (store.ScanStats, error) {
	if q.Page != "" {
		if why := store.CheckPage(q.Page); why != "" {
			return store.ScanStats{}, fmt.Errorf("scan: %s", why)
		}
	}
	if err := r.o.Life.Enter(); err != nil {
		return store.ScanStats{}, err
	}
	defer r.o.Life.Leave()
	s := &scan{r: r, q: q, f: f, page: q.Page}
	s.q.Since = r.clip(q.Since)
	err := s.run(ctx)
	r.count(&s.stats)
	return s.stats, err
}

type scan struct {
	r       *Reader
	q       store.Query
	f       func(store.Record) error
	page    string // the page of the last record, to make one string for all its traces
	stats   store.ScanStats
	arena   []byte
	items   []item
	payload []byte
	pages   []string
}

// item is a key and value in the arena.
type item struct{ key, value int }

// cursor is how far a scan has come in one partition.
type cursor struct {
	p        part.Info
	prefix   []byte
	next     []byte // where to go on
	snapshot uint64 // newest version to be seen
	begun    bool
	expected uint64 // trace keys with prefix, by the catalogue
	sure     bool   // expected is known
	found    uint64
	done     bool

	noDictionary map[uint32]error // looked for in vain
}

func (s *scan) run(ctx context.Context) error {
	parts, unpin := s.r.o.Parts.Pin(func(p *part.Info) bool { return p.Concerns(s.q.Since, s.q.Until) })
	defer unpin()
	s.noteMissing()
	return s.readAll(ctx, parts)
}

// readAll reads partitions of traces.
func (s *scan) readAll(ctx context.Context, parts []part.Info) error {
	cursors := make([]*cursor, len(parts))
	for i, p := range parts {
		cursors[i] = s.cursor(p)
		// What is written from now on is not part of the scan.
		if p.Unsettled {
			if err := s.attempt(ctx, cursors[i], s.begin); err != nil {
				return err
			}
		}
	}
	for _, c := range cursors {
		for !c.done {
			if err := s.attempt(ctx, c, s.read); err != nil {
				return err
			}
			if err := s.deliver(ctx, c); err != nil {
				return err
			}
		}
		s.account(c)
	}
	return nil
}

func (s *scan) cursor(p part.Info) *cursor {
	c := &cursor{p: p, snapshot: part.AllVersions, prefix: []byte{record.KindTrace}}
	if s.q.Page != "" {
		c.prefix = record.AppendPagePrefix(nil, s.q.Page)
	}
	c.next = bytes.Clone(c.prefix)
	return c
}

// attempt runs do on the partition of c. If that does not work, the rest of the partition is
// given up and noted. The error is that of ctx.
func (s *scan) attempt(ctx context.Context, c *cursor, do func(*cursor, *part.Txn) error) error {
	if c.done {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err := s.r.o.Parts.Read(ctx, c.p.Partition, func(txn *part.Txn) error { return do(c, txn) })
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		c.done, c.sure = true, false
		s.unreadable(c.p.Name, err)
	}
	return nil
}

// begin fixes the snapshot of c, and how much there is in it.
func (s *scan) begin(c *cursor, txn *part.Txn) (err error) {
	c.begun = true
	if c.p.Unsettled {
		c.snapshot = txn.Version()
	}
	if s.q.Page != "" {
		c.expected, err = pageTotal(txn, s.q.Page)
	} else {
		c.expected, err = allTotals(txn)
		if !c.p.Writing {
			c.expected = max(c.expected, c.p.Entries)
		}
	}
	if errors.Is(err, store.ErrDamaged) {
		s.bad(c.p.Name, record.AppendCatalogKey(nil, s.q.Page, store.Tag{}), err)
		return nil
	}
	c.sure = err == nil
	return err
}

// read copies the next traces into the arena, so that Badger is not held up by
// what the callback does.
func (s *scan) read(c *cursor, txn *part.Txn) error {
	s.arena, s.items = s.arena[:0], s.items[:0]
	if !c.begun {
		if err := s.begin(c, txn); err != nil {
			return err
		}
	}
	it := txn.Iterate(c.prefix, 0)
	defer it.Close()
	for it.Seek(c.next); it.Valid(); it.Next() {
		if len(s.items) >= batchRecords || len(s.arena) >= batchBytes {
			return nil
		}
		s.copy(c, it)
	}
	c.done = true
	return nil
}

func (s *scan) copy(c *cursor, it part.Iterator) {
	key := it.Key()
	// The successor of a key is the key with a NUL behind it.
	c.next = append(append(c.next[:0], key...), 0)
	if it.Version() > c.snapshot {
		return
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
		s.bad(c.p.Name, key, fmt.Errorf("%w: %w", store.ErrDamaged, err))
		return
	}
	s.items = append(s.items, item{len(key), len(s.arena) - start - len(key)})
}

// deliver hands what is in the arena to the callback.
func (s *scan) deliver(ctx context.Context, c *cursor) error {
	rest := s.arena
	for _, it := range s.items {
		key, value := rest[:it.key], rest[it.key:it.key+it.value]
		rest = rest[it.key+it.value:]
		s.stats.Bytes += uint64(len(key) + len(value))
		rec, wanted, err := s.decode(ctx, c, key, value)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			s.bad(c.p.Name, key, err)
			continue
		}
		if !wanted {
			continue
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
func (s *scan) decode(ctx context.Context, c *cursor, key, value []byte) (rec store.Record, wanted bool, err error) {
	page, id, err := record.ParseTraceKey(key)
	if err != nil {
		return store.Record{}, false, fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	v, err := record.UnpackValue(key, value)
	if err != nil {
		return store.Record{}, false, err
	}
	if string(page) != s.page {
		s.page = string(page)
	}
	if !s.q.Takes(s.page) {
		return store.Record{}, false, nil
	}
	if v.Received.Before(s.q.Since) || !s.q.Until.IsZero() && !v.Received.Before(s.q.Until) {
		s.stats.Skipped++
		return store.Record{}, false, nil
	}
	if s.q.Page == "" && !s.q.EachPage && len(v.Others) > 0 && v.Others[0] < s.page {
		return store.Record{}, false, nil // handed over under its first page
	}
	find := func(id uint32) (*record.Dictionary, error) { return s.dictionary(ctx, c, id) }
	if s.payload, err = s.r.o.Codec.Decompress(s.payload[:0], v.Compressed, find); err != nil {
		return store.Record{}, false, err
	}
	s.pages = append(append(s.pages[:0], s.page), v.Others...)
	slices.Sort(s.pages)
	return store.Record{ID: id, Page: s.page, Partition: c.p.Name, Pages: s.pages, Received: v.Received, Payload: s.payload}, true, nil
}

// dictionary returns a dictionary of c's partition. One that is not there is not looked for
// again for each trace.
func (s *scan) dictionary(ctx context.Context, c *cursor, id uint32) (d *record.Dictionary, err error) {
	if err := c.noDictionary[id]; err != nil {
		return nil, err
	}
	err = s.r.o.Parts.Read(ctx, c.p.Partition, func(txn *part.Txn) error {
		d, err = txn.Dictionary(id)
		return err
	})
	if err != nil && ctx.Err() == nil {
		if c.noDictionary == nil {
			c.noDictionary = make(map[uint32]error)
		}
		c.noDictionary[id] = err
	}
	return d, err
}

// account closes the account of a partition.
func (s *scan) account(c *cursor) {
	s.stats.Partitions++
	if c.sure && c.found < c.expected {
		s.stats.Gaps = append(s.stats.Gaps, store.Gap{Partition: c.p.Name, Page: s.q.Page, Expected: c.expected, Found: c.found})
	}
	if c.sure && c.found > c.expected {
		s.bad(c.p.Name, record.AppendCatalogKey(nil, s.q.Page, store.Tag{}),
			fmt.Errorf("%w catalogue: it counts %d traces of %d", store.ErrDamaged, c.expected, c.found))
	}
	s.stats.Lost += c.p.LostTraces
}

func (s *scan) bad(partition string, key []byte, err error) {
	s.stats.AddBad(store.BadValue{Partition: partition, Key: bytes.Clone(key), Err: err})
}

func (s *scan) unreadable(partition string, err error) {
	s.stats.Unreadable = append(s.stats.Unreadable, store.Unreadable{Partition: partition, Err: err})
}

// pageTotal returns how many traces the catalogue says page has.
func pageTotal(txn *part.Txn, page string) (uint64, error) {
	c, err := txn.Count(record.AppendCatalogKey(nil, page, store.Tag{}))
	return c.Traces, err
}

// allTotals returns how many trace keys the catalogue says there are.
func allTotals(txn *part.Txn) (total uint64, err error) {
	err = txn.EachCount(func(_ string, t store.Tag, c record.Count) {
		if t == (store.Tag{}) && total <= math.MaxUint64-c.Traces {
			total += c.Traces
		}
	})
	return total, err
}
