package rollups

import (
	"encoding/binary"

	"github.com/fieldtrie/fieldtrie/internal/wire"
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

// decoder takes bytes apart whose checksum was right.
type decoder struct{ wire.Reader }

func newDecoder(b []byte) *decoder { return &decoder{wire.NewReader(b, store.ErrDamaged)} }

// maxShared is how many bytes of the text before it a text takes over, unless it is the
// same text. So what is read takes some 20 times the memory of what is written at most.
const maxShared = 128

// text reads a text that begins like the one before it.
func (d *decoder) text(before string) string {
	shared := d.AtMost(uint64(len(before)))
	rest := d.Bytes(int(d.AtMost(maxText - shared)))
	switch {
	case d.Err() != nil:
		return ""
	case len(rest) == 0 && int(shared) == len(before):
		return before
	case shared > maxShared:
		d.Fail("a text has too much of the one before it")
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
