package loadgen

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Tags of the binary format, see docs/format.md.
const (
	magicBytes    = 5
	tagContext    = 0x12
	tagPage       = 0x0a
	tagViewID     = 0x12
	tagChunk      = 0x18
	tagTimeOrigin = 0x20
)

// newChunk prepares t for sending. Its context must not contain fields that differ between
// views.
func newChunk(t *trie.Trace, f form) (chunk, error) {
	if f == formJSON {
		object, err := json.Marshal(newEnvelope(t))
		if err != nil {
			return chunk{}, err
		}
		return chunk{trace: t, form: f, tail: object[len("{"):]}, nil
	}
	doc, err := encode.EncodeTrace(t)
	if err != nil {
		return chunk{}, err
	}
	// The fields of a context are in the order of their numbers, and the omitted one has
	// the lowest.
	if len(doc) <= magicBytes || doc[magicBytes] != tagContext {
		return chunk{}, errors.New("the document does not begin with its context")
	}
	length, n := binary.Uvarint(doc[magicBytes+1:])
	at := magicBytes + 1 + n
	if n <= 0 || length > uint64(len(doc)-at) {
		return chunk{}, errors.New("the length of the context is wrong")
	}
	end := at + int(length)
	return chunk{trace: t, form: f, tail: doc[at:end], rest: doc[end:]}, nil
}

// stamp has the fields of a trace that differ between page views.
type stamp struct {
	page   string
	view   [16]byte
	number int   // of the chunk
	origin int64 // µs of the Unix epoch
}

// append appends trace c of view s to dst.
func (c *chunk) append(dst []byte, s stamp) []byte {
	if c.form == formJSON {
		return c.appendJSON(dst, s)
	}
	var room [128]byte
	head := appendText(room[:0], tagPage, s.page)
	head = appendText(head, tagViewID, string(s.view[:]))
	if s.number > 0 {
		head = binary.AppendUvarint(append(head, tagChunk), uint64(s.number))
	}
	head = binary.AppendUvarint(append(head, tagTimeOrigin), uint64(s.origin))
	dst = append(dst, 0x0d, 'F', 'T', 'R', encode.FormatVersion, tagContext)
	dst = binary.AppendUvarint(dst, uint64(len(head)+len(c.tail)))
	dst = append(append(dst, head...), c.tail...)
	return append(dst, c.rest...)
}

func appendText(dst []byte, tag byte, s string) []byte {
	return append(binary.AppendUvarint(append(dst, tag), uint64(len(s))), s...)
}

func (c *chunk) appendJSON(dst []byte, s stamp) []byte {
	dst = append(append(dst, `{"page":"`...), s.page...)
	dst = append(dst, `","viewId":"`...)
	dst = hex.AppendEncode(dst, s.view[:])
	dst = strconv.AppendInt(append(dst, `","chunk":`...), int64(s.number), 10)
	dst = strconv.AppendFloat(append(dst, `,"timeOrigin":`...), milliseconds(s.origin), 'f', 3, 64)
	return append(append(dst, ','), c.tail...)
}

// appendBody appends the body of a request with the given traces, and returns its content
// type.
func appendBody(dst []byte, f form, traces []delivery, scratch *[]byte) ([]byte, string) {
	if len(traces) == 1 {
		return traces[0].append(dst), string(f)
	}
	for _, d := range traces {
		if f == formJSON {
			dst = append(d.append(dst), '\n')
			continue
		}
		*scratch = d.append((*scratch)[:0])
		dst = append(binary.AppendUvarint(dst, uint64(len(*scratch))), *scratch...)
	}
	if f == formJSON {
		return dst, "application/x-ndjson"
	}
	return dst, string(f)
}
