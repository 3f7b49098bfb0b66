package layout

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Kinds of blocks. In a segment, blocks are named by shard instead of by page.
const (
	kindRows     = iota + 1 // of segments: rows with tags, sorted by page
	kindCounts              // of segments: page views without a trace, and Web Vitals
	kindTraces              // of runs: rows of a page
	kindKeys                // of runs: keys of all rows of a page
	kindStacks              // of rollups: the stack table of a page
	kindRecord              // of rollups: records; this and the next two are the levels, in the order of rollup.Level
	_                       //
	_                       //
	kindCatalog             // of rollups: the number of traces of a page by tag
	kindManifest            // of manifests: the only block
	kindChanges             // of the state of change detection: the only block
	kindDeletion            // of requests to delete: the only block
)

// Count is a report of page views without a trace, or of Web Vitals.
type Count struct {
	Page     string
	Received int64  // µs since the epoch
	Reason   string // why there is no trace; "" for Web Vitals
	Views    int64
	Vitals   []rollup.Vital
}

// Batch is the content of a segment.
type Batch struct {
	Rows   []Row
	Counts []Count
}

// EncodeSegment returns the content of b, which it sorts, to be stored under this key only: readers
// compare the key that it contains.
func EncodeSegment(c *block.Codec, key string, b *Batch, shards int) ([]byte, error) {
	slices.SortStableFunc(b.Rows, func(x, y Row) int { return CompareRows(&x, &y) })
	slices.SortStableFunc(b.Counts, func(x, y Count) int { return cmp.Compare(x.Page, y.Page) })
	type shard struct {
		rows, counts   []byte
		nrows, ncounts int
		page           string
	}
	list := make([]shard, shards)
	for i := range b.Rows {
		r := &b.Rows[i]
		s := &list[ShardOf(r.Page, shards)]
		s.rows = appendText(s.rows, changed(&s.page, r.Page))
		s.rows = appendRow(s.rows, r, true)
		s.nrows++
	}
	for i := range list {
		list[i].page = ""
	}
	for i := range b.Counts {
		x := &b.Counts[i]
		s := &list[ShardOf(x.Page, shards)]
		s.counts = appendText(s.counts, changed(&s.page, x.Page))
		s.counts = binary.AppendUvarint(s.counts, uint64(x.Received))
		s.counts = appendText(s.counts, x.Reason)
		s.counts = binary.AppendUvarint(s.counts, uint64(x.Views))
		if x.Reason == "" {
			s.counts = appendText(s.counts, string(rollup.EncodeVitals(x.Vitals)))
		}
		s.ncounts++
	}
	w := block.NewWriter(c)
	for i := range list {
		if s := &list[i]; s.nrows > 0 {
			if err := w.Add(kindRows, ShardName(i), s.nrows, s.rows); err != nil {
				return nil, err
			}
		}
	}
	for i := range list {
		if s := &list[i]; s.ncounts > 0 {
			if err := w.Add(kindCounts, ShardName(i), s.ncounts, s.counts); err != nil {
				return nil, err
			}
		}
	}
	return w.Finish(key), nil
}

// changed returns "" if page equals *last. Otherwise it returns page and stores it in *last.
func changed(last *string, page string) string {
	if *last == page {
		return ""
	}
	*last = page
	return page
}

// decodeRows returns the rows of a shard in a segment.
func decodeRows(data []byte, n int) ([]Row, error) {
	d := newDecoder(data)
	out := make([]Row, 0, min(n, len(data)))
	page := ""
	for d.Left() > 0 {
		page = cmp.Or(d.Text(store.MaxPage), page)
		out = append(out, d.row(page, true))
	}
	return out, d.Err()
}

// decodeCounts returns the counts of a shard in a segment.
func decodeCounts(data []byte) (out []Count, err error) {
	d := newDecoder(data)
	page := ""
	for d.Left() > 0 {
		page = cmp.Or(d.Text(store.MaxPage), page)
		x := Count{Page: page, Received: int64(d.AtMost(math.MaxInt64))}
		x.Reason = d.Text(store.MaxTagValue)
		x.Views = int64(d.AtMost(1 << 62))
		if x.Reason == "" {
			vitals := d.Bytes(d.Length(1))
			if d.Err() == nil {
				if x.Vitals, err = rollup.DecodeVitals(vitals); err != nil {
					d.Fail("vitals")
				}
			}
		}
		out = append(out, x)
	}
	return out, d.Err()
}

// ShardName returns the name of a shard in keys.
func ShardName(n int) string { return fmt.Sprintf("%03d", n) }

// Segment identifies a segment by its hour, the instance of the node that wrote it, and its
// sequence number.
type Segment struct {
	Hour     string
	Instance string
	Seq      uint64
}

// Segments is the folder of segments.
const Segments = objects.Fresh

// Key returns the key of s: seg/HOUR/INSTANCE-SEQ, with a sequence number of at least 8 digits.
func (s Segment) Key() string {
	return fmt.Sprintf("%s%s/%s-%08d", Segments, s.Hour, s.Instance, s.Seq)
}

// ParseSegment parses the key of a segment. It returns false if k is not one.
func ParseSegment(k string) (s Segment, ok bool) {
	rest, ok1 := strings.CutPrefix(k, Segments)
	hour, rest, ok2 := strings.Cut(rest, "/")
	instance, seq, ok3 := strings.Cut(rest, "-")
	n, err := strconv.ParseUint(seq, 10, 64)
	if _, e := ParseHour(hour); e != nil || err != nil || !ok1 || !ok2 || !ok3 || n == 0 {
		return s, false
	}
	s = Segment{hour, instance, n}
	return s, s.Key() == k
}

// Quarantine is the folder of segments that cannot be read.
const Quarantine = "quarantine/"

// QuarantineKey returns the key to which s is moved if it cannot be read.
func (s Segment) QuarantineKey() string { return Quarantine + strings.TrimPrefix(s.Key(), Segments) }
