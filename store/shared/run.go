package shared

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/store/block"
)

// runBlock is how much is in a block of traces, before it is compressed.
const runBlock = 256 << 10

// keysBlock is how much is in a block of keys, before it is compressed: those of some 60,000 traces.
const keysBlock = 1 << 20

// runWriter writes a run of rows, which come sorted and distinct.
type runWriter struct {
	w    *block.Writer
	page string
	data pending   // the block of traces that is being filled
	keys pending   // and the one of keys
	of   []pending // blocks of keys, which follow all traces
	rows int
	kept int // bytes of keys
}

// pending is a block of a page that is not written yet.
type pending struct {
	page string
	n    int
	data []byte
}

func newRunWriter(c *block.Codec) *runWriter { return &runWriter{w: block.NewWriter(c)} }

func (w *runWriter) add(r *row) error {
	if r.page != w.page {
		if err := w.endPage(); err != nil {
			return err
		}
		w.page = r.page
	}
	w.data.data = appendRow(w.data.data, r, false)
	w.data.n++
	before := len(w.keys.data)
	w.keys.data = append(w.keys.data, r.id.View[:]...)
	w.keys.data = binary.AppendUvarint(w.keys.data, uint64(r.id.Chunk))
	w.keys.n++
	w.kept += len(w.keys.data) - before
	w.rows++
	if len(w.keys.data) >= keysBlock {
		w.endKeys()
	}
	if len(w.data.data) >= runBlock {
		return w.endBlock()
	}
	return nil
}

// size returns about how large the run is so far.
func (w *runWriter) size() int { return w.w.Size() + w.kept }

// count returns how many rows it has.
func (w *runWriter) count() int { return w.rows }

func (w *runWriter) endBlock() error {
	if w.data.n == 0 {
		return nil
	}
	err := w.w.Add(kindTraces, w.page, w.data.n, w.data.data)
	w.data.n, w.data.data = 0, w.data.data[:0]
	return err
}

func (w *runWriter) endKeys() {
	if w.keys.n > 0 {
		w.of = append(w.of, pending{w.page, w.keys.n, w.keys.data})
	}
	w.keys = pending{}
}

func (w *runWriter) endPage() error {
	w.endKeys()
	return w.endBlock()
}

func (w *runWriter) finish() ([]byte, error) {
	if err := w.endPage(); err != nil {
		return nil, err
	}
	for _, k := range w.of {
		if err := w.w.Add(kindKeys, k.page, k.n, k.data); err != nil {
			return nil, err
		}
	}
	return w.w.Finish(), nil
}

// decodeTraces returns the rows of a block of a page.
func decodeTraces(data []byte, page string, n int) ([]row, error) {
	d := decoder{rest: data}
	out := make([]row, 0, min(n, len(data)))
	for len(d.rest) > 0 {
		out = append(out, d.row(page, false))
	}
	return out, d.err
}

// decodeKeys returns the keys of a block.
func decodeKeys(data []byte, n int) ([]key, error) {
	d := decoder{rest: data}
	out := make([]key, 0, min(n, len(data)))
	for len(d.rest) > 0 {
		out = append(out, d.key())
	}
	return out, d.err
}

// object is a block file in the bucket, of which the index is known.
type object struct {
	key   string
	size  int64
	index *block.Index
	from  ranges
	tail  []byte // the last bytes of it, maybe all; nil once they are let go
}

// tailSize is how much of an object is read to find its index, and often enough all of it.
const tailSize = 64 << 10

// maxObject bounds what is read of an object at once.
const maxObject = 1 << 30

// openObject reads the index of an object, which is taken from somewhere.
func (r *Reader) openObject(ctx context.Context, from ranges, k string) (*object, error) {
	tail, size, err := from.Range(ctx, k, -tailSize, 0)
	if err != nil {
		return nil, err
	}
	index, err := r.codec.ParseIndex(tail, size)
	if short, ok := errors.AsType[*block.ShortError](err); ok {
		if tail, size, err = from.Range(ctx, k, -short.Need, 0); err == nil {
			index, err = r.codec.ParseIndex(tail, size)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", k, err)
	}
	return &object{k, size, index, from, tail}, nil
}

// data returns what is in blocks of an object, by one request at most. So they have to lie near each other.
func (r *Reader) data(ctx context.Context, o *object, list []block.Entry) ([][]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	from, to := list[0].Offset, int64(0)
	for _, e := range list {
		from, to = min(from, e.Offset), max(to, e.Offset+e.Length)
	}
	var packed []byte
	switch at := o.size - int64(len(o.tail)); {
	case from >= at:
		packed = o.tail[from-at : to-at]
	case to-from > maxObject:
		return nil, fmt.Errorf("read %s: %d bytes at once", o.key, to-from)
	default:
		var err error
		if packed, _, err = o.from.Range(ctx, o.key, from, to-from); err != nil {
			return nil, err
		}
	}
	out := make([][]byte, len(list))
	for i, e := range list {
		data, err := o.index.Data(e, packed[e.Offset-from:][:e.Length])
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", o.key, err)
		}
		out[i] = data
	}
	return out, nil
}

// pageKeys are the keys that a run has of a page, sorted.
type pageKeys struct {
	keys   []key
	blocks []block.Entry // of the rows, in the same order
}

// runKeys are the keys of a run, which tell whether something was there before.
type runKeys struct {
	object *object
	pages  map[string]*pageKeys
}

// loadKeys reads the keys of a run.
func (r *Reader) loadKeys(ctx context.Context, k string) (*runKeys, error) {
	o, err := r.openObject(ctx, r.b, k)
	if err != nil {
		return nil, err
	}
	out := &runKeys{object: o, pages: map[string]*pageKeys{}}
	near := o.forward(readAhead, o.size, 1)
	for _, e := range o.index.Kind(kindKeys) {
		data, err := r.data(ctx, near, []block.Entry{e})
		if err != nil {
			return nil, err
		}
		keys, err := decodeKeys(data[0], e.Rows)
		if err != nil {
			return nil, fmt.Errorf("read %s: keys of %q: %w", k, e.Page, err)
		}
		p := out.page(e.Page)
		p.keys = append(p.keys, keys...)
	}
	o.tail = nil // which is much larger than what is kept
	return out.trim(), nil
}

// trim gives back the room for more keys.
func (x *runKeys) trim() *runKeys {
	for _, p := range x.pages {
		p.keys = slices.Clone(p.keys)
	}
	return x
}

// page returns the keys of a page, to add to.
func (x *runKeys) page(name string) *pageKeys {
	p := x.pages[name]
	if p == nil {
		p = &pageKeys{blocks: x.object.index.Find(kindTraces, name)}
		x.pages[name] = p
	}
	return p
}

// keysOf returns the keys of a run that was just written.
func keysOf(o *object, rows []row) *runKeys {
	out := &runKeys{object: o, pages: map[string]*pageKeys{}}
	for i := range rows {
		p := out.page(rows[i].page)
		p.keys = append(p.keys, keyOf(rows[i].id))
	}
	return out.trim()
}

// has reports whether a run has a key of a page.
func (x *runKeys) has(page string, k key) bool {
	p := x.pages[page]
	if p == nil || compareKeys(k, p.keys[0]) < 0 || compareKeys(k, p.keys[len(p.keys)-1]) > 0 {
		return false
	}
	_, found := slices.BinarySearchFunc(p.keys, k, compareKeys)
	return found
}

// blocksOf returns which of the blocks have rows of a page view.
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

// block returns which block has the i-th row.
func (p *pageKeys) block(i int) int {
	for n := range p.blocks {
		if i -= p.blocks[n].Rows; i < 0 {
			return n
		}
	}
	return len(p.blocks)
}

// readViews reads what a run has of page views of a page, whose ids are sorted.
func (r *Reader) readViews(ctx context.Context, x *runKeys, page string, views [][16]byte) ([]row, error) {
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
	var out []row
	for i := 0; i < len(p.blocks); i++ {
		n := i
		for want[n] {
			n++ // neighbours come by one request
		}
		c := r.cursor(x.object, p.blocks[i:n], 1)
		for {
			more, err := c.next(ctx)
			if err != nil {
				return nil, err
			}
			if !more {
				break
			}
			if _, found := slices.BinarySearchFunc(views, c.row.id.View, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }); found {
				c.row.payload = slices.Clone(c.row.payload) // all of its block would stay in memory with it
				out = append(out, c.row)
			}
		}
		i = max(i, n)
	}
	return out, nil
}
