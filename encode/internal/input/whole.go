package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// maxInflated is how many bytes a document may have that is held in memory as a whole.
const maxInflated = 1 << 30

// ReadWhole reads all of a document.
func ReadWhole(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInflated+1))
	if err != nil {
		return nil, ReadError(err)
	}
	return data, Check("document", len(data), maxInflated)
}

// Gunzip returns what data holds if it is gzip, else data.
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

// ReadError says that a document could not be read to its end.
func ReadError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) {
		return &Error{Malformed, "gzip", err}
	}
	return err
}

// HeadSize is how many bytes of a document are looked at first to tell its format. A
// beginning that is as long may be cut off anywhere.
const HeadSize = 64 << 10
