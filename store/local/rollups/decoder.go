package rollups

import (
	"encoding/binary"
	"fmt"

	"github.com/fieldtrie/fieldtrie/store"
)

// Limits of what is written, so that what is read can be refused before it takes memory.
const (
	maxText  = 4 << 10   // bytes of a page, or of the key or value of a tag
	maxTimes = 4 << 20   // bytes of a list of times
	maxIndex = 64 << 20  // bytes of an index
	maxDir   = 16 << 20  // bytes of the directory of a run
	maxBlock = 256 << 20 // bytes of a block, compressed or not
)

// decoder takes bytes apart whose checksum was right. The first error sticks: from then
// on, all numbers are 0 and all texts empty.
type decoder struct {
	in  []byte
	err error
}

// fail notes what is wrong. The errors wrap [store.ErrDamaged].
func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", store.ErrDamaged, what)
	}
	d.in = nil
}

// end returns the error, which is one if there are bytes left.
func (d *decoder) end() error {
	if d.err == nil && len(d.in) > 0 {
		d.fail("there are bytes too many")
	}
	return d.err
}

func (d *decoder) u8() uint8 {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) u32() uint32 {
	if b := d.bytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) u64() uint64 {
	if b := d.bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// uint reads a LEB128 number that is at most limit.
func (d *decoder) uint(limit uint64) uint64 {
	v, n := binary.Uvarint(d.in)
	if n <= 0 {
		d.fail("cut off")
		return 0
	}
	if v > limit {
		d.fail("a number is too large")
		return 0
	}
	d.in = d.in[n:]
	return v
}

// int reads a LEB128 number in zigzag.
func (d *decoder) int() int64 {
	v, n := binary.Varint(d.in)
	if n <= 0 {
		d.fail("cut off")
		return 0
	}
	d.in = d.in[n:]
	return v
}

// length returns n as the number of things that take at least size bytes each.
func (d *decoder) length(n uint64, size int) int {
	if n > uint64(len(d.in)/size) {
		d.fail("there is less than there should be")
		return 0
	}
	return int(n)
}

// bytes returns the next n bytes, nil if there are not as many.
func (d *decoder) bytes(n int) []byte {
	if n > len(d.in) {
		d.fail("cut off")
		return nil
	}
	b := d.in[:n]
	d.in = d.in[n:]
	return b
}

// maxShared is how many bytes of the text before it a text takes over, unless it is the
// same text. So what is read takes some 20 times the memory of what is written at most.
const maxShared = 128

// text reads a text that begins like the one before it.
func (d *decoder) text(before string) string {
	shared := d.uint(uint64(len(before)))
	rest := d.bytes(int(d.uint(maxText - shared)))
	switch {
	case d.err != nil:
		return ""
	case len(rest) == 0 && int(shared) == len(before):
		return before
	case shared > maxShared:
		d.fail("a text has too much of the one before it")
		return ""
	}
	return before[:shared] + string(rest)
}

// appendText appends a text that begins like the one before it.
func appendText(dst []byte, before, text string) []byte {
	shared := len(text)
	if text != before {
		for shared = 0; shared < min(len(before), len(text), maxShared) && before[shared] == text[shared]; {
			shared++
		}
	}
	dst = binary.AppendUvarint(dst, uint64(shared))
	dst = binary.AppendUvarint(dst, uint64(len(text)-shared))
	return append(dst, text[shared:]...)
}
