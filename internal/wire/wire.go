// Package wire decodes the project's binary encodings: LEB128 numbers, lengths and texts.
package wire

import (
	"encoding/binary"
	"fmt"
)

// Reader reads from a byte slice. After the first error it returns zeros, so callers may check
// [Reader.Err] once before they use the values. A length greater than the rest of the input is an
// error.
type Reader struct {
	rest    []byte
	damaged error
	err     error
}

// NewReader returns a Reader of b, which it does not copy. Its errors wrap damaged.
func NewReader(b []byte, damaged error) Reader { return Reader{rest: b, damaged: damaged} }

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// End returns the first error. Remaining bytes are an error.
func (r *Reader) End() error {
	if r.err == nil && len(r.rest) > 0 {
		r.Fail("%d bytes after the end", len(r.rest))
	}
	return r.err
}

// Left returns the number of remaining bytes.
func (r *Reader) Left() int { return len(r.rest) }

// Fail records an error, unless there was one before.
func (r *Reader) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{r.damaged}, args...)...)
	}
	r.rest = nil
}

// Uint reads an unsigned number.
func (r *Reader) Uint() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 { // the common case
		x := uint64(r.rest[0])
		r.rest = r.rest[1:]
		return x
	}
	x, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.Fail("truncated number")
		return 0
	}
	r.rest = r.rest[n:]
	return x
}

// AtMost reads a number and fails if it exceeds most.
func (r *Reader) AtMost(most uint64) uint64 {
	x := r.Uint()
	if x > most {
		r.Fail("number %d exceeds the limit of %d", x, most)
		return 0
	}
	return x
}

// Int reads a signed number in zigzag encoding.
func (r *Reader) Int() int64 {
	x := r.Uint()
	return int64(x>>1) ^ -int64(x&1)
}

// Length reads the number of elements that follow, of at least size bytes each.
func (r *Reader) Length(size int) int { return r.Fit(r.Uint(), size) }

// LengthAtMost is like [Reader.Length] for at most most elements.
func (r *Reader) LengthAtMost(most, size int) int {
	n := r.Length(size)
	if n > most {
		r.Fail("length %d exceeds the limit of %d", n, most)
		return 0
	}
	return n
}

// Fit returns n if the input has room for n elements of at least size bytes each, and fails
// otherwise.
func (r *Reader) Fit(n uint64, size int) int {
	if n > uint64(len(r.rest)/size) {
		r.Fail("length exceeds the input")
		return 0
	}
	return int(n)
}

// Bytes returns the next n bytes, which share memory with the input. It returns nil if there are
// fewer.
func (r *Reader) Bytes(n int) []byte {
	if n > len(r.rest) {
		r.Fail("truncated input")
		return nil
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out
}

// Byte reads a byte. At the end of the input it fails and returns 0.
func (r *Reader) Byte() byte {
	if b := r.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint32 reads four bytes in the given order.
func (r *Reader) Uint32(order binary.ByteOrder) uint32 {
	if b := r.Bytes(4); b != nil {
		return order.Uint32(b)
	}
	return 0
}

// Uint64 reads eight bytes in the given order.
func (r *Reader) Uint64(order binary.ByteOrder) uint64 {
	if b := r.Bytes(8); b != nil {
		return order.Uint64(b)
	}
	return 0
}

// Text reads a length, and a text of so many bytes. It fails if the length exceeds most, and does
// not check that the text is UTF-8.
func (r *Reader) Text(most int) string { return string(r.Bytes(r.LengthAtMost(most, 1))) }

// Rest returns the remaining bytes, which share memory with the input.
func (r *Reader) Rest() []byte { return r.rest }
