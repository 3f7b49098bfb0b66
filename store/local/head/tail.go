package head

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

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// tail reads the traces of a page that are newer than a version, page view by page view. Of a
// view that has such traces it reads the others as well: what is added to a sum is what the
// view is with its new traces, less what it was without them.
type tail struct {
	o        *Options
	p        *part.Partition
	prefix   []byte // of the keys of the page's traces
	next     []byte // where to go on
	since    uint64 // version of the newest trace that is in the sum already
	snapshot uint64 // version of the newest trace that is to be
	done     bool

	arena   []byte
	items   []item
	payload []byte
	decoder encode.BinaryDecoder

	traces uint64 // that were added
	bytes  uint64 // stored size of what was read
	bad    []store.BadValue
	// pace is called after each stretch of work with how long it took, unless it is nil.
	pace func(time.Duration)
}

// item is a key and value in the arena.
type item struct {
	key, value int
	old        bool // in the sum already
}

const (
	batchTraces = 512     // copied out of Badger at once
	batchBytes  = 2 << 20 // or so many bytes

	// stretch is how long one transaction is read in. To begin one takes as long as the commit
	// that is under way, so it is not done for each batch; but a partition can not be closed
	// meanwhile.
	stretch = 100 * time.Millisecond
)

func newTail(o *Options, p *part.Partition, page string, since, snapshot uint64) *tail {
	prefix := record.AppendPagePrefix(nil, page)
	return &tail{o: o, p: p, prefix: prefix, next: prefix, since: since, snapshot: snapshot}
}

// addTo adds all there is to a builder for the page.
func (t *tail) addTo(ctx context.Context, b *rollup.Builder) error {
	for !t.done {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		begin := time.Now()
		err := t.o.Shelf.Read(ctx, t.p, func(txn *part.Txn) error {
			for end := begin.Add(stretch); !t.done && time.Now().Before(end) && ctx.Err() == nil; {
				t.read(txn)
				t.addViews(txn, b)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if t.pace != nil {
			t.pace(time.Since(begin))
		}
	}
	return nil
}

// read copies the next views into the arena. It ends between two views.
func (t *tail) read(txn *part.Txn) {
	t.arena, t.items = t.arena[:0], t.items[:0]
	it := txn.Iterate(t.prefix, t.since)
	defer it.Close()
	var older *part.Iterator
	defer func() {
		if older != nil {
			older.Close()
		}
	}()
	var last []byte // what the keys of the present view begin with
	for it.Seek(t.next); it.Valid(); it.Next() {
		if it.Version() > t.snapshot {
			continue
		}
		key := it.Key()
		if of := key[:max(len(key)-4, 0)]; !bytes.Equal(of, last) {
			if len(t.items) >= batchTraces || len(t.arena) >= batchBytes {
				t.next = bytes.Clone(key)
				return
			}
			last = append(last[:0], of...)
			if t.since > 0 {
				if older == nil {
					i := txn.Iterate(t.prefix, 0)
					older = &i
				}
				t.copyOlder(older, last)
			}
		}
		t.copy(it, false)
	}
	t.done = true
}

// copyOlder copies the traces of a view that are in the sum already.
func (t *tail) copyOlder(it *part.Iterator, of []byte) {
	for it.Seek(of); it.ValidFor(of); it.Next() {
		if it.Version() <= t.since {
			t.copy(*it, true)
		}
	}
}

func (t *tail) copy(it part.Iterator, old bool) {
	key, start := it.Key(), len(t.arena)
	t.arena = append(t.arena, key...)
	err := it.Value(func(b []byte) error {
		t.arena = append(t.arena, b...)
		return nil
	})
	if err != nil {
		t.arena = t.arena[:start]
		t.damaged(key, fmt.Errorf("%w: %w", store.ErrDamaged, err))
		return
	}
	t.items = append(t.items, item{len(key), len(t.arena) - start - len(key), old})
}

func (t *tail) damaged(key []byte, err error) {
	t.bad = append(t.bad, store.BadValue{Partition: t.p.Name, Key: bytes.Clone(key), Err: err})
}

// addViews adds the views in the arena. It finds dictionaries in the transaction at hand.
func (t *tail) addViews(txn *part.Txn, b *rollup.Builder) {
	rest, items := t.arena, t.items
	for len(items) > 0 {
		n, size := 1, items[0].key+items[0].value
		of := rest[:items[0].key-4]
		for n < len(items) && bytes.Equal(rest[size:][:items[n].key-4], of) {
			size += items[n].key + items[n].value
			n++
		}
		t.addView(txn, b, rest[:size], items[:n])
		runtime.Gosched() // or requests wait for the end of a time slice, 10 ms, at each step of theirs
		rest, items = rest[size:], items[n:]
	}
	t.items = t.items[:0]
}

func (t *tail) addView(txn *part.Txn, b *rollup.Builder, data []byte, items []item) {
	if slices.ContainsFunc(items, func(x item) bool { return x.old }) {
		b.Begin(-1)
		t.addTraces(txn, b, data, items, true)
		b.End()
	}
	b.Begin(1)
	t.addTraces(txn, b, data, items, false)
	b.End()
}

// addTraces adds the traces of a view, in the order of their chunks, or the old ones alone.
func (t *tail) addTraces(txn *part.Txn, b *rollup.Builder, data []byte, items []item, onlyOld bool) {
	type stored struct{ key, value []byte }
	traces := make([]stored, 0, len(items))
	for _, it := range items {
		if it.old || !onlyOld {
			traces = append(traces, stored{data[:it.key], data[it.key : it.key+it.value]})
		}
		if !it.old && !onlyOld {
			t.traces++
		}
		data = data[it.key+it.value:]
	}
	chunk := func(s stored) uint32 { return binary.BigEndian.Uint32(s.key[len(s.key)-4:]) }
	slices.SortFunc(traces, func(a, b stored) int { return cmp.Compare(chunk(a), chunk(b)) })
	for _, s := range traces {
		if err := t.addTrace(txn, b, s.key, s.value); err != nil && !onlyOld {
			t.damaged(s.key, err)
		}
	}
}

func (t *tail) addTrace(txn *part.Txn, b *rollup.Builder, key, value []byte) error {
	v, err := record.UnpackValue(key, value)
	if err != nil {
		return err
	}
	t.payload, err = t.o.Codec.Decompress(t.payload[:0], v.Compressed, txn.Dictionary)
	if err != nil {
		return err
	}
	t.bytes += uint64(len(key) + len(value))
	doc, err := t.decoder.Decode(t.payload, encode.FileLimits())
	if err == nil && doc.Trace == nil {
		err = errors.New("it is a profile")
	}
	if err != nil {
		return fmt.Errorf("%w trace: %w", store.ErrDamaged, err)
	}
	b.Add(doc.Trace)
	return nil
}
