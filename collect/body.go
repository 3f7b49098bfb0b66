package collect

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// refusal is an answer other than 202.
type refusal struct {
	status int
	reason string // for the metrics: one word
	err    error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

func refuse(status int, reason, format string, args ...any) error {
	return &refusal{status, reason, fmt.Errorf(format, args...)}
}

// readBody returns the decompressed body of r. It never holds more than the limits
// allow, so a bomb is refused while it is read.
func readBody(w http.ResponseWriter, r *http.Request, lim Limits) ([]byte, error) {
	if r.ContentLength > lim.Body {
		return nil, tooLarge(lim)
	}
	sent, err := io.ReadAll(http.MaxBytesReader(w, r.Body, lim.Body))
	if err != nil {
		return nil, bodyError(err, lim)
	}
	return inflate(sent, r.Header.Values("Content-Encoding"), lim)
}

func tooLarge(lim Limits) error {
	return refuse(http.StatusRequestEntityTooLarge, "body_size", "body: over %d bytes; send fewer or shorter traces", lim.Body)
}

// bodyError says what kept a body from being read.
func bodyError(err error, lim Limits) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(lim)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return refuse(http.StatusRequestTimeout, "slow", "body: it came too slowly")
	}
	return refuse(http.StatusBadRequest, "body", "body: %w", err)
}

// inflate undoes the content encoding of a body.
func inflate(sent []byte, encodings []string, lim Limits) ([]byte, error) {
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(encodings, ",")))
	if encoding == "" || encoding == "identity" {
		return sent, nil
	}
	z, err := decompressor(encoding, sent, lim)
	if err != nil {
		return nil, err
	}
	defer func() { _ = z.Close() }()
	most := min(lim.Inflated, max(lim.Ratio*int64(len(sent)), 64<<10))
	out, err := io.ReadAll(io.LimitReader(z, most+1))
	if int64(len(out)) > most || errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return nil, refuse(http.StatusRequestEntityTooLarge, "inflated_size", "body: over %d bytes after decompression", most)
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "body", "body: undo %s: %w", encoding, err)
	}
	return out, nil
}

func decompressor(encoding string, sent []byte, lim Limits) (io.ReadCloser, error) {
	in := bytes.NewReader(sent)
	var z io.ReadCloser
	var err error
	switch encoding {
	case "gzip", "x-gzip":
		z, err = gzip.NewReader(in)
	case "deflate":
		// RFC 9110 means zlib, but some clients send raw DEFLATE.
		if z, err = zlib.NewReader(in); err != nil {
			_, _ = in.Seek(0, io.SeekStart)
			z, err = flate.NewReader(in), nil
		}
	case "zstd":
		var d *zstd.Decoder
		d, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(uint64(max(lim.Inflated, 1<<20))))
		if err == nil {
			z = d.IOReadCloser()
		}
	default:
		return nil, refuse(http.StatusUnsupportedMediaType, "encoding", "header Content-Encoding: %q; use one of gzip, deflate, zstd, or none", encoding)
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "body", "body: undo %s: %w", encoding, err)
	}
	return z, nil
}
