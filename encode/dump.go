package encode

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"

	fieldtriev1 "github.com/fieldtrie/fieldtrie/proto/fieldtrie/v1"
)

// Dump writes a document in the binary format as text, so that people can read it and a
// change of the format shows as a readable diff. A line is
//
//	offset: bytes  # meaning
//
// with at most 16 bytes; a line without a meaning continues the line before it. Columns
// are shown as rows [first-last] with their numbers, zigzag decoded, and texts cut by
// row. Dump needs only the schema, so it also accepts documents that [DecodeBinary]
// rejects. Where data is not a sequence of fields, Dump stops with an error that names
// the byte; everything before it is written.
func Dump(w io.Writer, data []byte) error {
	d := dumper{w: bufio.NewWriter(w), data: data}
	schema := (&fieldtriev1.Document{}).ProtoReflect().Descriptor()
	if IsBinary(data) && data[4] == SetVersion {
		schema = (&fieldtriev1.Set{}).ProtoReflect().Descriptor()
	}
	err := d.message(schema, 0, len(data), 0)
	return input.First(err, d.w.Flush())
}

// dumper writes ranges of a document, given by offsets.
type dumper struct {
	w    *bufio.Writer
	data []byte
}

const (
	dumpBytes   = 16 // of a line
	dumpNumbers = 12 // of a line
)

// line writes the bytes [from, to) with their meaning.
func (d *dumper) line(from, to, depth int, format string, args ...any) {
	meaning := "# " + strings.Repeat("  ", depth) + fmt.Sprintf(format, args...)
	for {
		end := min(from+dumpBytes, to)
		text := fmt.Sprintf("%5d: %-*s  %s", from, 3*dumpBytes-1, fmt.Sprintf("% x", d.data[from:end]), meaning)
		d.w.WriteString(strings.TrimRight(text, " "))
		d.w.WriteByte('\n')
		if from, meaning = end, ""; from == to {
			return
		}
	}
}

// message writes the fields of message m in [from, to).
func (d *dumper) message(m protoreflect.MessageDescriptor, from, to, depth int) error {
	for at := from; at < to; {
		number, typ, n := protowire.ConsumeTag(d.data[at:to])
		if n < 0 {
			return input.Refuse(input.Malformed, "", "at byte %d: %w", at, protowire.ParseError(n))
		}
		size := protowire.ConsumeFieldValue(number, typ, d.data[at+n:to])
		if size < 0 {
			return input.Refuse(input.Malformed, "", "at byte %d: field %d: %w", at, number, protowire.ParseError(size))
		}
		f := m.Fields().ByNumber(number)
		end := at + n + size
		if f == nil {
			d.line(at, end, depth, "unknown field %d, %s", number, wireValue(typ, d.data[at+n:end]))
		} else if err := d.field(f, typ, at, at+n, end, depth); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// field writes a known field with its tag at tag and its value at value.
func (d *dumper) field(f protoreflect.FieldDescriptor, typ protowire.Type, tag, value, end, depth int) error {
	raw := d.data[value:end]
	if typ == protowire.BytesType {
		_, n := protowire.ConsumeVarint(raw) // the length
		text := value + n
		switch kind := f.Kind(); {
		case kind == protoreflect.MessageKind:
			d.line(tag, text, depth, "%s, %d bytes", f.Name(), end-text)
			return d.message(f.Message(), text, end, depth+1)
		case f.Number() == colResourceText && depth == 0:
			d.rows(f, tag, text, end, d.column(colResourceLength))
			return nil
		case f.Number() == colNameText && depth == 0:
			d.rows(f, tag, text, end, d.column(colNameLength))
			return nil
		case kind == protoreflect.StringKind, kind == protoreflect.BytesKind:
			d.line(tag, end, depth, "%s = %q", f.Name(), d.data[text:end])
			return nil
		case f.IsList():
			return d.packed(f, tag, text, end, depth)
		}
	}
	if typ != wireType(f.Kind()) {
		d.line(tag, end, depth, "%s: wire type %d does not fit, %s", f.Name(), typ, wireValue(typ, raw))
		return nil
	}
	switch typ {
	case protowire.Fixed32Type:
		v, _ := protowire.ConsumeFixed32(raw)
		if string(raw[:3]) == magicLetter {
			d.line(tag, end, depth, "%s = %q, version %d", f.Name(), magicLetter, raw[3])
		} else {
			d.line(tag, end, depth, "%s = %#08x", f.Name(), v)
		}
	case protowire.Fixed64Type:
		v, _ := protowire.ConsumeFixed64(raw)
		d.line(tag, end, depth, "%s = %v", f.Name(), math.Float64frombits(v))
	default:
		v, _ := protowire.ConsumeVarint(raw)
		d.line(tag, end, depth, "%s = %s", f.Name(), number(f, v))
	}
	return nil
}

// rows writes a text that contains the texts of all rows of a table.
func (d *dumper) rows(f protoreflect.FieldDescriptor, tag, text, end int, lengths []uint64) {
	sum := uint64(0)
	for _, n := range lengths {
		sum += min(n, uint64(len(d.data))+1)
	}
	if sum != uint64(end-text) {
		d.line(tag, text, 0, "%s, %d bytes, which the lengths of the rows do not fit", f.Name(), end-text)
		if text < end {
			d.line(text, end, 1, "%q", d.data[text:end])
		}
		return
	}
	d.line(tag, text, 0, "%s, %d bytes, %d rows", f.Name(), end-text, len(lengths))
	for i, n := range lengths {
		d.line(text, text+int(n), 1, "[%d] %q", i, d.data[text:text+int(n)])
		text += int(n)
	}
}

// packed writes the varints in [from, end).
func (d *dumper) packed(f protoreflect.FieldDescriptor, tag, from, end, depth int) error {
	count := 0
	for _, b := range d.data[from:end] {
		if b < 0x80 {
			count++ // the last byte of a number
		}
	}
	d.line(tag, from, depth, "%s, %d rows", f.Name(), count)
	for row := 0; from < end; {
		var values []string
		at := from
		for at < end && len(values) < dumpNumbers {
			v, n := protowire.ConsumeVarint(d.data[at:end])
			if n < 0 {
				return input.Refuse(input.Malformed, string(f.Name()), "at byte %d: %w", at, protowire.ParseError(n))
			}
			if at+n-from > dumpBytes {
				break
			}
			values = append(values, number(f, v))
			at += n
		}
		d.line(from, at, depth+1, "[%d-%d] %s", row, row+len(values)-1, strings.Join(values, " "))
		from, row = at, row+len(values)
	}
	return nil
}

// column returns the numbers of a column of the document, as far as they can be read.
func (d *dumper) column(field protowire.Number) []uint64 {
	var out []uint64
	for rest := d.data; len(rest) > 0; {
		number, typ, n := protowire.ConsumeField(rest)
		if n < 0 {
			return out
		}
		if number == field && typ == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(rest)
			v, _ := protowire.ConsumeBytes(rest[tag:])
			for len(v) > 0 {
				x, size := protowire.ConsumeVarint(v)
				if size < 0 {
					return out
				}
				out, v = append(out, x), v[size:]
			}
		}
		rest = rest[n:]
	}
	return out
}

// number returns v interpreted as the kind of f.
func number(f protoreflect.FieldDescriptor, v uint64) string {
	switch f.Kind() {
	case protoreflect.Sint32Kind, protoreflect.Sint64Kind:
		return fmt.Sprint(unzigzag(v))
	case protoreflect.Int64Kind:
		return fmt.Sprint(int64(v))
	case protoreflect.EnumKind:
		if e := f.Enum().Values().ByNumber(protoreflect.EnumNumber(min(v, math.MaxInt32))); e != nil {
			return strings.ToLower(strings.TrimPrefix(string(e.Name()), "MARKER_"))
		}
	}
	return fmt.Sprint(v)
}

// wireType returns the wire type of numbers of this kind.
func wireType(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.Fixed32Kind:
		return protowire.Fixed32Type
	case protoreflect.DoubleKind:
		return protowire.Fixed64Type
	}
	return protowire.VarintType
}

// wireValue describes a value of which only the wire type is known.
func wireValue(typ protowire.Type, value []byte) string {
	switch typ {
	case protowire.VarintType:
		v, _ := protowire.ConsumeVarint(value)
		return fmt.Sprintf("number %d", v)
	case protowire.BytesType:
		v, _ := protowire.ConsumeBytes(value)
		return fmt.Sprintf("%d bytes %q", len(v), v)
	}
	return fmt.Sprintf("wire type %d, %d bytes", typ, len(value))
}
