package layout

import (
	"encoding/binary"

	"github.com/fieldtrie/fieldtrie/store/block"
)

// runBlock is how much is in a block of traces, before it is compressed.
const runBlock = 256 << 10

// keysBlock is how much is in a block of keys, before it is compressed: those of some 60,000 traces.
const keysBlock = 1 << 20

// RunWriter writes a run of rows, which come sorted and distinct.
type RunWriter struct {
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

// NewRunWriter begins a run.
func NewRunWriter(c *block.Codec) *RunWriter { return &RunWriter{w: block.NewWriter(c)} }

// Add adds a row.
func (w *RunWriter) Add(r *Row) error {
	if r.Page != w.page {
		if err := w.endPage(); err != nil {
			return err
		}
		w.page = r.Page
	}
	w.data.data = appendRow(w.data.data, r, false)
	w.data.n++
	before := len(w.keys.data)
	w.keys.data = append(w.keys.data, r.ID.View[:]...)
	w.keys.data = binary.AppendUvarint(w.keys.data, uint64(r.ID.Chunk))
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

// Size returns about how large the run is so far.
func (w *RunWriter) Size() int { return w.w.Size() + w.kept }

// Count returns how many rows it has.
func (w *RunWriter) Count() int { return w.rows }

func (w *RunWriter) endBlock() error {
	if w.data.n == 0 {
		return nil
	}
	err := w.w.Add(kindTraces, w.page, w.data.n, w.data.data)
	w.data.n, w.data.data = 0, w.data.data[:0]
	return err
}

func (w *RunWriter) endKeys() {
	if w.keys.n > 0 {
		w.of = append(w.of, pending{w.page, w.keys.n, w.keys.data})
	}
	w.keys = pending{}
}

func (w *RunWriter) endPage() error {
	w.endKeys()
	return w.endBlock()
}

// Finish returns the run.
func (w *RunWriter) Finish() ([]byte, error) {
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

// decodeKeys returns the keys of a block.
func decodeKeys(data []byte, n int) ([]key, error) {
	d := newDecoder(data)
	out := make([]key, 0, min(n, len(data)))
	for d.Left() > 0 {
		out = append(out, d.key())
	}
	return out, d.Err()
}
