package layout

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
)

// pageKeys are the sorted keys of a page in a run.
type pageKeys struct {
	keys   []key
	blocks []block.Entry // the blocks of rows, in the order of keys
}

// RunKeys are the keys of all traces in a run. They answer whether a trace is a duplicate.
type RunKeys struct {
	Object *Object
	pages  map[string]*pageKeys
}

// LoadKeys reads the keys of a run.
func (b *Bucket) LoadKeys(ctx context.Context, k string) (*RunKeys, error) {
	o, err := b.Open(ctx, k)
	if err != nil {
		return nil, err
	}
	out := &RunKeys{Object: o, pages: map[string]*pageKeys{}}
	near := o.forward(readAhead, o.size, 1)
	for _, e := range o.index.Kind(kindKeys) {
		data, err := near.data(ctx, []block.Entry{e})
		if err != nil {
			return nil, err
		}
		keys, err := decodeKeys(data[0], e.Rows)
		if err != nil {
			return nil, damaged(k, fmt.Errorf("keys of %q: %w", e.Page, err))
		}
		p := out.page(e.Page)
		p.keys = append(p.keys, keys...)
	}
	o.tail = nil // the tail is much larger than the keys
	return out.trim(), nil
}

// trim releases spare capacity.
func (x *RunKeys) trim() *RunKeys {
	for _, p := range x.pages {
		p.keys = slices.Clone(p.keys)
	}
	return x
}

// page returns the keys of a page, and adds an empty entry if there is none.
func (x *RunKeys) page(name string) *pageKeys {
	p := x.pages[name]
	if p == nil {
		p = &pageKeys{blocks: x.Object.index.Find(kindTraces, name)}
		x.pages[name] = p
	}
	return p
}

// KeysOf returns the keys of a run that was just written.
func (b *Bucket) KeysOf(k string, body []byte, rows []Row) (*RunKeys, error) {
	size := int64(len(body))
	index, err := b.Codec.ParseIndex(k, body, size)
	if err != nil {
		return nil, fmt.Errorf("write a run: %w", err)
	}
	out := &RunKeys{Object: &Object{key: k, size: size, index: index, from: b}, pages: map[string]*pageKeys{}}
	for i := range rows {
		p := out.page(rows[i].Page)
		p.keys = append(p.keys, keyOf(rows[i].ID))
	}
	return out.trim(), nil
}

// Has reports whether a run has a trace under a page.
func (x *RunKeys) Has(page string, id store.ID) bool {
	p, k := x.pages[page], keyOf(id)
	if p == nil || compareKeys(k, p.keys[0]) < 0 || compareKeys(k, p.keys[len(p.keys)-1]) > 0 {
		return false
	}
	_, found := slices.BinarySearchFunc(p.keys, k, compareKeys)
	return found
}

// blocksOf returns the range of blocks with rows of a page view; it is empty if there are none.
func (p *pageKeys) blocksOf(view [16]byte) (from, to int) {
	first, _ := slices.BinarySearchFunc(p.keys, key{view, 0}, compareKeys)
	end := first
	for end < len(p.keys) && p.keys[end].view == view {
		end++
	}
	if first == end {
		return 0, 0
	}
	return p.block(first), p.block(end-1) + 1
}

// block returns the index of the block with the i-th row.
func (p *pageKeys) block(i int) int {
	for n := range p.blocks {
		if i -= p.blocks[n].Rows; i < 0 {
			return n
		}
	}
	return len(p.blocks)
}

// ReadViews returns the rows of a page that belong to the given page views, whose ids must be
// sorted.
func (x *RunKeys) ReadViews(ctx context.Context, page string, views [][16]byte) ([]Row, error) {
	p := x.pages[page]
	if p == nil {
		return nil, nil
	}
	want := map[int]bool{}
	for _, v := range views {
		for from, to := p.blocksOf(v); from < to; from++ {
			want[from] = true
		}
	}
	var out []Row
	for i := 0; i < len(p.blocks); i++ {
		n := i
		for want[n] {
			n++ // adjacent blocks are read in one request
		}
		c := x.Object.cursor(p.blocks[i:n], 1)
		for {
			more, err := c.next(ctx)
			if err != nil {
				return nil, err
			}
			if !more {
				break
			}
			if _, found := slices.BinarySearchFunc(views, c.row.ID.View, func(a, b [16]byte) int {
				return bytes.Compare(a[:], b[:])
			}); found {
				if c.row.Payload, err = c.row.Document(); err != nil {
					return nil, damaged(x.Object.key, err)
				}
				// Without a copy the row would keep its whole block in memory.
				c.row.Payload, c.row.Trace, c.row.set = slices.Clone(c.row.Payload), nil, nil
				out = append(out, c.row)
			}
		}
		i = max(i, n)
	}
	return out, nil
}
