package layout

import "github.com/fieldtrie/fieldtrie/store/block"

// runBlock is the size of a block of traces, in bytes before compression.
const runBlock = 256 << 10

// keysBlock is the size of a block of keys, in bytes before compression: about 60,000 keys.
const keysBlock = 1 << 20

// RunWriter writes a run. Rows must be added in order and without duplicates.
type RunWriter struct {
	w     *block.Writer
	page  string
	data  pending   // the current block of traces
	rows  []Row     // rows of the current block, if it will be packed
	keys  pending   // the current block of keys
	of    []pending // complete blocks of keys, which are written after all traces
	count int
	first int64 // when the first row was received (µs)
	last  int64
	kept  int  // bytes of keys so far
	pack  bool // whether the traces of a block share their tables
}

// pending is a block of a page that is not written yet.
type pending struct {
	page string
	n    int
	data []byte
	size int // approximate size of data in bytes
}

// NewRunWriter returns a writer for a run. Rows must be added in the order of [CompareRows].
func NewRunWriter(c *block.Codec) *RunWriter { return &RunWriter{w: block.NewWriter(c)} }

// NewPackedWriter returns a writer for a packed run, in which the traces of a block share their
// tables. It is used for hours to which no data is added any more.
func NewPackedWriter(c *block.Codec) *RunWriter {
	return &RunWriter{w: block.NewWriter(c), pack: true}
}

// Add adds a row. A packed writer keeps the row until its block is complete.
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
	if r.Trace != nil { // from a run that is packed already
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

// size returns the approximate size of the trace of a row without shared tables, in bytes.
func (r *Row) size() int {
	if r.Trace == nil {
		return len(r.Payload)
	}
	return 512 + 8*len(r.Trace.Samples)
}

// Size returns the approximate size of the run so far, in bytes.
func (w *RunWriter) Size() int { return w.w.Size() + w.kept }

// Rows returns the number of rows, and when the first and the last of them were received (µs).
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

// Finish returns the encoded run, to be stored under this key only: readers compare the key that it
// contains. No rows may be added afterwards.
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

// decodeKeys returns the keys in a block.
func decodeKeys(data []byte, n int) ([]key, error) {
	d := newDecoder(data)
	out := make([]key, 0, min(n, len(data)))
	for d.Left() > 0 {
		out = append(out, d.key())
	}
	return out, d.Err()
}
