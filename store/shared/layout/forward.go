package layout

import (
	"context"
)

// Sizes of reads, in compressed bytes.
const (
	readAhead   = 4 << 20  // of one object
	mergeMemory = 32 << 20 // of all objects that are merged
)

// ShareOf returns how many bytes to read per request from each of n objects that are merged.
func ShareOf(n int) int64 { return min(readAhead, mergeMemory/int64(max(n, 1))) }

// forward reads an object from front to back. It implements [Ranges] for that object. Each request
// reads ahead, because the next blocks follow directly. Two buffers serve reads that alternate
// between two places, such as rollups of pages and their catalogues.
type forward struct {
	from  Ranges
	size  int64 // size of the object
	end   int64 // end of the wanted part
	ahead int64
	kept  []stretch // most recently used first
}

// stretch is a buffered part of an object.
type stretch struct {
	offset int64
	body   []byte
}

// forward returns a copy of o that reads ahead up to end. It buffers ahead bytes, divided among
// places.
func (o *Object) forward(ahead, end int64, places int) *Object {
	out := *o
	out.from = &forward{from: o.from, size: o.size, end: end, ahead: ahead / int64(places),
		kept: make([]stretch, places)}
	return &out
}

// Range implements [Ranges].
func (f *forward) Range(ctx context.Context, key string, offset, n int64) ([]byte, int64, error) {
	for i, s := range f.kept {
		if offset >= s.offset && offset+n <= s.offset+int64(len(s.body)) {
			f.kept[0], f.kept[i] = f.kept[i], f.kept[0]
			return s.body[offset-s.offset:][:n:n], f.size, nil
		}
	}
	copy(f.kept[1:], f.kept)
	f.kept[0] = stretch{} // free the oldest buffer before the next one is read
	body, _, err := f.from.Range(ctx, key, offset, max(n, min(f.ahead, f.end-offset)))
	if err != nil {
		return nil, 0, err
	}
	f.kept[0] = stretch{offset, body}
	return body[:n:n], f.size, nil
}
