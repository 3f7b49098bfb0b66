package layout

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/trie"
)

// The first byte of a block of traces.
const (
	formRows   = iota // rows follow, one by one
	formPacked        // the length of the rows follows, then the rows, then their traces as a set of package encode
)

// Flags of a row in a packed block.
const (
	rowHasPayload = 1 << iota // the row has a payload of its own, because the set cannot represent it
	rowHasKey                 // the key of the row differs from the key in the context of its trace
)

// encodePacked returns a packed block with the rows of a page.
func encodePacked(rows []Row) ([]byte, error) {
	var d encode.BinaryDecoder
	var set trie.SetBuilder
	var meta []byte
	first := int64(math.MaxInt64)
	for i := range rows {
		first = min(first, rows[i].Received)
	}
	meta = binary.AppendUvarint(meta, uint64(first))
	for i := range rows {
		r := &rows[i]
		flags := byte(rowHasPayload)
		t, err := r.Decode(&d)
		if r.Trace != nil {
			t = r.Own()
		}
		if err == nil && len(t.Unknown)+len(t.Context.Unknown) == 0 {
			if flags = 0; keyOf(r.ID) != keyOfTrace(t) {
				flags = rowHasKey
			}
			set.Add(t)
		}
		meta = append(meta, flags)
		meta = binary.AppendUvarint(meta, uint64(r.Received-first))
		if flags != 0 {
			meta = appendKey(meta, r.ID)
		}
		meta = appendPages(meta, r.Others)
		if flags == rowHasPayload {
			meta = appendText(meta, string(r.Payload))
		}
	}
	traces, err := encode.EncodeSet(set.Set())
	if err != nil {
		return nil, fmt.Errorf("encode a set: %w", err)
	}
	out := binary.AppendUvarint([]byte{formPacked}, uint64(len(meta)))
	return append(append(out, meta...), traces...), nil
}

func keyOfTrace(t *trie.Trace) (k key) {
	copy(k.view[:], t.Context.ViewID)
	k.chunk = t.Context.Chunk
	return k
}

// rowReader reads the rows of a block of traces.
type rowReader struct {
	decoder
	page  string
	first int64     // of a packed block: when its first row was received (µs)
	set   *trie.Set // nil if the rows have their payloads
	at    int       // index of the next trace in the set
}

// readRows returns a reader for a block of traces of a page.
func readRows(data []byte, page string) (*rowReader, error) {
	head := newDecoder(data)
	form := head.Byte()
	switch {
	case form == formRows:
		return &rowReader{decoder: head, page: page}, head.Err()
	case form != formPacked:
		return nil, fmt.Errorf("%w: unknown form %d of a block of traces", block.ErrDamaged, form)
	}
	r := &rowReader{decoder: newDecoder(head.Bytes(head.Length(1))), page: page}
	r.first = int64(r.AtMost(math.MaxInt64))
	if err := head.Err(); err != nil {
		return nil, err
	}
	var d encode.BinaryDecoder
	set, err := d.DecodeSet(head.Rest(), encode.FileLimits())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", block.ErrDamaged, err)
	}
	r.set = set
	return r, r.Err()
}

// next reads the next row. The caller must check with end that there is one.
func (r *rowReader) next() Row {
	if r.set == nil {
		return r.row(r.page, false)
	}
	out := Row{Page: r.page}
	flags := r.Byte()
	out.Received = r.first + int64(r.AtMost(uint64(math.MaxInt64-r.first)))
	if flags&(rowHasKey|rowHasPayload) != 0 {
		k := r.key()
		out.ID = store.ID{View: k.view, Chunk: k.chunk}
	}
	out.Others = r.pages()
	if flags&rowHasPayload != 0 {
		out.Payload = r.Bytes(r.Length(1))
		return out
	}
	if r.at == len(r.set.Traces) {
		r.Fail("a row has no trace")
		return out
	}
	out.Trace = &r.set.Traces[r.at]
	if r.at++; flags == 0 {
		k := keyOfTrace(out.Trace)
		out.ID = store.ID{View: k.view, Chunk: k.chunk}
	}
	out.set, out.inSet = r.set, r.at-1
	return out
}

// end reports whether all rows have been read. It fails if the set has more traces than there are
// rows.
func (r *rowReader) end() bool {
	if r.Left() > 0 {
		return false
	}
	if r.set != nil && r.at < len(r.set.Traces) {
		r.Fail("%d traces have no row", len(r.set.Traces)-r.at)
	}
	return true
}

// Decode returns the trace of a row. The trace is valid until the next use of d, and must not be
// changed.
func (r *Row) Decode(d *encode.BinaryDecoder) (*trie.Trace, error) {
	if r.Trace != nil {
		return r.Trace, nil
	}
	doc, err := d.Decode(r.Payload, encode.FileLimits())
	if err == nil && doc.Trace == nil {
		err = fmt.Errorf("the payload of trace %s is a profile, not a trace", r.ID)
	}
	return doc.Trace, err
}

// Own returns the trace of a packed row with its own tables, or nil if the row is not packed.
func (r *Row) Own() *trie.Trace {
	if r.Trace == nil {
		return nil
	}
	return r.set.Trace(r.inSet)
}

// Document returns the trace of a row in the binary format.
func (r *Row) Document() ([]byte, error) {
	if t := r.Own(); t != nil {
		return encode.EncodeTrace(t)
	}
	return r.Payload, nil
}
