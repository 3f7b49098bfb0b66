package collect

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// form is the format of a request body according to its headers.
type form struct {
	binary   bool   // binary format; if neither binary nor json is set, either
	json     bool   // JSON
	encoding string // "" for none
}

// formOf reads the headers of a request.
func formOf(h http.Header) (f form, err error) {
	contentType := h.Get("Content-Type")
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && contentType != "" {
		return f, refuse(http.StatusUnsupportedMediaType, "content_type", "header Content-Type: %w", err)
	}
	switch media {
	case "application/x-protobuf", "application/octet-stream":
		f.binary = true
	case "application/json", "application/x-ndjson":
		f.json = true
	case "text/plain", "": // sendBeacon cannot always set the content type
	default:
		return f, refuse(http.StatusUnsupportedMediaType, "content_type",
			"header Content-Type: %q; use application/x-protobuf, application/json, application/x-ndjson or text/plain",
			media)
	}
	f.encoding = strings.ToLower(strings.TrimSpace(strings.Join(h.Values("Content-Encoding"), ",")))
	switch f.encoding {
	case "identity":
		f.encoding = ""
	case "x-gzip":
		f.encoding = "gzip"
	case "", "gzip", "deflate", "zstd":
	default:
		return f, refuse(http.StatusUnsupportedMediaType, "encoding",
			"header Content-Encoding: %q; use one of gzip, deflate, zstd, or none", f.encoding)
	}
	return f, nil
}

// readBody returns the body of r as it was sent, still compressed.
func readBody(w http.ResponseWriter, r *http.Request, lim Limits, mem *memory) ([]byte, error) {
	if r.ContentLength > lim.Body {
		return nil, tooLarge(lim)
	}
	// Some servers do not support deadlines, such as httptest.ResponseRecorder.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(lim.Read))
	mem.arrive(func() { _ = control.SetReadDeadline(time.Unix(1, 0)) })
	sent, err := mem.readAll(http.MaxBytesReader(w, r.Body, lim.Body), lim.Body)
	if lost := mem.arrived(); lost != nil {
		return nil, lost
	}
	if err != nil {
		return nil, bodyError(err, lim)
	}
	if len(sent) == 0 {
		return nil, refuse(http.StatusBadRequest, "empty", "body: it is empty")
	}
	return sent, nil
}

func tooLarge(lim Limits) error {
	return refuse(http.StatusRequestEntityTooLarge, "body_size", "body: over %d bytes; send less at a time", lim.Body)
}

// bodyError converts an error of reading a body to a refusal.
func bodyError(err error, lim Limits) error {
	if x, ok := errors.AsType[*refusal](err); ok {
		return x
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok || errors.Is(err, errTooLong) {
		return tooLarge(lim)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return refuse(http.StatusRequestTimeout, "slow", "body: it came too slowly, over %s", lim.Read)
	}
	return refuse(http.StatusBadRequest, "body", "body: %w", err)
}

// inflate decompresses a body. It stops as soon as the output exceeds the limits, so a
// decompression bomb is refused early.
func inflate(sent []byte, encoding string, lim Limits, mem *memory) ([]byte, error) {
	if encoding == "" {
		return sent, nil
	}
	most := min(lim.Inflated, max(lim.Ratio*int64(len(sent)), 64<<10))
	in := bytes.NewReader(sent)
	z, err := decompressor(encoding, in, lim)
	var out []byte
	if err == nil {
		defer func() { _ = z.Close() }()
		out, err = mem.readAll(z, most)
	}
	if err == nil && in.Len() > 0 {
		err = fmt.Errorf("%d bytes after the end", in.Len())
	}
	if x, ok := errors.AsType[*refusal](err); ok {
		return nil, x
	}
	switch {
	case errors.Is(err, errTooLong), errors.Is(err, zstd.ErrWindowSizeExceeded),
		errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return nil, refuse(http.StatusRequestEntityTooLarge, "inflated_size",
			"body: over %d bytes after decompression", most)
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "body", "body: undo %s: %w", encoding, err)
	case len(out) == 0:
		return nil, refuse(http.StatusBadRequest, "empty", "body: it is empty after decompression")
	}
	return out, nil
}

func decompressor(encoding string, in *bytes.Reader, lim Limits) (io.ReadCloser, error) {
	switch encoding {
	case "gzip":
		return gzip.NewReader(in)
	case "deflate":
		// RFC 9110 defines deflate as zlib, but some clients send raw DEFLATE.
		if z, err := zlib.NewReader(in); err == nil {
			return z, nil
		}
		_, err := in.Seek(0, io.SeekStart)
		return flate.NewReader(in), err
	}
	d, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(uint64(max(lim.Inflated, 1<<20))))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}
