package layout

import (
	"context"
)

// How much is read of objects at once, as it is stored.
const (
	readAhead   = 4 << 20  // of one
	mergeMemory = 32 << 20 // of all that are merged
)

// ShareOf returns how much is read at once of each of n objects that are merged.
func ShareOf(n int) int64 { return min(readAhead, mergeMemory/int64(max(n, 1))) }

// forward reads an object from its beginning to its end. A request brings more than is asked for, since what is read next lies
// behind it. What is read in turns from two places, as rollups of pages and their catalogues are, takes two stretches. It implements
// [Ranges] for one object.
type forward struct {
	from  Ranges
	size  int64 // of the object
	end   int64 // of what is wanted of it
	ahead int64
	kept  []stretch // the one that was used last comes first
}

// stretch is a part of an object.
type stretch struct {
	offset int64
	body   []byte
}

// forward returns o, of which so much is read at once in all places, up to end.
func (o *Object) forward(ahead, end int64, places int) *Object {
	out := *o
	out.from = &forward{from: o.from, size: o.size, end: end, ahead: ahead / int64(places), kept: make([]stretch, places)}
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
	f.kept[0] = stretch{} // so that there is never one more
	body, _, err := f.from.Range(ctx, key, offset, max(n, min(f.ahead, f.end-offset)))
	if err != nil {
		return nil, 0, err
	}
	f.kept[0] = stretch{offset, body}
	return body[:n:n], f.size, nil
}
