package symbols

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// The format of a table: docs/symbols.md describes it.
const (
	magic   = "FTSY"
	version = 1
	// MaxTable is the most bytes of an encoded table.
	MaxTable = 16 << 20
	// maxBody is the most bytes of what is compressed in it.
	maxBody = 256 << 20
)

// The columns of functions, in the order in which they follow each other.
const (
	columnLine = iota
	columnColumn
	columnMinified
	columnName
	columnSource
	columnSourceLine
	columnSourceColumn
	columnKey
	columnText
	columnWay
	columns
)

// Encode writes t. Equal tables are equal bytes.
func Encode(w io.Writer, t *Table) error {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		return fmt.Errorf("compress table: %w", err)
	}
	out := z.EncodeAll(appendTable(nil, t), append([]byte(magic), version))
	if len(out) > MaxTable {
		return fmt.Errorf("encode table: it takes %d bytes, the most is %d", len(out), MaxTable)
	}
	if _, err := w.Write(out); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// tableEncoder encodes functions. A text is written down when it is first used.
type tableEncoder struct {
	columns [columns][]byte
	texts   []byte
	number  map[string]uint64
}

// text appends a text to a column: 0 for the next one of the list, else how far back it is.
func (e *tableEncoder) text(column int, text string) {
	at, known := e.number[text]
	if !known {
		e.number[text] = uint64(len(e.number))
		e.texts = appendText(e.texts, text)
		e.uint(column, 0)
		return
	}
	e.uint(column, uint64(len(e.number))-at)
}

func (e *tableEncoder) uint(column int, v uint64) {
	e.columns[column] = binary.AppendUvarint(e.columns[column], v)
}

func (e *tableEncoder) int(column int, v int64) {
	e.columns[column] = binary.AppendVarint(e.columns[column], v)
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// appendTable appends what is compressed of a table.
func appendTable(b []byte, t *Table) []byte {
	b = append(append(b, t.Script[:]...), t.Map[:]...)
	b = appendText(b, t.DebugID)
	b = binary.AppendUvarint(b, uint64(len(t.Sources)))
	for _, s := range t.Sources {
		ignored := byte(0)
		if s.Ignored {
			ignored = 1
		}
		b = append(appendText(appendText(b, s.Name), s.Version), ignored)
	}
	e := tableEncoder{number: map[string]uint64{}}
	var line, column uint32
	source := int64(0)
	sourceLines := make([]int64, len(t.Sources)+1)
	for i := range t.Functions {
		f := &t.Functions[i]
		e.uint(columnLine, uint64(f.Line-line))
		if f.Line != line {
			column = 0
		}
		e.uint(columnColumn, uint64(f.Column-column))
		line, column = f.Line, f.Column
		e.text(columnMinified, f.Minified)
		e.text(columnName, f.Name)
		e.int(columnSource, int64(f.Source)-source)
		source = int64(f.Source)
		e.int(columnSourceLine, int64(f.SourceLine)-sourceLines[source+1])
		sourceLines[source+1] = int64(f.SourceLine)
		e.uint(columnSourceColumn, uint64(f.SourceColumn))
		e.columns[columnKey] = binary.LittleEndian.AppendUint64(e.columns[columnKey], f.Key)
		e.columns[columnText] = binary.LittleEndian.AppendUint32(e.columns[columnText], f.Text)
		e.columns[columnWay] = append(e.columns[columnWay], byte(f.Way))
	}
	b = binary.AppendUvarint(b, uint64(len(t.Functions)))
	b = binary.AppendUvarint(b, uint64(len(e.number)))
	b = append(b, e.texts...)
	for _, c := range e.columns {
		b = append(binary.AppendUvarint(b, uint64(len(c))), c...)
	}
	return b
}
