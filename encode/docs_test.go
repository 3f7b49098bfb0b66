package encode

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"

	fieldtriev1 "github.com/fieldtrie/fieldtrie/proto/fieldtrie/v1"
)

// TestFormatDocument checks that docs/format.md has the fields of the schema and a correct example.
func TestFormatDocument(t *testing.T) {
	data, err := os.ReadFile("../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if example := string(dump(t, encodeTrace(t, fixture.MinimalTrace()))); !strings.Contains(text, example) {
		t.Errorf("the worked example is not\n%s", example)
	}
	for _, m := range []protoreflect.ProtoMessage{&fieldtriev1.Document{}, &fieldtriev1.Context{}, &fieldtriev1.Cost{},
		&fieldtriev1.Set{}} {
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
