package collect

import (
	"errors"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fieldtrie/fieldtrie/encode"
)

// split cuts a body into the bytes of its traces and determines their format.
func split(body []byte, f form, lim Limits) (parts [][]byte, binary bool, err error) {
	if f.binary || !f.json && looksBinary(body) {
		parts, err = splitBinary(body, lim)
		return parts, true, err
	}
	parts, err = encode.SplitJSON(body, lim.Batch)
	switch {
	case errors.Is(err, encode.ErrTooMany):
		return nil, false, tooMany(lim)
	case err != nil:
		return nil, false, refuse(http.StatusBadRequest, "malformed", "body: %w", err)
	case len(parts) == 0:
		return nil, false, refuse(http.StatusBadRequest, "empty", "body: it has no trace")
	}
	return parts, false, nil
}

// looksBinary reports whether body begins with a binary document or the length of one. JSON has no
// letter at the offset of the magic number.
func looksBinary(body []byte) bool {
	if encode.IsBinary(body) {
		return true
	}
	_, n := protowire.ConsumeVarint(body)
	return n > 0 && encode.IsBinary(body[n:])
}

// splitBinary cuts a body that is one document, or several with a length before each. The first
// bytes of a document distinguish the two.
func splitBinary(body []byte, lim Limits) ([][]byte, error) {
	if encode.IsBinary(body) {
		return [][]byte{body}, nil
	}
	var out [][]byte
	for at := 0; at < len(body); {
		doc, n := protowire.ConsumeBytes(body[at:])
		if n < 0 {
			return nil, refuse(http.StatusBadRequest, "malformed",
				"body: at byte %d: neither a trace nor the length of one: %w", at, protowire.ParseError(n))
		}
		if len(out) == lim.Batch {
			return nil, tooMany(lim)
		}
		out = append(out, doc)
		at += n
	}
	return out, nil
}

func tooMany(lim Limits) error {
	return refuse(http.StatusRequestEntityTooLarge, "batch_size", "body: over %d traces; send smaller batches",
		lim.Batch)
}
