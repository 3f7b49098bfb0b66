package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/rollup"
)

// tail reads the traces of a page that are not rolled up yet, page view by page view. Of a
// view that has such traces it reads the others as well: what comes to a rollup is what
// the view is with its new traces, less what it was without them.
type tail struct {
	*scan
	c       *cursor // its snapshot bounds what is new
	since   uint64  // Badger's version of the newest trace that is rolled up
	olds    []bool  // by item
	decoder encode.BinaryDecoder
	news    uint64 // traces that were added
	// pace is called after each stretch of work with how long it took, unless it is nil.
	pace func(time.Duration)
}

// addTo adds all there is to a Builder for the page of the cursor.
func (t *tail) addTo(ctx context.Context, b *rollup.Builder) error {
	for !t.c.done {
		if err := ctx.Err(); err != nil {
			return err
		}
		begin := time.Now()
		t.attempt(t.c, func(_ *cursor, db *badger.DB) error {
			txn := db.NewTransaction(false)
			defer txn.Discard()
			t.c.txn = txn
			defer func() { t.c.txn = nil }()
			return t.addIn(ctx, txn, b)
		})
		if t.pace != nil {
			t.pace(time.Since(begin))
		}
	}
	return nil
}

// stretch is how long one transaction is read in. To begin one takes as long as the commit
// that is under way, so it is not done for each batch; but the partition can not be closed
// meanwhile.
const stretch = 100 * time.Millisecond

// addIn adds what there is for a stretch of time, or until ctx is done.
func (t *tail) addIn(ctx context.Context, txn *badger.Txn, b *rollup.Builder) error {
	for end := time.Now().Add(stretch); !t.c.done && time.Now().Before(end) && ctx.Err() == nil; {
		if err := guarded(func() error { return t.read(txn) }); err != nil {
			return err
		}
		t.addViews(b)
	}
	return nil
}

// read copies the next views into the arena. It ends between two views.
func (t *tail) read(txn *badger.Txn) error {
	t.arena, t.items, t.olds = t.arena[:0], t.items[:0], t.olds[:0]
	it := txn.NewIterator(badger.IteratorOptions{Prefix: t.c.prefix, SinceTs: t.since})
	defer it.Close()
	var older *badger.Iterator
	defer func() {
		if older != nil {
			older.Close()
		}
	}()
	var last []byte // what the keys of the present view begin with
	for it.Seek(t.c.next); it.Valid(); it.Next() {
		stored := it.Item()
		if stored.Version() > t.c.snapshot {
			continue
		}
		key := stored.Key()
		if of := key[:max(len(key)-4, 0)]; !bytes.Equal(of, last) {
			if len(t.items) >= batchRecords || len(t.arena) >= batchBytes {
				t.c.next = bytes.Clone(key)
				return nil
			}
			last = bytes.Clone(of)
			if t.since > 0 {
				if older == nil {
					older = txn.NewIterator(badger.IteratorOptions{Prefix: t.c.prefix})
				}
				t.copyOlder(older, last)
			}
		}
		t.copyItem(stored, false)
	}
	t.c.done = true
	return nil
}

// copyOlder copies the traces of a view that are rolled up already.
func (t *tail) copyOlder(it *badger.Iterator, of []byte) {
	for it.Seek(of); it.ValidForPrefix(of); it.Next() {
		if it.Item().Version() <= t.since {
			t.copyItem(it.Item(), true)
		}
	}
}

func (t *tail) copyItem(stored *badger.Item, old bool) {
	key, start := stored.Key(), len(t.arena)
	t.arena = append(t.arena, key...)
	err := stored.Value(func(b []byte) error {
		t.arena = append(t.arena, b...)
		return nil
	})
	if err != nil {
		t.arena = t.arena[:start]
		t.bad(t.c.p.name, key, fmt.Errorf("%w: %w", ErrDamaged, err))
		return
	}
	t.items = append(t.items, item{len(key), len(t.arena) - start - len(key)})
	t.olds = append(t.olds, old)
}

// addViews adds the views in the arena.
func (t *tail) addViews(b *rollup.Builder) {
	rest, items, olds := t.arena, t.items, t.olds
	for len(items) > 0 {
		n, size := 1, items[0].key+items[0].value
		of := rest[:items[0].key-4]
		for n < len(items) && bytes.Equal(rest[size:][:items[n].key-4], of) {
			size += items[n].key + items[n].value
			n++
		}
		t.addView(b, rest[:size], items[:n], olds[:n])
		runtime.Gosched() // or requests wait for the end of a time slice, 10 ms, at each step of theirs
		rest, items, olds = rest[size:], items[n:], olds[n:]
	}
	t.items = t.items[:0]
}

func (t *tail) addView(b *rollup.Builder, data []byte, items []item, olds []bool) {
	had := false
	for _, old := range olds {
		had = had || old
	}
	if had {
		b.Begin(-1)
		t.addTraces(b, data, items, olds, true)
		b.End()
	}
	b.Begin(1)
	t.addTraces(b, data, items, olds, false)
	b.End()
}

// addTraces adds the traces of a view, in the order of their chunks, or the old ones alone.
func (t *tail) addTraces(b *rollup.Builder, data []byte, items []item, olds []bool, onlyOld bool) {
	type stored struct{ key, value []byte }
	traces := make([]stored, 0, len(items))
	for i, it := range items {
		if x := (stored{data[:it.key], data[it.key : it.key+it.value]}); olds[i] || !onlyOld {
			traces = append(traces, x)
		}
		data = data[it.key+it.value:]
	}
	chunk := func(s stored) uint32 { return binary.BigEndian.Uint32(s.key[len(s.key)-4:]) }
	slices.SortFunc(traces, func(a, b stored) int { return cmp.Compare(chunk(a), chunk(b)) })
	for _, s := range traces {
		if err := t.addTrace(b, s.key, s.value); err != nil && !onlyOld {
			t.bad(t.c.p.name, s.key, err)
		}
	}
	if !onlyOld {
		for _, old := range olds {
			if !old {
				t.news++
			}
		}
	}
}

func (t *tail) addTrace(b *rollup.Builder, key, value []byte) error {
	rec, wanted, err := t.decode(t.c, key, value)
	if err != nil || !wanted {
		return err
	}
	t.stats.Bytes += uint64(len(key) + len(value))
	doc, err := t.decoder.Decode(rec.Payload, encode.FileLimits())
	if err == nil && doc.Trace == nil {
		err = errors.New("it is a profile")
	}
	if err != nil {
		return fmt.Errorf("%w trace: %w", ErrDamaged, err)
	}
	b.Add(doc.Trace)
	return nil
}

// addOutcomes adds the page views without a trace that a partition counts for page. What is
// damaged of them is left out.
func addOutcomes(txn *badger.Txn, page string, b *rollup.Builder) error {
	prefix := appendPageKey(nil, kindOutcome, page)
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Item().Key()
		err := it.Item().Value(func(v []byte) error {
			c, err := parseCount(key, v)
			if err == nil {
				b.AddOutcome(string(key[len(prefix):]), int64(c.traces))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
