package former

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/fieldtrie/fieldtrie/internal/wire"
	"github.com/fieldtrie/fieldtrie/store"
)

// Limits of what is written in files of rollups, so that what is read can be refused before it takes memory.
const (
	maxText  = 4 << 10   // bytes of a page, or of the key or value of a tag
	maxIndex = 64 << 20  // bytes of an index
	maxTimes = 4 << 20   // bytes of a list of times
	maxDir   = 16 << 20  // bytes of the directory of a run
	maxBlock = 256 << 20 // bytes of a block, compressed or not
)

// kind says what a checksum in a file of rollups is of.
type kind uint8

const (
	ofStacks    kind = iota // a piece of a stack table
	ofRecord                // and two more: records of the levels, in the order of rollup.Level
	_                       //
	_                       //
	ofDirectory             // of a run
	ofCounts                // a piece of the catalogue of an hour
	ofIndex

	levels = int(ofDirectory - ofRecord)
)

// String returns what errors call a block.
func (k kind) String() string {
	return [...]string{"stack table", "narrow record", "wide record", "details", "directory", "counts", "index"}[k]
}

// identity says which file it is.
type identity struct {
	span  byte   // 0 for hours, 1 for days
	start uint32 // of its day or month, minutes since the epoch
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
	b := []byte{id.span, byte(p.kind)}
	b = binary.BigEndian.AppendUint32(b, id.start)
	b = binary.BigEndian.AppendUint32(b, p.of)
	b = binary.BigEndian.AppendUint32(b, p.start)
	b = append(b, p.page...)
	return crc32.Update(crc32.Checksum(b, castagnoli), castagnoli, data)
}

// block says where a block is, and what its checksum is.
type block struct {
	packed uint32 // bytes in the file
	raw    uint32 // bytes decompressed
	crc    uint32 // of the bytes in the file, see [identity.checksum]
	offset int64  // in the run; of counts, in the file
}

// blockBytes is the least that a block takes in a list.
const blockBytes = 1 + 1 + 4

// decoder takes bytes apart whose checksum was right.
type decoder struct{ wire.Reader }

func newDecoder(b []byte) *decoder { return &decoder{wire.NewReader(b, store.ErrDamaged)} }

func (d *decoder) u32() uint32 { return d.Uint32(binary.BigEndian) }
func (d *decoder) u64() uint64 { return d.Uint64(binary.BigEndian) }

func (d *decoder) block() block {
	return block{packed: uint32(d.AtMost(maxBlock)), raw: uint32(d.AtMost(maxBlock)), crc: d.u32()}
}

// maxShared is how many bytes of the text before it a text takes over, unless it is the same text.
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

// sum says what a file has of one hour or day.
type sum struct {
	start       uint32   // when its time begins, in minutes since the epoch
	sources     []uint32 // of a day: the starts of the partitions that it was made of
	first, last int64    // when something was received, µs since the epoch
	traces      uint64   // one of two pages counts twice
}

const sumBytes = 4 + 4*8 + 4

// times reads a list of times.
func (d *decoder) times() []sum {
	sums := make([]sum, 0, d.Fit(uint64(d.u32()), sumBytes))
	for range cap(sums) {
		s := sum{start: d.u32(), first: int64(d.u64()), last: int64(d.u64()), traces: d.u64()}
		d.u64() // how many of them were missing when they were summed up
		s.sources = make([]uint32, d.Fit(uint64(d.u32()), 4))
		for i := range s.sources {
			s.sources[i] = d.u32()
		}
		if n := len(sums); n > 0 && sums[n-1].start >= s.start {
			d.Fail("times are not sorted")
		}
		if d.Err() != nil {
			return nil
		}
		sums = append(sums, s)
	}
	return sums
}

// eachCount calls f with each entry of a piece of a catalogue.
func eachCount(data []byte, f func(page string, t store.Tag, c Count)) error {
	d := newDecoder(data)
	var page string
	var tag store.Tag
	var c Count
	for d.Left() > 0 {
		page = d.text(page)
		tag = store.Tag{Key: d.text(tag.Key), Value: d.text(tag.Value)}
		c.Traces = d.Uint()
		c.First += d.Int()
		c.Last = c.First + d.Int()
		if d.Err() == nil {
			f(page, tag, c)
		}
	}
	return d.Err()
}
