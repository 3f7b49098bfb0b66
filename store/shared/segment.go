package shared

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
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Kinds of blocks. Those of segments have the number of the shard for a page.
const (
	kindRows     = iota + 1 // of segments: rows with tags, page by page
	kindCounts              // of segments: page views without a trace, and Web Vitals
	kindTraces              // of runs: rows of a page
	kindKeys                // of runs: keys of all rows of a page
	kindStacks              // of sums: the stack table of a page
	kindRecord              // of sums: and two more, records of the levels, in the order of rollup.Level
	_                       //
	_                       //
	kindCatalog             // of sums: how many traces of a page have which tag
	kindManifest            // the only one of a manifest
)

// count is what page views of a page say that have no trace.
type count struct {
	page     string
	received int64  // µs since the epoch
	reason   string // why there is no trace, "" if it is about vitals
	views    int64
	vitals   []rollup.Vital
}

// batch is what goes into a segment.
type batch struct {
	rows   []row
	counts []count
}

// encodeSegment returns a segment with what is in b, which it sorts.
func encodeSegment(c *block.Codec, b *batch, shards int) ([]byte, error) {
	slices.SortStableFunc(b.rows, func(x, y row) int { return compareRows(&x, &y) })
	slices.SortStableFunc(b.counts, func(x, y count) int { return cmp.Compare(x.page, y.page) })
	type shard struct {
		rows, counts   []byte
		nrows, ncounts int
		page           string
	}
	list := make([]shard, shards)
	for i := range b.rows {
		r := &b.rows[i]
		s := &list[shardOf(r.page, shards)]
		s.rows = appendText(s.rows, changed(&s.page, r.page))
		s.rows = appendRow(s.rows, r, true)
		s.nrows++
	}
	for i := range list {
		list[i].page = ""
	}
	for i := range b.counts {
		x := &b.counts[i]
		s := &list[shardOf(x.page, shards)]
		s.counts = appendText(s.counts, changed(&s.page, x.page))
		s.counts = binary.AppendUvarint(s.counts, uint64(x.received))
		s.counts = appendText(s.counts, x.reason)
		s.counts = binary.AppendUvarint(s.counts, uint64(x.views))
		if x.reason == "" {
			s.counts = appendText(s.counts, string(rollup.EncodeVitals(x.vitals)))
		}
		s.ncounts++
	}
	w := block.NewWriter(c)
	for i := range list {
		if s := &list[i]; s.nrows > 0 {
			if err := w.Add(kindRows, shardName(i), s.nrows, s.rows); err != nil {
				return nil, err
			}
		}
	}
	for i := range list {
		if s := &list[i]; s.ncounts > 0 {
			if err := w.Add(kindCounts, shardName(i), s.ncounts, s.counts); err != nil {
				return nil, err
			}
		}
	}
	return w.Finish(), nil
}

// changed returns page, or "" if it is the last one, and makes it that.
func changed(last *string, page string) string {
	if *last == page {
		return ""
	}
	*last = page
	return page
}

// decodeRows returns the rows of a shard in a segment.
func decodeRows(data []byte, n int) ([]row, error) {
	d := decoder{rest: data}
	out := make([]row, 0, min(n, len(data)))
	page := ""
	for len(d.rest) > 0 {
		page = cmp.Or(d.text(store.MaxPage, "a page"), page)
		out = append(out, d.row(page, true))
	}
	return out, d.err
}

// decodeCounts returns the counts of a shard in a segment.
func decodeCounts(data []byte) (out []count, err error) {
	d := decoder{rest: data}
	page := ""
	for len(d.rest) > 0 {
		page = cmp.Or(d.text(store.MaxPage, "a page"), page)
		x := count{page: page, received: int64(d.number(math.MaxInt64, "a time"))}
		x.reason = d.text(store.MaxTagValue, "a reason")
		x.views = int64(d.number(1<<62, "a number of page views"))
		if x.reason == "" {
			vitals := d.bytes(d.length(len(d.rest), "vitals"), "vitals")
			if d.err == nil {
				if x.vitals, err = rollup.DecodeVitals(vitals); err != nil {
					d.fail("vitals")
				}
			}
		}
		out = append(out, x)
	}
	return out, d.err
}

func shardName(n int) string { return fmt.Sprintf("%03d", n) }

// segmentName says which segment it is: the seq-th of one life of a machine.
type segmentName struct {
	hour string
	boot string
	seq  uint64
}

const segments = "seg/"

func (s segmentName) key() string {
	return fmt.Sprintf("%s%s/%s-%08d", segments, s.hour, s.boot, s.seq)
}

// parseSegmentKey reads the key of a segment; ok is false if it is another's.
func parseSegmentKey(k string) (s segmentName, ok bool) {
	rest, ok1 := strings.CutPrefix(k, segments)
	hour, rest, ok2 := strings.Cut(rest, "/")
	boot, seq, ok3 := strings.Cut(rest, "-")
	n, err := strconv.ParseUint(seq, 10, 64)
	if _, e := parseHour(hour); e != nil || err != nil || !ok1 || !ok2 || !ok3 || n == 0 {
		return s, false
	}
	s = segmentName{hour, boot, n}
	return s, s.key() == k
}

// aside is where segments are kept that can not be read.
const aside = "bad/"

func (s segmentName) asideKey() string { return aside + strings.TrimPrefix(s.key(), segments) }
