package former

import (
	"bytes"
	"context"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/store"
)

// Trace is a trace under one of its pages.
type Trace struct {
	ID       store.ID
	Received int64    // µs since the epoch
	Others   []string // its other pages, sorted
	Payload  []byte   // nobody else has it
	Repeat   bool     // it has the id of the trace before, and was received in another part of the hour
}

// EachTrace calls f with the traces of a page, by view and chunk. It returns how many are not what was written; errors that wrap
// [store.ErrDamaged] say of which partitions they could not be read to their end. It ends with the error of f, or that of ctx.
func (h *Hour) EachTrace(ctx context.Context, page string, f func(*Trace) error) (damaged int, damage error, err error) {
	var list []*cursor
	defer func() {
		for _, c := range list {
			c.close()
		}
	}()
	for _, p := range h.traced {
		c := &cursor{p: p, prefix: pageKey(kindTrace, page)}
		list = append(list, c)
		c.move()
	}
	var last *store.ID
	for {
		var least *cursor
		for _, c := range list {
			if c.valid && (least == nil || bytes.Compare(c.key, least.key) < 0) {
				least = c
			}
		}
		if least == nil {
			break
		}
		if ctx.Err() != nil {
			return damaged, nil, context.Cause(ctx)
		}
		t, terr := least.trace()
		switch {
		case terr != nil && !isDamage(terr):
			return damaged, nil, terr
		case terr != nil:
			damaged++
		default:
			t.Repeat = last != nil && *last == t.ID
			if err := f(t); err != nil {
				return damaged, nil, err
			}
			last = &t.ID
		}
		least.move()
	}
	for _, c := range list {
		if c.err != nil && damage == nil {
			damage = fmt.Errorf("traces of %q in %s: %w", page, c.p.name, c.err)
		}
	}
	return damaged, damage, nil
}

// cursor goes through the traces of a page in a partition.
type cursor struct {
	p      *partition
	prefix []byte
	it     *badger.Iterator
	valid  bool
	key    []byte
	err    error // why it has ended before the end
}

// move goes to the next trace, or the first one.
func (c *cursor) move() {
	c.valid = false
	c.err = guarded(func() error {
		if c.it == nil {
			c.it = c.p.txn.NewIterator(badger.IteratorOptions{Prefix: c.prefix})
			c.it.Rewind()
		} else {
			c.it.Next()
		}
		if c.it.Valid() {
			c.key, c.valid = c.it.Item().KeyCopy(c.key[:0]), true
		}
		return nil
	})
}

// trace returns the present trace.
func (c *cursor) trace() (t *Trace, err error) {
	err = guarded(func() error {
		return c.it.Item().Value(func(b []byte) error {
			id, err := parseID(c.key)
			if err != nil {
				return fmt.Errorf("%w: %w", store.ErrDamaged, err)
			}
			v, err := parseValue(c.key, b)
			if err != nil {
				return err
			}
			t = &Trace{ID: id, Received: v.received, Others: v.others}
			t.Payload, err = c.p.payloads.decompress(c.p.txn, v.compressed)
			return err
		})
	})
	return t, err
}

func (c *cursor) close() {
	if c.it != nil {
		_ = guarded(func() error { c.it.Close(); return nil }) // it only read
	}
}
