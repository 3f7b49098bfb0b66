package collect

import (
	"bytes"
	"errors"
	"mime"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fieldtrie/fieldtrie/encode"
)

// split cuts a body into the bytes of its traces.
func split(body []byte, contentType string, lim Limits) ([][]byte, error) {
	if len(body) == 0 {
		return nil, refuse(http.StatusBadRequest, "empty", "body: it is empty")
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && contentType != "" {
		return nil, refuse(http.StatusUnsupportedMediaType, "content_type", "header Content-Type: %w", err)
	}
	switch media {
	case "application/x-protobuf", "application/octet-stream":
		return splitBinary(body, lim)
	case "application/json", "application/x-ndjson", "text/plain", "":
		if encode.IsBinary(body) { // a beacon may not choose its type
			return splitBinary(body, lim)
		}
		return splitJSON(body, lim)
	}
	return nil, refuse(http.StatusUnsupportedMediaType, "content_type",
		"header Content-Type: %q; use application/x-protobuf, application/json, application/x-ndjson or text/plain", media)
}

// splitBinary cuts a body that is one document, or several with their lengths before
// them. The first byte of a document tells which.
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
		if out = append(out, doc); len(out) > lim.Batch {
			return nil, tooMany(lim)
		}
		at += n
	}
	return out, nil
}

func tooMany(lim Limits) error {
	return refuse(http.StatusRequestEntityTooLarge, "batch_size", "body: over %d traces; send smaller batches", lim.Batch)
}

// splitJSON cuts a body that is one JSON object, an array of them, or one after the
// other.
func splitJSON(body []byte, lim Limits) ([][]byte, error) {
	if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && trimmed[0] == '{' && bytes.IndexByte(trimmed, '\n') < 0 {
		return [][]byte{trimmed}, nil // nearly always; the decoder refuses a second object
	}
	out, err := encode.SplitJSON(body, lim.Batch)
	if errors.Is(err, encode.ErrTooMany) {
		return nil, tooMany(lim)
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "malformed", "body: %w", err)
	}
	if len(out) == 0 {
		return nil, refuse(http.StatusBadRequest, "empty", "body: it has no trace")
	}
	return out, nil
}
