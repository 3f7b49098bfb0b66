package rollups

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// index says what a file has and where.
type index struct {
	sums   []Sum
	counts [][]counted // by sum
	runs   []run       // by page
}

// counted is a piece of the catalogue of an hour.
type counted struct {
	block
	offset int64
}

// run is all that a file has of one page.
type run struct {
	page      string
	offset    int64
	length    int64
	directory uint32 // length of the directory, with which the run begins
	crc       uint32 // of the directory
}

// appendIndex appends an index. Offsets are not written: runs follow the header, and the
// pieces of the catalogue follow the runs, without gaps.
func appendIndex(dst []byte, x *index) []byte {
	dst = appendTimes(dst, x.sums)
	for _, pieces := range x.counts {
		dst = binary.AppendUvarint(dst, uint64(len(pieces)))
		for _, c := range pieces {
			dst = c.append(dst)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(x.runs)))
	page := ""
	for _, r := range x.runs {
		dst = appendText(dst, page, r.page)
		page = r.page
		dst = binary.AppendUvarint(dst, uint64(r.length))
		dst = binary.AppendUvarint(dst, uint64(r.directory))
		dst = binary.BigEndian.AppendUint32(dst, r.crc)
	}
	return dst
}

// parseIndex reads the index of a file whose runs begin at from and whose catalogue ends
// at to.
func parseIndex(data []byte, from, to int64) (*index, error) {
	d := newDecoder(data)
	x := &index{sums: d.times()}
	x.counts = make([][]counted, len(x.sums))
	for i := range x.counts {
		pieces := make([]counted, d.Fit(d.AtMost(maxIndex), blockBytes))
		for k := range pieces {
			pieces[k].block = d.block()
		}
		x.counts[i] = pieces
	}
	x.runs = make([]run, 0, d.Fit(d.AtMost(maxIndex), 2+1+1+4))
	page, at := "", from
	for range cap(x.runs) {
		r := run{page: d.text(page), offset: at, length: int64(d.AtMost(uint64(to - at)))}
		r.directory, r.crc = uint32(d.AtMost(min(maxDir, uint64(r.length)))), d.Uint32(binary.BigEndian)
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
