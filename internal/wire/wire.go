// Package wire decodes bytes written by this project: numbers in LEB128, lengths, texts.
package wire

import (
	"encoding/binary"
	"fmt"
)

// Reader reads from bytes. After the first failure it returns zeros, so it is enough to check
// [Reader.Err] before the values are used. A length greater than the rest of the bytes is a
// failure.
type Reader struct {
	rest    []byte
	damaged error
	err     error
}

// NewReader returns a reader of b. Its errors wrap damaged.
func NewReader(b []byte, damaged error) Reader { return Reader{rest: b, damaged: damaged} }

// Err returns the first failure.
func (r *Reader) Err() error { return r.err }

// End returns the first failure. Bytes left over are one.
func (r *Reader) End() error {
	if r.err == nil && len(r.rest) > 0 {
		r.Fail("%d bytes are left over", len(r.rest))
	}
	return r.err
}

// Left returns how many bytes are left.
func (r *Reader) Left() int { return len(r.rest) }

// Fail records a failure, unless there was one before.
func (r *Reader) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{r.damaged}, args...)...)
	}
	r.rest = nil
}

// Uint reads a number.
func (r *Reader) Uint() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 { // as most are
		x := uint64(r.rest[0])
		r.rest = r.rest[1:]
		return x
	}
	x, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.Fail("a number is cut off")
		return 0
	}
	r.rest = r.rest[n:]
	return x
}

// AtMost reads a number that is no larger than most.
func (r *Reader) AtMost(most uint64) uint64 {
	x := r.Uint()
	if x > most {
		r.Fail("a number is %d, the most is %d", x, most)
		return 0
	}
	return x
}

// Int reads a number with a sign, in zigzag.
func (r *Reader) Int() int64 {
	x := r.Uint()
	return int64(x>>1) ^ -int64(x&1)
}

// Length reads how many things follow that take at least size bytes each.
func (r *Reader) Length(size int) int { return r.Fit(r.Uint(), size) }

// LengthAtMost is [Reader.Length] for at most most entries.
func (r *Reader) LengthAtMost(most, size int) int {
	n := r.Length(size)
	if n > most {
		r.Fail("a length is %d, the most is %d", n, most)
		return 0
	}
	return n
}

// Fit returns n, the number of things that follow, if as many of at least size bytes each can.
func (r *Reader) Fit(n uint64, size int) int {
	if n > uint64(len(r.rest)/size) {
		r.Fail("a length is more than there is")
		return 0
	}
	return int(n)
}

// Bytes returns the next n bytes, which share memory with the input; nil if fewer are left.
func (r *Reader) Bytes(n int) []byte {
	if n > len(r.rest) {
		r.Fail("it is cut off")
		return nil
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out
}

// Byte reads a byte.
func (r *Reader) Byte() byte {
	if b := r.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint32 reads four bytes.
func (r *Reader) Uint32(order binary.ByteOrder) uint32 {
	if b := r.Bytes(4); b != nil {
		return order.Uint32(b)
	}
	return 0
}

// Uint64 reads eight bytes.
func (r *Reader) Uint64(order binary.ByteOrder) uint64 {
	if b := r.Bytes(8); b != nil {
		return order.Uint64(b)
	}
	return 0
}

// Text reads a text of at most most bytes after its length.
func (r *Reader) Text(most int) string { return string(r.Bytes(r.LengthAtMost(most, 1))) }

// Rest returns the remaining bytes, which share memory with the input.
func (r *Reader) Rest() []byte { return r.rest }
