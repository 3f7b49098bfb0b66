package head

import (
	"bytes"
	"context"
	"time"

	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// renew gives a page whose stack table is full another one, with the heaviest stacks of all there
// is up to the snapshot. What is stored of the page stays until the next rollup takes its place.
// It is called by who has the turn, with upTo as it was when the table was not full.
func (h *Head) renew(ctx context.Context, x *page, snapshot uint64, pace func(time.Duration)) error {
	b := rollup.NewWholeBuilder(x.page, h.o.Limits)
	if err := h.addRolled(ctx, x, b); err != nil {
		return err
	}
	for _, rec := range x.recs {
		b.AddRecord(rec, x.table)
	}
	t := newTail(&h.o, x.p, x.page, x.upTo, snapshot)
	t.pace = pace
	if err := t.addTo(ctx, b); err != nil {
		return err
	}
	rec, err := b.Record()
	if err != nil {
		return err
	}
	x.counted(t)
	x.table, x.recs, x.rolled = b.Stacks(), nil, []*rollup.Record{rec}
	x.keep, x.details, x.renewed = true, true, true
	return nil
}

// renewRows begins a stack table of other pieces in next, and returns what deletes those that are
// stored. One number is left out between them: a reader goes on until a piece is missing, and
// finds the old table until there is the mark of the new one.
func (h *Head) renewRows(ctx context.Context, x *page, next *rows) (old []record.Pair, err error) {
	err = h.o.Shelf.Read(ctx, x.p, func(txn *part.Txn) error {
		it := txn.Iterate(record.AppendPageKey(nil, record.KindStacks, x.page), 0)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			old = append(old, record.Pair{Key: bytes.Clone(it.Key())})
		}
		return nil
	})
	next.pieces++
	next.mark.first, next.stored = next.pieces, rollup.SizeOf(trie.New())
	return old, err
}
