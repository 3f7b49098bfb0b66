package layout

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
)

// Row is a trace under one of its pages.
type Row struct {
	Page     string
	ID       store.ID
	Received int64    // µs since the epoch
	Others   []string // its other pages, sorted
	Tags     []store.Tag
	Payload  []byte
}

// key names a row of a page.
type key struct {
	view  [16]byte
	chunk uint32
}

func keyOf(id store.ID) key { return key{id.View, id.Chunk} }

func compareKeys(a, b key) int {
	return cmp.Or(bytes.Compare(a.view[:], b.view[:]), cmp.Compare(a.chunk, b.chunk))
}

// CompareRows orders rows by page, view and chunk; of those that are the same, the first that came.
func CompareRows(a, b *Row) int {
	return cmp.Or(cmp.Compare(a.Page, b.Page), compareKeys(keyOf(a.ID), keyOf(b.ID)), cmp.Compare(a.Received, b.Received))
}

// ShardOf returns which of the shards has a page.
func ShardOf(page string, shards int) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(page)) // a hash takes everything
	return int(h.Sum64() % uint64(shards))
}

// appendRow appends r without its page.
func appendRow(dst []byte, r *Row, withTags bool) []byte {
	dst = append(dst, r.ID.View[:]...)
	dst = binary.AppendUvarint(dst, uint64(r.ID.Chunk))
	dst = binary.AppendUvarint(dst, uint64(r.Received))
	dst = binary.AppendUvarint(dst, uint64(len(r.Others)))
	for _, p := range r.Others {
		dst = appendText(dst, p)
	}
	if withTags {
		dst = binary.AppendUvarint(dst, uint64(len(r.Tags)))
		for _, t := range r.Tags {
			dst = appendText(appendText(dst, t.Key), t.Value)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.Payload)))
	return append(dst, r.Payload...)
}

func appendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// decoder reads what a block holds. After the first failure it returns zeros.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", block.ErrDamaged, what)
	}
	d.rest = nil
}

func (d *decoder) number(most uint64, what string) uint64 {
	x, n := binary.Uvarint(d.rest)
	if n <= 0 || x > most {
		d.fail(what)
		return 0
	}
	d.rest = d.rest[n:]
	return x
}

// length reads how many bytes or things follow, each of which takes a byte at least.
func (d *decoder) length(most int, what string) int {
	return int(d.number(uint64(min(most, len(d.rest))), what))
}

func (d *decoder) bytes(n int, what string) []byte {
	if n > len(d.rest) {
		d.fail(what)
		return nil
	}
	out := d.rest[:n:n]
	d.rest = d.rest[n:]
	return out
}

func (d *decoder) text(most int, what string) string {
	return string(d.bytes(d.length(most, what), what))
}

func (d *decoder) key() (k key) {
	copy(k.view[:], d.bytes(len(k.view), "a page view"))
	k.chunk = uint32(d.number(math.MaxUint32, "a chunk"))
	return k
}

// row reads a row of a page. Its payload shares memory with what is read.
func (d *decoder) row(page string, withTags bool) Row {
	k := d.key()
	r := Row{Page: page, ID: store.ID{View: k.view, Chunk: k.chunk}}
	r.Received = int64(d.number(math.MaxInt64, "a time"))
	for range d.length(store.MaxPages, "how many pages") {
		r.Others = append(r.Others, d.text(store.MaxPage, "a page"))
	}
	if withTags {
		for range d.length(store.MaxTags, "how many tags") {
			r.Tags = append(r.Tags, store.Tag{Key: d.text(store.MaxTagKey, "a tag"), Value: d.text(store.MaxTagValue, "a tag")})
		}
	}
	r.Payload = d.bytes(d.length(len(d.rest), "a payload"), "a payload")
	return r
}

// RowsOf returns a record as the rows of its pages, which are sorted and distinct.
func RowsOf(rec *store.Record, received int64) []Row {
	pages := slices.Clone(rec.Pages)
	slices.Sort(pages)
	pages = slices.Compact(pages)
	tags := slices.SortedFunc(slices.Values(rec.Tags), compareTags)
	tags = slices.Compact(tags)
	out := make([]Row, len(pages))
	for i, p := range pages {
		out[i] = Row{p, rec.ID, received, without(pages, i), tags, rec.Payload}
	}
	return out
}

func compareTags(a, b store.Tag) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
}

// without returns the elements of s but for the one at i.
func without(s []string, i int) []string {
	if len(s) == 1 {
		return nil
	}
	return append(slices.Clone(s[:i]), s[i+1:]...)
}

// Nearby returns the hours in which rows for an hour may be as well: it, the one before, those in which they were received, the
// neighbours of these, and those of the manifest that have something of that time: what lay in a spool is in the hour in which it came.
func (m *Manifest) Nearby(hour string, rows []Row) map[string]bool {
	near := map[string]bool{HourAfter(hour, -1): true, hour: true}
	last := time.Time{}
	for i := range rows {
		at := time.UnixMicro(rows[i].Received).Truncate(time.Hour)
		if at.Equal(last) {
			continue
		}
		last = at
		for n := -1; n <= 1; n++ {
			near[HourOf(at.Add(time.Duration(n)*time.Hour))] = true
		}
		for name, h := range m.Hours {
			if h.MayHave(at) {
				near[name] = true
			}
		}
	}
	return near
}

// MayHave reports whether h may have something that was received in the hour that begins at a time, or in a neighbour of that.
func (h *Hour) MayHave(at time.Time) bool {
	return h.First < at.Add(2*time.Hour).UnixMicro() && h.Last >= at.Add(-time.Hour).UnixMicro()
}
