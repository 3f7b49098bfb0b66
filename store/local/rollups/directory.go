package rollups

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// directory says what a run has and where.
type directory struct {
	size   rollup.Size // of the stack table
	stacks []located   // the pieces of the stack table
	hours  []hour      // by start
}

// hour is what a run has of one hour, or of one day.
type hour struct {
	start    uint32
	expected uint64 // traces that were counted
	records  [levels]located
}

// levels is how many levels of records a file can have.
const levels = int(kindDirectory - kindRecord)

// located is a block of a run. One that is not there has no bytes.
type located struct {
	block
	offset int64  // in the run
	data   []byte // as in the file; set when a run is read or written as a whole
}

// there reports whether there is such a block. Even an empty record takes bytes.
func (l located) there() bool { return l.packed > 0 }

// each calls f with the blocks that are there, in the order in which they lie in the run.
// Those of a level lie together, so that a range has what most questions read: the stack
// table and all narrow records.
func (d *directory) each(f func(p place, l *located) error) error {
	for i := range d.stacks {
		if err := f(place{kind: kindStacks, start: uint32(i)}, &d.stacks[i]); err != nil {
			return err
		}
	}
	for level := range levels {
		for i := range d.hours {
			if h := &d.hours[i]; h.records[level].there() {
				if err := f(place{kind: kindRecord + kind(level), start: h.start}, &h.records[level]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// locate sets the offset of each block, for a directory of that many bytes. It returns the
// length of the run.
func (d *directory) locate(length int64) int64 {
	at := length
	d.each(func(_ place, l *located) error {
		l.offset = at
		at += int64(l.packed)
		return nil
	})
	return at
}

// find returns what there is of the hour that begins at start, nil if there is nothing.
func (d *directory) find(start uint32) *hour {
	i, found := d.search(start)
	if !found {
		return nil
	}
	return &d.hours[i]
}

func (d *directory) search(start uint32) (int, bool) {
	return slices.BinarySearchFunc(d.hours, start, func(h hour, start uint32) int { return cmp.Compare(h.start, start) })
}

// put adds an hour that is not there yet.
func (d *directory) put(h hour) {
	i, _ := d.search(h.start)
	d.hours = slices.Insert(d.hours, i, h)
}

// remove takes an hour out. It reports whether there was one.
func (d *directory) remove(start uint32) bool {
	i, found := d.search(start)
	if found {
		d.hours = slices.Delete(d.hours, i, i+1)
	}
	return found
}

// dropTable takes the stack table out, and all records, which mean nothing without it. How
// many traces were counted stays.
func (d *directory) dropTable() {
	d.size, d.stacks = noRun().size, nil
	for i := range d.hours {
		d.hours[i].records = [levels]located{}
	}
}

// append appends the directory.
func (d *directory) append(dst []byte) []byte {
	for _, n := range []int{d.size.Strings, d.size.Frames, d.size.Nodes, len(d.stacks)} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	for _, l := range d.stacks {
		dst = l.append(dst)
	}
	dst = binary.AppendUvarint(dst, uint64(len(d.hours)))
	for _, h := range d.hours {
		dst = binary.BigEndian.AppendUint32(dst, h.start)
		dst = binary.AppendUvarint(dst, h.expected)
		have := byte(0)
		for level, l := range h.records {
			if l.there() {
				have |= 1 << level
			}
		}
		dst = append(dst, have)
		for _, l := range h.records {
			if l.there() {
				dst = l.append(dst)
			}
		}
	}
	return dst
}

// parseDirectory reads the directory of a run of length bytes.
func parseDirectory(data []byte, length int64) (*directory, error) {
	const most = 1<<32 - 1
	d := newDecoder(data)
	x := &directory{size: rollup.Size{Strings: int(d.AtMost(most)), Frames: int(d.AtMost(most)), Nodes: int(d.AtMost(most))}}
	x.stacks = make([]located, d.Fit(d.AtMost(maxDir), blockBytes))
	for i := range x.stacks {
		x.stacks[i].block = d.block()
	}
	x.hours = make([]hour, d.Fit(d.AtMost(maxDir), 4+1+1))
	for i := range x.hours {
		h := &x.hours[i]
		h.start, h.expected = d.Uint32(binary.BigEndian), d.Uint()
		if i > 0 && x.hours[i-1].start >= h.start {
			d.Fail("hours are not sorted")
		}
		have := d.Byte()
		if have>>levels != 0 {
			d.Fail("a record is of an unknown level")
		}
		for level := range h.records {
			if have&(1<<level) == 0 {
				continue
			}
			h.records[level].block = d.block()
			if !h.records[level].there() {
				d.Fail("a record is empty")
			}
		}
	}
	if d.Err() == nil && x.locate(int64(len(data))) != length {
		d.Fail("the blocks of a run do not fill it")
	}
	return x, d.End()
}
