package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// maxInflated bounds the bytes of a document that is held in memory as a whole.
const maxInflated = 1 << 30

// ReadWhole reads all of a document.
func ReadWhole(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInflated+1))
	if err != nil {
		return nil, ReadError(err)
	}
	return data, Check("document", len(data), maxInflated)
}

// Gunzip returns data, decompressed if it is gzip.
func Gunzip(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	z, err := NewGunzip(bufio.NewReader(bytes.NewReader(data)))
	if err != nil {
		return nil, err
	}
	return ReadWhole(z)
}

// ReadError wraps an error that ended the reading of a document.
func ReadError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) {
		return &Error{Malformed, "gzip", err}
	}
	return err
}

// HeadSize is how many bytes of a document are inspected first to detect its format.
// A beginning of this size may be cut off anywhere.
const HeadSize = 64 << 10
