package fleet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/block"
)

// runBlock is how much is in a block of traces, before it is compressed.
const runBlock = 256 << 10

// encodeRun returns a run of rows, which are sorted and distinct.
func encodeRun(c *block.Codec, rows []row) ([]byte, error) {
	w := newRunWriter(c)
	for i := range rows {
		if err := w.add(&rows[i]); err != nil {
			return nil, err
		}
	}
	return w.finish()
}

// runWriter writes a run.
type runWriter struct {
	w    *block.Writer
	page string
	n    int    // rows in data
	data []byte // of the block that is being filled
	keys []byte // of the page
	all  int    // keys of the page
	of   []pageOfKeys
	rows int
}

// pageOfKeys are the encoded keys of a page, which follow all rows.
type pageOfKeys struct {
	page string
	n    int
	keys []byte
}

func newRunWriter(c *block.Codec) *runWriter { return &runWriter{w: block.NewWriter(c)} }

func (w *runWriter) add(r *row) error {
	if r.page != w.page {
		if err := w.endPage(); err != nil {
			return err
		}
		w.page = r.page
	}
	w.data = appendRow(w.data, r, false)
	w.keys = append(w.keys, r.id.View[:]...)
	w.keys = binary.AppendUvarint(w.keys, uint64(r.id.Chunk))
	w.n++
	w.all++
	w.rows++
	if len(w.data) >= runBlock {
		return w.endBlock()
	}
	return nil
}

func (w *runWriter) endBlock() error {
	if w.n == 0 {
		return nil
	}
	err := w.w.Add(kindTraces, w.page, w.n, w.data)
	w.n, w.data = 0, w.data[:0]
	return err
}

func (w *runWriter) endPage() error {
	if err := w.endBlock(); err != nil {
		return err
	}
	if w.all > 0 {
		w.of = append(w.of, pageOfKeys{w.page, w.all, w.keys})
	}
	w.keys, w.all = nil, 0
	return nil
}

func (w *runWriter) finish() ([]byte, error) {
	if err := w.endPage(); err != nil {
		return nil, err
	}
	for _, k := range w.of {
		if err := w.w.Add(kindKeys, k.page, k.n, k.keys); err != nil {
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

// decodeKeys returns the keys of a page.
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
	list := o.index.Kind(kindKeys)
	data, err := r.data(ctx, o, list)
	if err != nil {
		return nil, err
	}
	for i, e := range list {
		keys, err := decodeKeys(data[i], e.Rows)
		if err != nil {
			return nil, fmt.Errorf("read %s: keys of %q: %w", k, e.Page, err)
		}
		out.pages[e.Page] = &pageKeys{keys, o.index.Find(kindTraces, e.Page)}
	}
	o.tail = nil // which is much larger than what is kept
	return out, nil
}

// keysOf returns the keys of a run that was just written.
func keysOf(o *object, rows []row) *runKeys {
	out := &runKeys{object: o, pages: map[string]*pageKeys{}}
	for i := range rows {
		p := out.pages[rows[i].page]
		if p == nil {
			p = &pageKeys{blocks: o.index.Find(kindTraces, rows[i].page)}
			out.pages[rows[i].page] = p
		}
		p.keys = append(p.keys, keyOf(rows[i].id))
	}
	return out
}

// has reports whether a run has a key of a page.
func (x *runKeys) has(page string, k key) bool {
	p := x.pages[page]
	if p == nil {
		return false
	}
	_, found := slices.BinarySearchFunc(p.keys, k, compareKeys)
	return found
}

// blocksOf returns which of the blocks have rows of a page view.
func (p *pageKeys) blocksOf(view [16]byte) (from, to int) {
	at := func(k key) int {
		i, _ := slices.BinarySearchFunc(p.keys, k, compareKeys)
		return i
	}
	first, end := at(key{view, 0}), at(key{view, 1<<32 - 1})
	if end < len(p.keys) && p.keys[end].view == view {
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
		list := p.blocks[i:n]
		data, err := r.data(ctx, x.object, list)
		if err != nil {
			return nil, err
		}
		for j, e := range list {
			rows, err := decodeTraces(data[j], page, e.Rows)
			if err != nil {
				return nil, fmt.Errorf("read %s: traces of %q: %w", x.object.key, page, err)
			}
			for _, row := range rows {
				if _, found := slices.BinarySearchFunc(views, row.id.View, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }); found {
					out = append(out, row)
				}
			}
		}
		i = max(i, n)
	}
	return out, nil
}
