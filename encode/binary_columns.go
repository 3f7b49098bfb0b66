package encode

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"

	fieldtriev1 "github.com/fieldtrie/fieldtrie/proto/fieldtrie/v1"
)

// Field numbers of the Document message. TestColumnNumbers compares them with the schema.
const (
	colMagic           = 1
	colContext         = 2
	colResourceText    = 3
	colResourceShared  = 4
	colResourceLength  = 5
	colNameText        = 6
	colNameLength      = 7
	colFrameName       = 8
	colFrameCount      = 9
	colFramePosition   = 10
	colChainParent     = 11
	colChainLength     = 12
	colNodeFrame       = 13
	colSampleStart     = 14
	colSampleUnit      = 15
	colSampleTime      = 16
	colSampleRun       = 17
	colSampleRunLength = 18
	colMarker          = 19
	colMarkerRunLength = 20
	colGroupRows       = 21
	colGroupLabelCount = 22
	colGroupLabelKey   = 23
	colGroupLabelValue = 24
	colGroupViews      = 25
	colGroupTraces     = 26
	colGroupStackless  = 27
	colGroupUnsampled  = 28
	colGroupTruncated  = 29
	colWeightNode      = 30
	colWeightSelf      = 31
	colWeightSamples   = 32
	colWeightReach     = 33
	colViews           = 34
	colTraces          = 35
	colGroupIdle       = 36
	colCost            = 37
	colEnd             = 38
)

// Field numbers of the Set message. Those up to colMarkerRunLength are as in Document.
const (
	setTraceContext = 38
	setTraceSamples = 39
	setTraceNodes   = 40
	setTraceNode    = 41
	setViewID       = 42
	setViewIDLength = 43
	setChunk        = 44
	setTimeOrigin   = 45
	setCost         = 46
	setTraceSpans   = 47
	setSpan         = 48
	setSpanStart    = 49
	setSpanLength   = 50
	setSpanKind     = 51
	setSpanName     = 52
	setEnd          = 53
)

// Field numbers of the Cost message.
const (
	costStart   = 1
	costStop    = 2
	costEncode  = 3
	costBytes   = 4
	costDropped = 5
	costEnd     = 6
)

// columns is a Document as on the wire, with undecoded numbers. It replaces the generated
// code and allocates nothing for each document: reading traces is most of the work of a
// query, and this takes half the time and a tenth of the memory. FuzzBinary tests it
// against the generated code.
type columns struct {
	set     bool             // a Set instead of a Document
	numbers [setEnd][]uint64 // by field number; a single number is a column of one row
	// The texts are parts of the document's bytes.
	resourceText, nameText []byte
	labelKeys, labelValues [][]byte
	contexts, spanNames    [][]byte // of a Set
	viewIDs                []byte   // of a Set
	unknown                []byte   // fields with other numbers
	context                fieldtriev1.Context
	hasContext             bool
	cost                   [costEnd]uint64 // by field number
	hasCost                bool
}

// col returns a column; see the constants.
func (c *columns) col(field int) []uint64 { return c.numbers[field] }

// single returns a field that is not repeated: the last value written.
func (c *columns) single(field int) uint64 {
	if n := c.numbers[field]; len(n) > 0 {
		return n[len(n)-1]
	}
	return 0
}

func (c *columns) reset() {
	for i := range c.numbers {
		c.numbers[i] = c.numbers[i][:0]
	}
	c.resourceText, c.nameText, c.viewIDs, c.unknown = nil, nil, nil, nil
	c.contexts, c.spanNames = c.contexts[:0], c.spanNames[:0]
	c.labelKeys, c.labelValues = c.labelKeys[:0], c.labelValues[:0]
	c.hasContext = false
	proto.Reset(&c.context)
	c.cost, c.hasCost = [costEnd]uint64{}, false
}

// parse splits a document, or a set, into columns. They are valid until data changes or the next
// call. It needs at most 8 times the length of data in memory.
func (c *columns) parse(data []byte, set bool) error {
	c.reset()
	c.set = set
	for rest := data; len(rest) > 0; {
		number, typ, n := protowire.ConsumeTag(rest)
		if n >= 0 && number > protowire.MaxValidNumber {
			// No protobuf library can read it, so it must not be written back.
			return input.Refuse(input.Malformed, "", "at byte %d: field number %d is out of range",
				len(data)-len(rest), number)
		}
		if n < 0 {
			return input.Refuse(input.Malformed, "", "at byte %d: %w", len(data)-len(rest), protowire.ParseError(n))
		}
		size := protowire.ConsumeFieldValue(number, typ, rest[n:])
		if size < 0 {
			return input.Refuse(input.Malformed, c.name(int(number)), "at byte %d: %w", len(data)-len(rest),
				protowire.ParseError(size))
		}
		if err := c.field(number, typ, rest[:n+size], rest[n:n+size]); err != nil {
			return err
		}
		rest = rest[n+size:]
	}
	return nil
}

// name returns the name of a field of the Document or Set.
func (c *columns) name(field int) string {
	n := protowire.Number(field)
	if c.set {
		return nameOf(&fieldtriev1.Set{}, n)
	}
	return nameOf(&fieldtriev1.Document{}, n)
}

func nameOf(m proto.Message, n protowire.Number) string {
	if f := m.ProtoReflect().Descriptor().Fields().ByNumber(n); f != nil {
		return string(f.Name())
	}
	return ""
}

// costName names a field of Cost.
func costName(n protowire.Number) string {
	return "cost." + nameOf(&fieldtriev1.Cost{}, n)
}

// field takes one field: whole is the tag and the value, value only the value.
func (c *columns) field(number protowire.Number, typ protowire.Type, whole, value []byte) error {
	if !c.knows(number) {
		c.unknown = append(c.unknown, whole...)
		return nil
	}
	switch number {
	case colMagic:
		if typ == protowire.Fixed32Type {
			v, _ := protowire.ConsumeFixed32(value)
			c.numbers[colMagic] = append(c.numbers[colMagic], uint64(v))
			return nil
		}
	case colContext, colResourceText, colNameText, colGroupLabelKey, colGroupLabelValue, colCost, setViewID,
		setSpanName:
		if typ == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(value)
			return c.text(number, v)
		}
	default:
		switch typ {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(value)
			c.numbers[number] = append(c.numbers[number], v)
			return nil
		case protowire.BytesType:
			v, _ := protowire.ConsumeBytes(value)
			return c.packed(number, v)
		}
	}
	return input.Refuse(input.Malformed, c.name(int(number)), "wire type %d does not fit", typ)
}

// knows reports whether the Document or Set has a field.
func (c *columns) knows(number protowire.Number) bool {
	if !c.set {
		return number < colEnd
	}
	return number < setEnd && (number <= colMarkerRunLength || number >= setTraceContext)
}

func (c *columns) text(number protowire.Number, v []byte) error {
	switch number {
	case colContext:
		if c.set {
			c.contexts = append(c.contexts, v)
			return nil
		}
		c.hasContext = true
		if err := (proto.UnmarshalOptions{Merge: true}).Unmarshal(v, &c.context); err != nil {
			return &input.Error{Kind: input.Malformed, Field: "context", Err: err}
		}
	case colResourceText:
		c.resourceText = v
	case colNameText:
		c.nameText = v
	case colGroupLabelKey:
		c.labelKeys = append(c.labelKeys, v)
	case colGroupLabelValue:
		c.labelValues = append(c.labelValues, v)
	case colCost:
		return c.parseCost(v)
	case setViewID:
		c.viewIDs = v
	case setSpanName:
		c.spanNames = append(c.spanNames, v)
	}
	return nil
}

// parseCost takes the fields of a Cost message. The generated code would silently drop
// the bits of a number above 32.
func (c *columns) parseCost(v []byte) error {
	c.hasCost = true
	for len(v) > 0 {
		number, typ, n := protowire.ConsumeTag(v)
		if n >= 0 && number > protowire.MaxValidNumber {
			return input.Refuse(input.Malformed, "cost", "field number %d is out of range", number)
		}
		if n < 0 {
			return input.Refuse(input.Malformed, "cost", "%w", protowire.ParseError(n))
		}
		size := protowire.ConsumeFieldValue(number, typ, v[n:])
		if size < 0 {
			return input.Refuse(input.Malformed, "cost", "%w", protowire.ParseError(size))
		}
		if number < costEnd {
			if typ != protowire.VarintType {
				return input.Refuse(input.Malformed, costName(number), "wire type %d does not fit", typ)
			}
			c.cost[number], _ = protowire.ConsumeVarint(v[n:])
		}
		v = v[n+size:]
	}
	return nil
}

// packed appends the varints of v to a column.
func (c *columns) packed(number protowire.Number, v []byte) error {
	switch number {
	case colSampleStart, colSampleUnit, colViews, colTraces:
		if !c.set {
			return input.Refuse(input.Malformed, c.name(int(number)), "is a column, but must be one number")
		}
	}
	rows := len(c.numbers[number])
	column := slices.Grow(c.numbers[number], len(v))[:rows+len(v)] // a number takes a byte at least
	for i := 0; i < len(v); rows++ {
		// One byte, or two, for nearly every number.
		b := v[i]
		if b < 0x80 {
			column[rows] = uint64(b)
			i++
			continue
		}
		if i+1 < len(v) && v[i+1] < 0x80 {
			column[rows] = uint64(b&0x7f) | uint64(v[i+1])<<7
			i += 2
			continue
		}
		x, n := protowire.ConsumeVarint(v[i:])
		if n < 0 {
			return input.Refuse(input.Malformed, c.name(int(number)), "row %d: %w", rows, protowire.ParseError(n))
		}
		column[rows] = x
		i += n
	}
	c.numbers[number] = column[:rows]
	return nil
}
