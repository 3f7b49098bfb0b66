package wasm

import (
	"fmt"
	"strings"
)

// cursor reads part of a module. The first error sticks; after it every method returns zero, so
// loops end and one check at the end is enough.
type cursor struct {
	data []byte
	pos  int // offset of the next byte in data
	base int // offset of data in the module
	err  error
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("byte %d: %s", c.base+c.pos, fmt.Sprintf(format, args...))
	}
}

// more reports whether there is more to read.
func (c *cursor) more() bool { return c.err == nil && c.pos < len(c.data) }

func (c *cursor) byte() byte {
	if !c.more() {
		c.fail("unexpected end")
		return 0
	}
	c.pos++
	return c.data[c.pos-1]
}

// number reads an unsigned number of 32 bits in LEB128: 7 bits to a byte, the lowest
// first, and the top bit set in all bytes but the last.
func (c *cursor) number() uint32 {
	var n uint64
	for shift := 0; shift < 35; shift += 7 {
		b := c.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if n >= 1<<32 {
				break
			}
			return uint32(n)
		}
	}
	c.fail("a number of more than 32 bits")
	return 0
}

// skipNumber skips a number of up to most bits.
func (c *cursor) skipNumber(most int) {
	for shift := 0; shift < most; shift += 7 {
		if c.byte() < 0x80 {
			return
		}
	}
	c.fail("a number of more than %d bits", most)
}

// bytes reads a length and that many bytes.
func (c *cursor) bytes() []byte {
	n := c.number()
	if c.err == nil && uint64(n) > uint64(len(c.data)-c.pos) {
		c.fail("a length of %d, but %d bytes are left", n, len(c.data)-c.pos)
	}
	if c.err != nil {
		return nil
	}
	c.pos += int(n)
	return c.data[c.pos-int(n) : c.pos]
}

// text reads a name. Names are UTF-8; other bytes become U+FFFD.
func (c *cursor) text() string { return strings.ToValidUTF8(string(c.bytes()), "\ufffd") }

// part reads a length and returns a cursor for that many bytes.
func (c *cursor) part() *cursor {
	data := c.bytes()
	return &cursor{data: data, base: c.base + c.pos - len(data), err: c.err}
}

// take propagates an error of a part to c.
func (c *cursor) take(part *cursor) {
	if c.err == nil {
		c.err = part.err
	}
}

// valueType skips the type of a value.
func (c *cursor) valueType() {
	const nullableReference, reference = 0x63, 0x64
	if t := c.byte(); t == nullableReference || t == reference {
		c.skipNumber(33) // the referenced type
	}
}

// limits skips the limits of a memory or a table.
func (c *cursor) limits() {
	const hasMost, hasPageSize = 1, 8
	flags := c.byte()
	c.skipNumber(64)
	if flags&hasMost != 0 {
		c.skipNumber(64)
	}
	if flags&hasPageSize != 0 {
		c.skipNumber(32)
	}
}
