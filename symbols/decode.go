package symbols

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/internal/wire"
)

// ErrMalformed is wrapped by every error about malformed bytes of a table.
var ErrMalformed = errors.New("malformed table of symbols")

// Decode reads a table. All errors except those of r wrap [ErrMalformed].
func Decode(r io.Reader) (*Table, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxTable+1))
	if err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	switch {
	case len(data) > MaxTable:
		return nil, fmt.Errorf("%w: over %d bytes", ErrMalformed, MaxTable)
	case !bytes.HasPrefix(data, []byte(magic)) || len(data) == len(magic):
		return nil, fmt.Errorf("%w: it does not begin with %s", ErrMalformed, magic)
	case data[len(magic)] != version:
		return nil, fmt.Errorf("%w: version %d, this program reads %d", ErrMalformed, data[len(magic)], version)
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBody))
	if err != nil {
		return nil, fmt.Errorf("decompress table: %w", err)
	}
	defer z.Close()
	body, err := z.DecodeAll(data[len(magic)+1:], nil)
	if err != nil {
		return nil, fmt.Errorf("%w: decompress: %w", ErrMalformed, err)
	}
	d := newTableReader(body)
	t := d.table()
	if err := d.Err(); err != nil {
		return nil, err
	}
	t.index()
	return t, nil
}

// tableReader decodes a table. After the first error it returns zeros.
type tableReader struct{ wire.Reader }

func newTableReader(b []byte) tableReader { return tableReader{wire.NewReader(b, ErrMalformed)} }

// uint32 returns a number of 32 bits.
func (r *tableReader) uint32(base uint32) uint32 {
	v := r.Uint()
	if v > uint64(math.MaxUint32-base) {
		r.Fail("a number exceeds 32 bits")
		return 0
	}
	return base + uint32(v)
}

func (r *tableReader) text() []byte {
	b := r.Bytes(r.LengthAtMost(maxName, 1))
	if !utf8.Valid(b) {
		r.Fail("a text is not valid UTF-8")
		return nil
	}
	return b
}

// texts returns a list of texts. They share one new string, so a table does not retain its encoded
// bytes.
func (r *tableReader) texts(most int) []string {
	out := make([]string, r.LengthAtMost(most, 1))
	start := r.Rest()
	for range out {
		r.text()
	}
	if r.Err() != nil {
		return nil
	}
	region := start[:len(start)-r.Left()]
	all, again := string(region), newTableReader(region)
	for i := range out {
		n := len(again.text())
		end := len(region) - again.Left()
		out[i] = all[end-n : end]
	}
	return out
}

// leastBytes is the minimum size of a function: a byte in most columns, plus the key and three
// hashes.
const leastBytes = columns - 4 + 8 + 3*4

// table reads the content of a table.
func (r *tableReader) table() *Table {
	t := &Table{}
	copy(t.Script[:], r.Bytes(len(t.Script)))
	copy(t.Map[:], r.Bytes(len(t.Map)))
	t.DebugID = string(r.text())
	for range r.LengthAtMost(maxSources, 3) {
		s := Source{Name: string(r.text()), Version: string(r.text())}
		if ignored := r.Bytes(1); len(ignored) == 1 && ignored[0] <= 1 {
			s.Ignored = ignored[0] == 1
		} else {
			r.Fail("a source is neither ignored nor not")
		}
		t.Sources = append(t.Sources, s)
	}
	n := r.LengthAtMost(maxFunctions, leastBytes)
	f := functionReader{texts: r.texts(2 * n), sourceLines: make([]int64, len(t.Sources)+1),
		columns: make([]tableReader, columns)}
	for i := range f.columns {
		f.columns[i] = newTableReader(r.Bytes(r.LengthAtMost(maxBody, 1)))
	}
	_ = r.End() // records the error
	if r.Err() == nil && (f.columns[columnKey].Left() != 8*n || f.columns[columnText].Left() != 4*n ||
		f.columns[columnWay].Left() != n ||
		f.columns[columnOwn].Left() != 4*n || f.columns[columnCode].Left() != 4*n) {
		r.Fail("columns are not of %d functions", n)
	}
	if r.Err() != nil {
		return t
	}
	t.Functions = make([]Function, n)
	for i := range t.Functions {
		if err := f.next(&t.Functions[i]); err != nil {
			r.Fail("function %d: %w", i, err)
			return t
		}
	}
	if err := f.end(); err != nil {
		r.Fail("%w", err)
	}
	return t
}

// functionReader reads functions one by one. Each field has its own column, and most columns have
// differences from the previous function.
type functionReader struct {
	columns      []tableReader
	texts        []string
	used         int // number of repeated texts
	line, column uint32
	source       int64
	sourceLines  []int64
}

func (r *functionReader) text(column int) string {
	c := &r.columns[column]
	back := c.Uint()
	at := r.used - int(min(back, math.MaxInt32))
	if back == 0 {
		at = r.used
		r.used++
	}
	if at < 0 || at >= len(r.texts) {
		c.Fail("a text is not in the list")
		return ""
	}
	return r.texts[at]
}

func (r *functionReader) next(f *Function) error {
	step := r.columns[columnLine].uint32(0)
	if step > 0 {
		r.column = 0
	}
	if step > math.MaxUint32-r.line {
		return errors.New("its line exceeds 32 bits")
	}
	before := r.column
	r.line += step
	r.column = r.columns[columnColumn].uint32(r.column)
	if step == 0 && r.column == before {
		return errors.New("it begins at the same place as the one before")
	}
	f.Line, f.Column = r.line, r.column
	f.Minified, f.Name = r.text(columnMinified), r.text(columnName)
	r.source += r.columns[columnSource].Int()
	if r.source < -1 || r.source >= int64(len(r.sourceLines)-1) {
		return errors.New("its source is not in the list")
	}
	f.Source = int32(r.source)
	line := &r.sourceLines[r.source+1]
	*line += r.columns[columnSourceLine].Int()
	if *line < 0 || *line > math.MaxUint32 {
		return errors.New("its line in the source is out of range")
	}
	f.SourceLine, f.SourceColumn = uint32(*line), r.columns[columnSourceColumn].uint32(0)
	f.Key = binary.LittleEndian.Uint64(r.columns[columnKey].Bytes(8))
	f.Text = binary.LittleEndian.Uint32(r.columns[columnText].Bytes(4))
	if f.Way = Way(r.columns[columnWay].Bytes(1)[0]); f.Way >= EndWays {
		return fmt.Errorf("way %d is not known", f.Way)
	}
	f.Ordinal = r.columns[columnOrdinal].uint32(0)
	f.Own = binary.LittleEndian.Uint32(r.columns[columnOwn].Bytes(4))
	f.Code = binary.LittleEndian.Uint32(r.columns[columnCode].Bytes(4))
	for i := range r.columns {
		if err := r.columns[i].Err(); err != nil {
			return err
		}
	}
	return nil
}

// end returns an error if bytes or texts are left.
func (r *functionReader) end() error {
	for i := range r.columns {
		if n := r.columns[i].Left(); n > 0 {
			return fmt.Errorf("%d bytes too many in column %d", n, i)
		}
	}
	if r.used != len(r.texts) {
		return fmt.Errorf("%d texts are not used", len(r.texts)-r.used)
	}
	return nil
}
