package rollups

import (
	"cmp"
	"encoding/binary"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

// Count says how many traces carry a tag, and when they were received.
type Count = record.Count

// entry is a row of a catalogue.
type entry struct {
	page string
	tag  store.Tag
	Count
}

func compareEntries(a, b entry) int {
	return cmp.Or(cmp.Compare(a.page, b.page), store.CompareTags(a.tag, b.tag))
}

// countsPiece is how long a piece of a catalogue grows, decompressed.
const countsPiece = 256 << 10

// appendCounts appends entries, which are sorted, until there are countsPiece bytes. It
// returns those that are left.
func appendCounts(dst []byte, entries []entry) ([]byte, []entry) {
	var last entry
	for len(entries) > 0 && len(dst) < countsPiece {
		e := entries[0]
		dst = appendText(dst, last.page, e.page)
		dst = appendText(dst, last.tag.Key, e.tag.Key)
		dst = appendText(dst, last.tag.Value, e.tag.Value)
		dst = binary.AppendUvarint(dst, e.Traces)
		dst = binary.AppendVarint(dst, e.First-last.First)
		dst = binary.AppendVarint(dst, e.Last-e.First)
		last, entries = e, entries[1:]
	}
	return dst, entries
}

// eachCount calls f with each entry of a piece of a catalogue.
func eachCount(data []byte, f func(page string, t store.Tag, c Count)) error {
	d := newDecoder(data)
	var e entry
	for d.Left() > 0 {
		e.page = d.text(e.page)
		e.tag = store.Tag{Key: d.text(e.tag.Key), Value: d.text(e.tag.Value)}
		e.Traces = d.Uint()
		e.First += d.Int()
		e.Last = e.First + d.Int()
		if d.Err() == nil {
			f(e.page, e.tag, e.Count)
		}
	}
	return d.Err()
}
