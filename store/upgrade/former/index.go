package former

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

const (
	sumsMagic   = "\x89FTSUMS\n" // at both ends of a file
	sumsVersion = 1
	headSize    = 8 + 1 + 1 + 4 + 4 // of a header, before the list of times
	trailerSize = 8 + 4 + 4 + 4 + 1 + 1 + 4 + 4 + 8
)

// trailer is the end of a file.
type trailer struct {
	identity
	index       int64 // offset
	indexLength uint32
	indexSum    uint32
	header      int64 // length
}

// parseTrailer reads the trailer of a file of size bytes.
func parseTrailer(data []byte, size int64) (t trailer, err error) {
	end := trailerSize - len(sumsMagic) - 4
	if len(data) != trailerSize || string(data[end+4:]) != sumsMagic || crc32.Checksum(data[:end], castagnoli) != binary.BigEndian.Uint32(data[end:]) {
		return t, fmt.Errorf("%w: checksum mismatch in the trailer", store.ErrDamaged)
	}
	d := newDecoder(data[:end])
	index := d.u64()
	t.index, t.indexLength, t.indexSum, t.header = int64(index), d.u32(), d.u32(), int64(d.u32())
	v := d.Byte()
	t.identity = identity{d.Byte(), d.u32()}
	switch {
	case v != sumsVersion: // the checksum was right: it is of a newer program
		d.Fail("file of version %d, this program reads %d", v, sumsVersion)
	case t.span > 1:
		d.Fail("unknown span")
	case index > math.MaxInt64 || t.indexLength > maxIndex || index+uint64(t.indexLength)+uint64(trailerSize) != uint64(size):
		d.Fail("the index is not where it should be")
	case t.header > t.index || t.header > headSize+maxTimes+4:
		d.Fail("the header is too long")
	}
	return t, d.End()
}

// index says what a file has and where.
type index struct {
	sums   []sum
	counts [][]block // by sum
	runs   []run     // by page
}

// run is all that a file has of one page.
type run struct {
	page           string
	offset, length int64
	directory      uint32 // length of the directory, with which the run begins
	crc            uint32 // of the directory
}

// parseIndex reads the index of a file whose runs begin at from and whose catalogue ends at to.
func parseIndex(data []byte, from, to int64) (*index, error) {
	d := newDecoder(data)
	x := &index{sums: d.times()}
	x.counts = make([][]block, len(x.sums))
	for i := range x.counts {
		x.counts[i] = make([]block, d.Fit(d.AtMost(maxIndex), blockBytes))
		for k := range x.counts[i] {
			x.counts[i][k] = d.block()
		}
	}
	x.runs = make([]run, 0, d.Fit(d.AtMost(maxIndex), 2+1+1+4))
	page, at := "", from
	for range cap(x.runs) {
		r := run{page: d.text(page), offset: at, length: int64(d.AtMost(uint64(to - at)))}
		r.directory, r.crc = uint32(d.AtMost(min(maxDir, uint64(r.length)))), d.u32()
		if len(x.runs) > 0 && r.page <= page {
			d.Fail("pages are not sorted")
		}
		if d.Err() != nil {
			return nil, d.Err()
		}
		x.runs = append(x.runs, r)
		page, at = r.page, at+r.length
	}
	for _, pieces := range x.counts {
		for k := range pieces {
			pieces[k].offset = at
			at += int64(pieces[k].packed)
		}
	}
	if d.Err() == nil && at != to {
		d.Fail("the parts of the file do not fill it")
	}
	return x, d.End()
}

// find returns the run of page.
func (x *index) find(page string) (run, bool) {
	i, found := slices.BinarySearchFunc(x.runs, page, func(r run, page string) int { return cmp.Compare(r.page, page) })
	if !found {
		return run{}, false
	}
	return x.runs[i], true
}

// runDirectory says what a run has and where.
type runDirectory struct {
	size   rollup.Size // of the stack table
	stacks []block     // the pieces of the stack table
	hours  map[uint32]*[levels]block
}

// parseDirectory reads the directory of a run of length bytes.
func parseDirectory(data []byte, length int64) (*runDirectory, error) {
	d := newDecoder(data)
	number := func() int { return int(d.AtMost(math.MaxUint32)) }
	x := &runDirectory{size: rollup.Size{Strings: number(), Frames: number(), Nodes: number()}, hours: map[uint32]*[levels]block{}}
	x.stacks = make([]block, d.Fit(d.AtMost(maxDir), blockBytes))
	for i := range x.stacks {
		x.stacks[i] = d.block()
	}
	starts := make([]uint32, d.Fit(d.AtMost(maxDir), 4+1+1))
	for i := range starts {
		starts[i] = d.u32()
		d.Uint() // how many traces were counted
		if i > 0 && starts[i-1] >= starts[i] {
			d.Fail("hours are not sorted")
		}
		have := d.Byte()
		if have>>levels != 0 {
			d.Fail("a record is of an unknown level")
		}
		x.hours[starts[i]] = x.records(d, have)
	}
	if d.Err() == nil && x.locate(starts, int64(len(data))) != length {
		d.Fail("the blocks of a run do not fill it")
	}
	return x, d.End()
}

// records reads where the records of an hour are.
func (x *runDirectory) records(d *decoder, have byte) *[levels]block {
	var out [levels]block
	for level := range out {
		if have&(1<<level) == 0 {
			continue
		}
		if out[level] = d.block(); out[level].packed == 0 {
			d.Fail("a record is empty")
		}
	}
	return &out
}

// locate sets the offset of each block, for a directory of that many bytes: first the stacks, then the records level by level. It returns
// the length of the run.
func (x *runDirectory) locate(starts []uint32, at int64) int64 {
	put := func(b *block) {
		b.offset = at
		at += int64(b.packed)
	}
	for i := range x.stacks {
		put(&x.stacks[i])
	}
	for level := range levels {
		for _, start := range starts {
			put(&x.hours[start][level])
		}
	}
	return at
}
