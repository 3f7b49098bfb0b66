package layout

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/wire"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Row is a trace under one of its pages.
type Row struct {
	Page     string
	ID       store.ID
	Received int64    // µs since the epoch
	Others   []string // its other pages, sorted
	Tags     []store.Tag
	Payload  []byte      // nil if Trace is set
	Trace    *trie.Trace // of a packed block, see [Row.Document]

	set   *trie.Set // the set that contains Trace
	inSet int       // the index of Trace in set
}

// key identifies a row of a page.
type key struct {
	view  [16]byte
	chunk uint32
}

func keyOf(id store.ID) key { return key{id.View, id.Chunk} }

func compareKeys(a, b key) int {
	return cmp.Or(bytes.Compare(a.view[:], b.view[:]), cmp.Compare(a.chunk, b.chunk))
}

// CompareRows orders rows by page, view and chunk, and duplicates by the time at which they were
// received.
func CompareRows(a, b *Row) int {
	return cmp.Or(cmp.Compare(a.Page, b.Page), compareKeys(keyOf(a.ID), keyOf(b.ID)), cmp.Compare(a.Received,
		b.Received))
}

// ShardOf returns the shard of a page, from 0 to shards-1. It must not change, because keys of
// stored objects depend on it.
func ShardOf(page string, shards int) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(page)) // a hash never returns an error
	return int(h.Sum64() % uint64(shards))
}

// appendRow appends r without its page.
func appendRow(dst []byte, r *Row, withTags bool) []byte {
	dst = appendKey(dst, r.ID)
	dst = binary.AppendUvarint(dst, uint64(r.Received))
	dst = appendPages(dst, r.Others)
	if withTags {
		dst = binary.AppendUvarint(dst, uint64(len(r.Tags)))
		for _, t := range r.Tags {
			dst = appendText(appendText(dst, t.Key), t.Value)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.Payload)))
	return append(dst, r.Payload...)
}

// appendKey appends a key as [decoder.key] reads it.
func appendKey(dst []byte, id store.ID) []byte {
	return binary.AppendUvarint(append(dst, id.View[:]...), uint64(id.Chunk))
}

// appendPages appends pages as [decoder.pages] reads them.
func appendPages(dst []byte, pages []string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(pages)))
	for _, p := range pages {
		dst = appendText(dst, p)
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// decoder decodes the content of a block.
type decoder struct{ wire.Reader }

func newDecoder(b []byte) decoder { return decoder{wire.NewReader(b, block.ErrDamaged)} }

func (d *decoder) key() (k key) {
	copy(k.view[:], d.Bytes(len(k.view)))
	k.chunk = uint32(d.AtMost(math.MaxUint32))
	return k
}

func (d *decoder) pages() (out []string) {
	for range d.LengthAtMost(store.MaxPages, 1) {
		out = append(out, d.Text(store.MaxPage))
	}
	return out
}

// row decodes a row of a page. Its payload shares memory with the block.
func (d *decoder) row(page string, withTags bool) Row {
	k := d.key()
	r := Row{Page: page, ID: store.ID{View: k.view, Chunk: k.chunk}}
	r.Received = int64(d.AtMost(math.MaxInt64))
	r.Others = d.pages()
	if withTags {
		for range d.LengthAtMost(store.MaxTags, 1) {
			r.Tags = append(r.Tags, store.Tag{Key: d.Text(store.MaxTagKey), Value: d.Text(store.MaxTagValue)})
		}
	}
	r.Payload = d.Bytes(d.Length(1))
	return r
}

// RowsOf returns one row for each distinct page of a record, sorted by page.
func RowsOf(rec *store.Record, received int64) []Row {
	pages := slices.Clone(rec.Pages)
	slices.Sort(pages)
	pages = slices.Compact(pages)
	tags := slices.SortedFunc(slices.Values(rec.Tags), store.CompareTags)
	tags = slices.Compact(tags)
	out := make([]Row, len(pages))
	for i, p := range pages {
		out[i] = Row{Page: p, ID: rec.ID, Received: received, Others: slices.Concat(pages[:i], pages[i+1:]), Tags: tags,
			Payload: rec.Payload}
	}
	return out
}

// Nearby returns the hours that may contain duplicates of rows: hour itself and the one before it;
// the hours in which the rows were received and their neighbours; and every hour in the manifest
// with data from that time, because spooled traces are stored in the hour in which they were
// uploaded.
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

// MayHave reports whether h may have traces that were received in the hour after at, the
// hour before that, or the hour after that.
func (h *Hour) MayHave(at time.Time) bool {
	return h.First < at.Add(2*time.Hour).UnixMicro() && h.Last >= at.Add(-time.Hour).UnixMicro()
}
