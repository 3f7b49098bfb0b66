package layout

import "github.com/fieldtrie/fieldtrie/store/block"

// runBlock is how much is in a block of traces, before it is compressed.
const runBlock = 256 << 10

// keysBlock is how much is in a block of keys, before it is compressed: those of some 60,000 traces.
const keysBlock = 1 << 20

// RunWriter writes a run of rows, which come sorted and distinct.
type RunWriter struct {
	w     *block.Writer
	page  string
	data  pending   // the block of traces that is being filled
	rows  []Row     // rows of that block, if it will be packed
	keys  pending   // and the one of keys
	of    []pending // blocks of keys, which follow all traces
	count int
	first int64 // when a row was received (µs)
	last  int64
	kept  int  // bytes of keys
	pack  bool // traces of a block share their tables
}

// pending is a block of a page that is not written yet.
type pending struct {
	page string
	n    int
	data []byte
	size int // about, of what is in it
}

// NewRunWriter begins a run.
func NewRunWriter(c *block.Codec) *RunWriter { return &RunWriter{w: block.NewWriter(c)} }

// NewPackedWriter begins a run of an hour to which nothing is added any more: traces that lie together share their tables.
func NewPackedWriter(c *block.Codec) *RunWriter {
	return &RunWriter{w: block.NewWriter(c), pack: true}
}

// Add adds a row. One that will be packed is kept for a while.
func (w *RunWriter) Add(r *Row) error {
	if r.Page != w.page {
		if err := w.endPage(); err != nil {
			return err
		}
		w.page = r.Page
	}
	if err := w.addRow(r); err != nil {
		return err
	}
	before := len(w.keys.data)
	w.keys.data = appendKey(w.keys.data, r.ID)
	w.keys.n++
	w.kept += len(w.keys.data) - before
	w.count++
	if w.first == 0 || r.Received < w.first {
		w.first = r.Received
	}
	w.last = max(w.last, r.Received)
	if len(w.keys.data) >= keysBlock {
		w.endKeys()
	}
	if w.data.size >= runBlock {
		return w.endBlock()
	}
	return nil
}

func (w *RunWriter) addRow(r *Row) error {
	w.data.n++
	if w.pack {
		w.rows = append(w.rows, *r)
		w.data.size += r.size()
		return nil
	}
	if r.Trace != nil { // of a run that was packed already
		x := *r
		var err error
		if x.Payload, err = r.Document(); err != nil {
			return err
		}
		r = &x
	}
	if w.data.n == 1 {
		w.data.data = append(w.data.data, formRows)
	}
	w.data.data = appendRow(w.data.data, r, false)
	w.data.size = len(w.data.data)
	return nil
}

// size returns about how many bytes the trace of a row takes by itself.
func (r *Row) size() int {
	if r.Trace == nil {
		return len(r.Payload)
	}
	return 512 + 8*len(r.Trace.Samples)
}

// Size returns about how large the run is so far.
func (w *RunWriter) Size() int { return w.w.Size() + w.kept }

// Rows returns how many rows it has, and when the first and the last one were received (µs).
func (w *RunWriter) Rows() (n int, first, last int64) { return w.count, w.first, w.last }

func (w *RunWriter) endBlock() error {
	if w.data.n == 0 {
		return nil
	}
	data := w.data.data
	if w.pack {
		var err error
		if data, err = encodePacked(w.rows); err != nil {
			return err
		}
	}
	err := w.w.Add(kindTraces, w.page, w.data.n, data)
	clear(w.rows)
	w.rows, w.data = w.rows[:0], pending{data: w.data.data[:0]}
	return err
}

func (w *RunWriter) endKeys() {
	if w.keys.n > 0 {
		w.of = append(w.of, pending{page: w.page, n: w.keys.n, data: w.keys.data})
	}
	w.keys = pending{}
}

func (w *RunWriter) endPage() error {
	w.endKeys()
	return w.endBlock()
}

// Finish returns the run with a key.
func (w *RunWriter) Finish(key string) ([]byte, error) {
	if err := w.endPage(); err != nil {
		return nil, err
	}
	for _, k := range w.of {
		if err := w.w.Add(kindKeys, k.page, k.n, k.data); err != nil {
			return nil, err
		}
	}
	return w.w.Finish(key), nil
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
