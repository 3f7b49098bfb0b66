package encode

import (
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// FormatVersion is the version of the binary format that traces and profiles have, and
// SetVersion that of sets. The specification is proto/fieldtrie/v1/fieldtrie.proto.
const (
	FormatVersion = 1
	SetVersion    = 2
)

// The first bytes of every document: the tag of field 1, "FTR" and the version.
const (
	magicTag    = 0x0d
	magicLetter = "FTR"
	magicNumber = 'R'<<16 | 'T'<<8 | 'F'
)

// IsBinary reports whether data begins like a document in the binary format, of any
// version.
func IsBinary(data []byte) bool {
	return len(data) >= 5 && data[0] == magicTag && string(data[1:4]) == magicLetter
}

// DecodeBinary decodes a document in the binary format. The result is valid and shares no memory
// with data. Unknown fields are kept in Unknown, and [EncodeTrace] and [EncodeProfile] write them
// again.
func DecodeBinary(data []byte, lim Limits) (Document, error) {
	var d BinaryDecoder
	doc, err := d.Decode(data, lim)
	if doc.Trace != nil {
		t := d.trace // a copy, so that it does not keep the decoder and data alive
		doc.Trace = &t
	}
	return doc, err
}

// BinaryDecoder decodes many documents and reuses its memory. The zero value is ready to use. It is
// not safe for concurrent use.
type BinaryDecoder struct {
	columns columns
	trace   trie.Trace
	urls    []byte // scratch for the resources of one document
	urlEnds []int
}

// Decode is like [DecodeBinary], but a trace is valid only until the next call.
func (d *BinaryDecoder) Decode(data []byte, lim Limits) (Document, error) {
	r, err := d.begin(data, FormatVersion, lim)
	if err != nil {
		return Document{}, err
	}
	if d.columns.single(colSampleUnit) == 0 {
		p, err := r.profile()
		return Document{Profile: p}, err
	}
	if err := r.readTrace(&d.trace); err != nil {
		return Document{}, err
	}
	return Document{Trace: &d.trace}, nil
}

// begin reads the columns of a document of a version.
func (d *BinaryDecoder) begin(data []byte, version byte, lim Limits) (*documentReader, error) {
	if !IsBinary(data) {
		return nil, input.Refuse(input.Malformed, "", "not in the binary format: it must begin with 0d 46 54 52")
	}
	switch v := data[4]; {
	case v != FormatVersion && v != SetVersion:
		return nil, input.Refuse(input.Malformed, "magic",
			"format version %d; this program reads versions %d and %d, so update it", v, FormatVersion, SetVersion)
	case v != version && v == SetVersion:
		return nil, input.Refuse(input.Malformed, "magic",
			"format version %d is a set of traces, as a store has them; this must be one trace or profile", v)
	case v != version:
		return nil, input.Refuse(input.Malformed, "magic",
			"format version %d is a trace or profile; this must be a set of traces", v)
	}
	if err := d.columns.parse(data, version == SetVersion); err != nil {
		return nil, err
	}
	if m := d.columns.col(colMagic); len(m) != 1 {
		return nil, input.Refuse(input.Malformed, "magic", "stands %d times", len(m))
	}
	return &documentReader{BinaryDecoder: d, columns: &d.columns, lim: lim.WithDefaults()}, nil
}

// documentReader turns the columns of one document into a trie.
type documentReader struct {
	*BinaryDecoder
	*columns
	lim   Limits
	cells int // memory for weights of the groups so far
}

// cutText takes the first n bytes of text, and checks that they end at a character.
func (r *documentReader) cutText(field string, row int, text []byte, n uint64) (own, rest []byte, err error) {
	switch {
	case n > uint64(len(text)):
		return nil, nil, input.Refuse(input.Invalid, field, "row %d: %d bytes, but the text has %d left", row,
			n, len(text))
	case n > uint64(r.lim.StringBytes):
		return nil, nil, input.Refuse(input.TooLarge, field, "row %d: %d bytes, the most is %d", row, n,
			r.lim.StringBytes)
	case int(n) < len(text) && !utf8.RuneStart(text[n]):
		return nil, nil, input.Refuse(input.Invalid, field, "row %d: ends inside a UTF-8 sequence", row)
	}
	return text[:n], text[n:], nil
}

// sameRows rejects columns of one table that differ in length.
func (r *documentReader) sameRows(fields ...int) error {
	rows := len(r.col(fields[0]))
	for _, f := range fields[1:] {
		if n := len(r.col(f)); n != rows {
			return input.Refuse(input.Invalid, r.name(f), "%d rows, %s has %d", n, r.name(fields[0]), rows)
		}
	}
	return nil
}
