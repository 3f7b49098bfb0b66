package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// CatalogEntry says how many traces of a page carry a tag.
type CatalogEntry struct {
	Page        string
	Tag         Tag // the zero Tag stands for all traces of the page
	Traces      uint64
	First, Last time.Time // receive times
}

// Catalog returns what is stored for which page and tag, sorted by page and tag. An
// entry is there if its first and last trace in some partition, or some day of which there
// is a rollup alone, enclose a part of [since, until), and counts all traces of that: the
// times are exact to the partition only. The stats say what is missing from it.
func (r *Reader) Catalog(ctx context.Context, since, until time.Time) ([]CatalogEntry, ScanStats, error) {
	if err := r.enter(); err != nil {
		return nil, ScanStats{}, err
	}
	defer r.leave()
	if r.opts.RollEvery < 0 { // else what is left of expired traces is as good as any
		since = r.clip(since)
	}
	s := &scan{r: r, q: Query{Since: since, Until: until}}
	sums := make(map[CatalogEntry]count) // by page and tag, the rest zero
	parts, unpin := r.shelf.plan(since, until, false)
	defer unpin()
	s.noteAside()
	for _, x := range parts {
		if err := ctx.Err(); err != nil {
			return nil, s.stats, err
		}
		c := &cursor{p: x.p}
		s.attempt(c, func(c *cursor, db *badger.DB) error { return s.sumUp(db, x, sums) })
		if x.span == traces {
			s.settle(c)
		}
	}
	r.damaged.Add(s.stats.Damaged)
	entries := make([]CatalogEntry, 0, len(sums))
	for e, c := range sums {
		e.Traces, e.First, e.Last = c.traces, time.UnixMicro(c.first).UTC(), time.UnixMicro(c.last).UTC()
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b CatalogEntry) int {
		return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(a.Tag.Key, b.Tag.Key), cmp.Compare(a.Tag.Value, b.Tag.Value))
	})
	return entries, s.stats, nil
}

// sumUp adds the catalogue of a part to sums.
func (s *scan) sumUp(db *badger.DB, x part, sums map[CatalogEntry]count) error {
	return view(db, func(txn *badger.Txn) error {
		add := func(page string, t Tag, c count) {
			in := contents{Commits: c.traces, First: c.first, Last: c.last}
			if in.overlaps(s.q.Since, s.q.Until) {
				addCount(sums, page, t, c)
			}
		}
		if x.span == traces {
			return eachCount(txn, add)
		}
		return eachCopiedCount(txn, x.start, add)
	})
}

func addCount(sums map[CatalogEntry]count, page string, t Tag, c count) {
	key := CatalogEntry{Page: page, Tag: t}
	sum, ok := sums[key]
	if !ok {
		sum.first, sum.last = c.first, c.last
	}
	sum.traces += c.traces
	sum.first, sum.last = min(sum.first, c.first), max(sum.last, c.last)
	sums[key] = sum
}

// eachCopiedCount is eachCount for the copy that a partition of rollups has of the
// catalogue of what began at start.
func eachCopiedCount(txn *badger.Txn, start uint32, f func(page string, t Tag, c count)) error {
	return eachEntry(txn, binary.BigEndian.AppendUint32([]byte{kindCounts}, start), parseCountsKey, f)
}

// eachCount calls f for each entry of a partition's catalogue. A damaged entry is an
// error, because nothing says what it counted.
func eachCount(txn *badger.Txn, f func(page string, t Tag, c count)) error {
	return eachEntry(txn, []byte{kindCatalog}, parseCatalogKey, f)
}

// eachEntry calls f for each count whose key begins with prefix and is taken apart by parse.
func eachEntry(txn *badger.Txn, prefix []byte, parse func([]byte) (string, Tag, error), f func(page string, t Tag, c count)) error {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Item().Key()
		page, t, err := parse(key)
		if err != nil {
			return fmt.Errorf("%w catalogue: %w", ErrDamaged, err)
		}
		err = it.Item().Value(func(b []byte) error {
			c, err := parseCount(key, b)
			if err == nil {
				f(page, t, c)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
