package layout

import (
	"container/heap"
	"context"
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/store/block"
)

// Cursor reads rows in order, of which it decodes one at a time.
type Cursor struct {
	o    *Object
	list []block.Entry // that are not read yet
	rows *rowReader    // of a block; nil before the first
	row  Row           // the present one, after next
}

// cursor returns a cursor through blocks of traces, one of so many that are read side by side.
func (o *Object) cursor(list []block.Entry, of int) *Cursor {
	end := int64(0)
	for _, e := range list {
		end = max(end, e.Offset+e.Length)
	}
	return &Cursor{o: o.forward(ShareOf(of), end, 1), list: list}
}

// Rows returns a cursor through all traces of a run, one of so many runs that are read side by side.
func (o *Object) Rows(of int) *Cursor { return o.cursor(o.index.Kind(kindTraces), of) }

// SoundRows is [Object.Rows] for the blocks that can be read, as many as there are.
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

// RowsOfPage is [Object.Rows] for those of a page.
func (o *Object) RowsOfPage(page string, of int) *Cursor {
	return o.cursor(o.index.Find(kindTraces, page), of)
}

// RowsOfPages is [Object.Rows] for those of some pages.
func (o *Object) RowsOfPages(wanted func(page string) bool, of int) *Cursor {
	return o.cursor(slices.DeleteFunc(slices.Clone(o.index.Kind(kindTraces)), func(e block.Entry) bool { return !wanted(e.Page) }), of)
}

// Size returns how many bytes are left to read.
func (c *Cursor) Size() (n int64) {
	for _, e := range c.list {
		n += e.Length
	}
	return n
}

// next goes to the next row. It reports whether there is one.
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

// Merge calls f with the rows of several cursors, in order. f may keep what a row has, but not where it is.
func Merge(ctx context.Context, cursors []*Cursor, f func(*Row) error) error {
	return MergeSound(ctx, cursors, func(err error) error { return err }, f)
}

// MergeSound is [Merge], and calls failed with the error of a run that cannot be read. If that returns nil, the rest of
// this run is left out.
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

// cursorHeap has the cursor with the least row first. It implements [heap.Interface].
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
