package symbols

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldenTable has a value in each field, and each kind of step.
func goldenTable() *Table {
	t := &Table{DebugID: "85314830-023f-4cf1-a267-535f4e37bb17",
		Sources: []Source{{Name: "src/table/Row.tsx"}, {Name: "node_modules/react-dom/index.js", Version: "19.2.0",
			Ignored: true}}}
	for i := range t.Script {
		t.Script[i], t.Map[i] = byte(i), byte(0xff-i)
	}
	t.Functions = []Function{
		{Line: 1, Column: 1, Minified: "", Name: "(top level)", Source: -1, Way: Kept},
		{Line: 1, Column: 300, Minified: "a", Name: "renderRow", Source: 0, SourceLine: 44, SourceColumn: 12,
			Key: 0x0102030405060708, Text: 0x0a0b0c0d, Own: 0x0e0f1011, Code: 0x12131415, Way: Start},
		{Line: 1, Column: 512, Minified: "b", Name: "renderRow/useEffect()", Source: 0, SourceLine: 46,
			SourceColumn: 13, Key: 0xfedcba9876543210, Ordinal: 300, Text: 7, Own: 8, Way: Body},
		{Line: 3, Column: 20, Minified: "a", Name: "commitRoot", Source: 1, SourceLine: 12906, SourceColumn: 22, Key: 3,
			Text: 4, Way: Moved},
		{Line: 3, Column: 900, Minified: "é", Name: "Row.é", Source: 0, SourceLine: 5, SourceColumn: 2, Key: 5, Text: 6,
			Way: Named},
	}
	return t
}

// Tables of a released version stay readable, and their content is unchanged. Another compressor
// may write other bytes.
func TestGolden(t *testing.T) {
	want := goldenTable()
	path, text := filepath.Join("testdata", "v1.table"), filepath.Join("testdata", "table.txt")
	body := appendTable(nil, want)
	if *update {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			writeGolden(t, path, encoded(t, want))
		}
		writeGolden(t, text, []byte(dump(body)))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(bytes.NewReader(data))
	if err != nil || !reflect.DeepEqual(bare(got), bare(want)) {
		t.Errorf("%v: got %+v\nnot %+v", err, got, want)
	}
	golden, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	if dump(body) != string(golden) {
		t.Errorf("got\n%s\nif the change is intended, increase the version and run with -update", dump(body))
	}
}

func writeGolden(t *testing.T, path string, data []byte) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// dumper writes the uncompressed content of a table as text, so that a change of the format is a
// readable difference. A line has the form
//
//	offset: bytes  # meaning
//
// with at most 16 bytes. A line without a meaning continues the previous line.
type dumper struct {
	strings.Builder
	data []byte
	at   int
}

// dump returns the text of a valid table.
func dump(data []byte) string {
	d := &dumper{data: data}
	d.take(32, "SHA-256 of the script")
	d.take(32, "SHA-256 of the map")
	d.text("debug ID")
	for range d.number("%d sources") {
		d.text("name")
		d.text("version")
		d.take(1, "ignored")
	}
	functions := int(d.number("%d functions"))
	for range d.number("%d texts") {
		d.text("text")
	}
	for i, name := range [columns]string{"line", "column", "minified name", "name", "source", "line in the source",
		"column in the source", "key", "hash of the text", "way", "ordinal", "hash of the own text",
		"hash of the code"} {
		fmt.Fprintf(d, "# %s\n", name)
		n := d.number("%d bytes")
		switch i {
		case columnKey, columnText, columnWay, columnOwn, columnCode:
			for range functions {
				d.take(int(n)/functions, "")
			}
		default:
			for range functions {
				d.step(i == columnSource || i == columnSourceLine)
			}
		}
	}
	fmt.Fprintf(d, "# %d bytes are left\n", len(data)-d.at)
	return d.String()
}

// take writes the next n bytes.
func (d *dumper) take(n int, format string, args ...any) {
	meaning := "  # " + fmt.Sprintf(format, args...)
	if format == "" {
		meaning = ""
	}
	for end := d.at + n; d.at < end; meaning = "" {
		to := min(d.at+16, end)
		line := fmt.Sprintf("%5d: %-47s%s", d.at, fmt.Sprintf("% x", d.data[d.at:to]), meaning)
		d.WriteString(strings.TrimRight(line, " ") + "\n")
		d.at = to
	}
}

func (d *dumper) number(format string) uint64 {
	v, n := binary.Uvarint(d.data[d.at:])
	d.take(n, format, v)
	return v
}

func (d *dumper) step(signed bool) {
	v, n := binary.Uvarint(d.data[d.at:])
	if signed {
		w, n := binary.Varint(d.data[d.at:])
		d.take(n, "%+d", w)
		return
	}
	d.take(n, "%d", v)
}

func (d *dumper) text(what string) {
	n := int(d.number(what + " of %d bytes"))
	if n > 0 {
		d.take(n, "%q", d.data[d.at:d.at+n])
	}
}
