package rollups

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/fieldtrie/fieldtrie/store"
)

const (
	magic   = "\x89FTSUMS\n" // at both ends of a file
	version = 1

	magicSize   = 8
	headSize    = magicSize + 1 + 1 + 4 + 4 // of a header, before the list of times
	trailerSize = 8 + 4 + 4 + 4 + 1 + 1 + 4 + 4 + magicSize
)

// kind says what a checksum is of.
type kind uint8

const (
	kindStacks    kind = iota // a piece of a stack table
	kindRecord                // and two more: records of the levels, in the order of rollup.Level
	_                         //
	_                         //
	kindDirectory             // of a run
	kindCounts                // a piece of the catalogue of an hour
	kindIndex
)

// String returns what errors call a block of k.
func (k kind) String() string {
	return [...]string{"stack table", "narrow record", "wide record", "details", "directory", "counts", "index"}[k]
}

// castagnoli is read-only.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// identity says which file it is.
type identity struct {
	span  Span
	start uint32 // of the time of the file, minutes since the epoch
}

// place says what a block is of.
type place struct {
	kind  kind
	page  string // "" for counts and the index
	start uint32 // of the hour, minutes since the epoch; of stacks and counts the number of the piece
	of    uint32 // of counts: the start of the hour
}

// checksum returns the checksum of bytes that lie at a place in a file.
func (id identity) checksum(p place, data []byte) uint32 {
	b := make([]byte, 0, 64)
	b = append(b, byte(id.span), byte(p.kind))
	b = binary.BigEndian.AppendUint32(b, id.start)
	b = binary.BigEndian.AppendUint32(b, p.of)
	b = binary.BigEndian.AppendUint32(b, p.start)
	b = append(b, p.page...)
	return crc32.Update(crc32.Checksum(b, castagnoli), castagnoli, data)
}

// block says how long a block is, and what its checksum is.
type block struct {
	packed uint32 // bytes in the file
	raw    uint32 // bytes decompressed
	crc    uint32 // of the bytes in the file, see identity.checksum
}

func (b block) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(b.packed))
	dst = binary.AppendUvarint(dst, uint64(b.raw))
	return binary.BigEndian.AppendUint32(dst, b.crc)
}

// blockBytes is the least that a block takes in a list.
const blockBytes = 1 + 1 + 4

func (d *decoder) block() block {
	return block{uint32(d.AtMost(maxBlock)), uint32(d.AtMost(maxBlock)), d.Uint32(binary.BigEndian)}
}

// appendHeader appends the header of a file.
func appendHeader(dst []byte, id identity, sums []Sum) []byte {
	from := len(dst)
	dst = append(dst, magic...)
	dst = append(dst, version, byte(id.span))
	dst = binary.BigEndian.AppendUint32(dst, id.start)
	times := appendTimes(nil, sums)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(times)))
	dst = append(dst, times...)
	return binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst[from:], castagnoli))
}

// parseHeader reads a header, which is all of data.
func parseHeader(data []byte) (identity, []Sum, error) {
	end := len(data) - 4
	if end < headSize || string(data[:magicSize]) != magic ||
		crc32.Checksum(data[:end], castagnoli) != binary.BigEndian.Uint32(data[end:]) {
		return identity{}, nil, fmt.Errorf("%w: checksum mismatch in the header", store.ErrDamaged)
	}
	if v := data[magicSize]; v != version {
		return identity{}, nil, fmt.Errorf("file of version %d, this program reads %d", v, version)
	}
	d := newDecoder(data[magicSize+1 : end])
	id := identity{Span(d.Byte()), d.Uint32(binary.BigEndian)}
	d.Uint32(binary.BigEndian) // the length of what follows, which is all
	sums := d.times()
	return id, sums, d.End()
}

// trailer is the end of a file, of which the length never changes.
type trailer struct {
	identity
	index       uint64 // offset
	indexLength uint32
	indexSum    uint32
	header      uint32 // length
}

func (t trailer) append(dst []byte) []byte {
	from := len(dst)
	dst = binary.BigEndian.AppendUint64(dst, t.index)
	dst = binary.BigEndian.AppendUint32(dst, t.indexLength)
	dst = binary.BigEndian.AppendUint32(dst, t.indexSum)
	dst = binary.BigEndian.AppendUint32(dst, t.header)
	dst = append(dst, version, byte(t.span))
	dst = binary.BigEndian.AppendUint32(dst, t.start)
	dst = binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst[from:], castagnoli))
	return append(dst, magic...)
}

// parseTrailer reads the trailer of a file of size bytes.
func parseTrailer(data []byte, size int64) (t trailer, err error) {
	end := trailerSize - magicSize - 4
	if len(data) != trailerSize || string(data[end+4:]) != magic ||
		crc32.Checksum(data[:end], castagnoli) != binary.BigEndian.Uint32(data[end:]) {
		return t, fmt.Errorf("%w: checksum mismatch in the trailer", store.ErrDamaged)
	}
	d := newDecoder(data[:end])
	t.index, t.indexLength, t.indexSum, t.header = d.Uint64(binary.BigEndian), d.Uint32(binary.BigEndian), d.Uint32(binary.BigEndian), d.Uint32(binary.BigEndian)
	v := d.Byte()
	t.identity = identity{Span(d.Byte()), d.Uint32(binary.BigEndian)}
	switch {
	case v != version: // the checksum was right: it is of a newer program
		return t, fmt.Errorf("file of version %d, this program reads %d", v, version)
	case t.span >= spans:
		d.Fail("unknown span")
	case t.index > math.MaxInt64 || t.indexLength > maxIndex || t.index+uint64(t.indexLength)+uint64(trailerSize) != uint64(size):
		d.Fail("the index is not where it should be")
	case uint64(t.header) > t.index || int64(t.header) > headSize+maxTimes+4:
		d.Fail("the header is too long")
	}
	return t, d.End()
}
