package layout

import (
	"container/heap"
	"context"
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/store/block"
)

// Cursor reads rows in order, one at a time.
type Cursor struct {
	o    *Object
	list []block.Entry // blocks that are not read yet
	rows *rowReader    // of the current block; nil before the first
	row  Row           // the current row, valid after next
}

// cursor returns a cursor over blocks of traces. It is one of n cursors that share the read-ahead
// memory.
func (o *Object) cursor(list []block.Entry, n int) *Cursor {
	end := int64(0)
	for _, e := range list {
		end = max(end, e.Offset+e.Length)
	}
	return &Cursor{o: o.forward(ShareOf(n), end, 1), list: list}
}

// Rows returns a cursor over all traces of a run. It is one of n cursors that share the read-ahead
// memory.
func (o *Object) Rows(n int) *Cursor { return o.cursor(o.index.Kind(kindTraces), n) }

// SoundRows is like [Object.Rows], but skips blocks that cannot be read.
func (o *Object) SoundRows(ctx context.Context) (*Cursor, error) {
	var sound []block.Entry
	for _, e := range o.index.Kind(kindTraces) {
		c := o.cursor([]block.Entry{e}, 1)
		more, err := c.next(ctx)
		for more && err == nil {
			more, err = c.next(ctx)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil {
			sound = append(sound, e)
		}
	}
	return o.cursor(sound, 1), nil
}

// RowsOfPage is like [Object.Rows], for the rows of one page. If there are none, the cursor is
// empty.
func (o *Object) RowsOfPage(page string, n int) *Cursor {
	return o.cursor(o.index.Find(kindTraces, page), n)
}

// RowsOfPages is like [Object.Rows], for the pages for which wanted returns true. It calls wanted
// for each block, before it returns.
func (o *Object) RowsOfPages(wanted func(page string) bool, n int) *Cursor {
	return o.cursor(slices.DeleteFunc(slices.Clone(o.index.Kind(kindTraces)), func(e block.Entry) bool {
		return !wanted(e.Page)
	}), n)
}

// Size returns the number of bytes that are left to read.
func (c *Cursor) Size() (n int64) {
	for _, e := range c.list {
		n += e.Length
	}
	return n
}

// next advances to the next row. It reports whether there is one.
func (c *Cursor) next(ctx context.Context) (bool, error) {
	for c.rows == nil || c.rows.end() && c.rows.Err() == nil {
		if len(c.list) == 0 {
			return false, nil
		}
		data, err := c.o.data(ctx, c.list[:1])
		if err != nil {
			return false, err
		}
		if c.rows, err = readRows(data[0], c.list[0].Page); err != nil {
			return false, damaged(c.o.key, fmt.Errorf("traces of %q: %w", c.list[0].Page, err))
		}
		c.list = c.list[1:]
	}
	c.row = c.rows.next()
	if err := c.rows.Err(); err != nil {
		return false, damaged(c.o.key, fmt.Errorf("traces of %q: %w", c.rows.page, err))
	}
	return true, nil
}

// Merge calls f with the rows of several cursors, in order. f may keep what the row points to, but
// not the pointer to the row.
func Merge(ctx context.Context, cursors []*Cursor, f func(*Row) error) error {
	return MergeSound(ctx, cursors, func(err error) error { return err }, f)
}

// MergeSound is like [Merge], but calls failed with the error if a run cannot be read. If failed
// returns nil, the merge skips the rest of this run.
func MergeSound(ctx context.Context, cursors []*Cursor, failed func(error) error, f func(*Row) error) error {
	next := func(c *Cursor) (bool, error) {
		more, err := c.next(ctx)
		if err != nil {
			return false, failed(err)
		}
		return more, nil
	}
	var h cursorHeap
	for _, c := range cursors {
		more, err := next(c)
		if err != nil {
			return err
		}
		if more {
			h = append(h, c)
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		if err := f(&h[0].row); err != nil {
			return err
		}
		more, err := next(h[0])
		if err != nil {
			return err
		}
		if more {
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
	}
	return nil
}

// cursorHeap orders cursors by their current row. It implements [heap.Interface].
type cursorHeap []*Cursor

func (h cursorHeap) Len() int           { return len(h) }
func (h cursorHeap) Less(i, j int) bool { return CompareRows(&h[i].row, &h[j].row) < 0 }
func (h cursorHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements [heap.Interface].
func (h *cursorHeap) Push(x any) { *h = append(*h, x.(*Cursor)) }

// Pop implements [heap.Interface].
func (h *cursorHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
