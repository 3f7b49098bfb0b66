package encode

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	fieldtriev1 "github.com/fieldtrie/fieldtrie/proto/fieldtrie/v1"
)

// TestFormatDocument: docs/format.md has the fields of the schema and a true example.
func TestFormatDocument(t *testing.T) {
	data, err := os.ReadFile("../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if example := string(dump(t, encodeTrace(t, minimalTrace()))); !strings.Contains(text, example) {
		t.Errorf("the worked example is not\n%s", example)
	}
	for _, m := range []protoreflect.ProtoMessage{&fieldtriev1.Document{}, &fieldtriev1.Context{}, &fieldtriev1.Cost{}} {
		fields := m.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			f := fields.Get(i)
			typ := wireType(f.Kind())
			if f.IsList() {
				typ = protowire.BytesType
			}
			row := fmt.Sprintf("| %d | `%s` | `% x` |", f.Number(), f.Name(), protowire.AppendTag(nil, f.Number(), typ))
			if !strings.Contains(text, row) {
				t.Errorf("no row %s", row)
			}
		}
	}
}

// TestFormatsDocument: docs/formats.md has a row for each format, which says what it can
// do and what it loses.
func TestFormatsDocument(t *testing.T) {
	name := "../docs/formats.md"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, f := range Formats() {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", f.Name, f.Abilities(), f.Loses)
	}
	if strings.Contains(string(data), table.String()) {
		return
	}
	t.Errorf("%s has not the table\n%s", name, table.String())
}
