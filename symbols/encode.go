package symbols

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// A table is magic, the version, and a zstd frame with a checksum. Numbers are unsigned varints; a
// text is its length and bytes, in UTF-8. The content of the frame is:
//
//   - the SHA-256 of the script and of the map, 32 bytes each; the second may be zero
//   - the debug ID, a text
//   - the number of sources, and for each its name, the version of its package, and a byte: 1 if
//     it is in the ignoreList, else 0
//   - the number of functions
//   - the number of texts, and each at its first use
//   - thirteen columns in the order of the constants below: the length in bytes, and a value for
//     each function
//
// Functions are sorted by line and column. Readers check each length against the remaining data
// before they allocate memory, 108 bytes for a function. testdata/table.txt shows a small table.
const (
	magic   = "FTSY"
	version = 1
	// MaxTable is the maximum size of an encoded table, in bytes.
	MaxTable = 16 << 20
	// maxBody is the maximum size of the uncompressed content, in bytes. A function takes 51 bytes.
	maxBody      = 32 << 20
	maxFunctions = 1_000_000
	maxSources   = 100_000
	// maxName is the maximum length of a text, in bytes. Longer texts are truncated.
	maxName = 8 << 10
)

// Columns of functions, in the order of the format.
const (
	columnLine         = iota // difference to the function before
	columnColumn              // the same; the column begins at 0 on each line
	columnMinified            // 0 for the next of the texts, else the distance back in the texts
	columnName                // the same
	columnSource              // zigzag difference to the function before, at first to 0; -1 is none
	columnSourceLine          // zigzag difference to the one before in that source, at first to 0
	columnSourceColumn        // a number
	columnKey                 // 8 bytes, little-endian; 0 if not known
	columnText                // 4 bytes, little-endian: see Function.Text
	columnWay                 // 1 byte, a Way
	columnOrdinal             // number among the functions with its path, a part of the key
	columnOwn                 // 4 bytes, little-endian: see Function.Own; 0 if not known
	columnCode                // 4 bytes, little-endian: see Function.Code; 0 if not known
	columns
)

// Encode writes t. Equal tables have equal bytes. Encode truncates texts over 8 KiB and replaces
// invalid UTF-8. It returns an error for a table that [Decode] would reject.
func Encode(w io.Writer, t *Table) error {
	if err := t.Validate(); err != nil {
		return fmt.Errorf("encode table: %w", err)
	}
	body := appendTable(nil, t)
	if len(body) > maxBody {
		return fmt.Errorf("encode table: it takes %d bytes uncompressed, the most is %d", len(body), maxBody)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(true))
	if err != nil {
		return fmt.Errorf("compress table: %w", err)
	}
	defer func() { _ = z.Close() }()
	out := z.EncodeAll(body, append([]byte(magic), version))
	if len(out) > MaxTable {
		return fmt.Errorf("encode table: it takes %d bytes, the most is %d", len(out), MaxTable)
	}
	if _, err := w.Write(out); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// Validate returns an error if t is not a valid table: if functions are not sorted or share a
// place, or numbers are meaningless or out of range.
func (t *Table) Validate() error {
	switch {
	case len(t.Sources) > maxSources:
		return fmt.Errorf("%d sources, the most is %d", len(t.Sources), maxSources)
	case len(t.Functions) > maxFunctions:
		return fmt.Errorf("%d functions, the most is %d", len(t.Functions), maxFunctions)
	}
	for i := range t.Functions {
		f := &t.Functions[i]
		var err error
		switch {
		case f.Line == 0 && f.Column == 0:
			err = errors.New("it has no place")
		case i > 0 && place(f.Line, f.Column) <= place(t.Functions[i-1].Line, t.Functions[i-1].Column):
			err = errors.New("it does not begin after the one before")
		case f.Source < -1 || int(f.Source) >= len(t.Sources):
			err = errors.New("its source is not in the list")
		case f.Way >= EndWays:
			err = fmt.Errorf("way %d is not known", uint8(f.Way))
		}
		if err != nil {
			return fmt.Errorf("function %d: %w", i, err)
		}
	}
	return nil
}

// tableEncoder encodes functions. A text is written at its first use.
type tableEncoder struct {
	columns [columns][]byte
	texts   []byte
	number  map[string]uint64
}

// text appends a text to a column: 0 for the next text of the list, otherwise its distance from
// there.
func (e *tableEncoder) text(column int, text string) {
	text = fitting(text)
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

// fitting returns a text that can be encoded.
func fitting(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxName {
		return text
	}
	n := maxName
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// appendTable appends the uncompressed content of a table.
func appendTable(b []byte, t *Table) []byte {
	b = append(append(b, t.Script[:]...), t.Map[:]...)
	b = appendText(b, fitting(t.DebugID))
	b = binary.AppendUvarint(b, uint64(len(t.Sources)))
	for _, s := range t.Sources {
		ignored := byte(0)
		if s.Ignored {
			ignored = 1
		}
		b = append(appendText(appendText(b, fitting(s.Name)), fitting(s.Version)), ignored)
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
		e.uint(columnOrdinal, uint64(f.Ordinal))
		e.columns[columnOwn] = binary.LittleEndian.AppendUint32(e.columns[columnOwn], f.Own)
		e.columns[columnCode] = binary.LittleEndian.AppendUint32(e.columns[columnCode], f.Code)
	}
	b = binary.AppendUvarint(b, uint64(len(t.Functions)))
	b = binary.AppendUvarint(b, uint64(len(e.number)))
	b = append(b, e.texts...)
	for _, c := range e.columns {
		b = append(binary.AppendUvarint(b, uint64(len(c))), c...)
	}
	return b
}
