package shared

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// counted says how many traces carry a tag, and when they were received (µs).
type counted struct {
	traces      uint64
	first, last int64
}

func (c *counted) add(o counted) {
	if c.traces == 0 {
		*c = o
		return
	}
	c.traces += o.traces
	c.first, c.last = min(c.first, o.first), max(c.last, o.last)
}

// catalog says how many traces of a page carry which tag; the zero tag is all traces.
type catalog map[store.Tag]counted

func (c catalog) add(t store.Tag, n counted) {
	x := c[t]
	x.add(n)
	c[t] = x
}

// pageSum is what is known of a page in some time.
type pageSum struct {
	*rollup.Builder
	counts catalog
}

// newPageSum returns what is known of a page of which nothing was received.
func (b *view) newPageSum(page string) *pageSum {
	return &pageSum{rollup.NewWholeBuilder(page, b.rollups), catalog{}}
}

// addCount adds page views without a trace, or Web Vitals.
func (p *pageSum) addCount(x *count) {
	if x.reason != "" {
		p.AddOutcome(x.reason, x.views)
	}
	for i := range x.vitals {
		p.AddVital(&x.vitals[i])
	}
}

// openLevels are the records of what will still be added to, and closedLevels those of what will not.
func openLevels() []rollup.Level   { return []rollup.Level{rollup.Wide, rollup.Details} }
func closedLevels() []rollup.Level { return []rollup.Level{rollup.Narrow, rollup.Wide, rollup.Details} }

// sumsWriter makes an object with sums, one page after the other, so that only one of them has to be in memory.
type sumsWriter struct {
	w        *block.Writer
	final    bool
	catalogs []pageCatalog // which lie behind all else, so that those of all pages are one range
	counts   int           // bytes of them
}

type pageCatalog struct {
	page   string
	traces int
	data   []byte
}

func newSumsWriter(c *block.Codec, final bool) *sumsWriter {
	return &sumsWriter{w: block.NewWriter(c), final: final}
}

// add adds a page. What a question about it reads lies together.
func (w *sumsWriter) add(page string, p *pageSum) error {
	levels := openLevels()
	if w.final {
		levels = closedLevels()
	}
	records := make([][]byte, len(levels))
	for i, level := range levels {
		records[i] = p.Encode(level, w.final)
	}
	if err := w.w.Add(kindStacks, page, 0, rollup.EncodeStacks(p.Stacks(), rollup.SizeOf(trie.New()))); err != nil {
		return err
	}
	for i, level := range levels {
		if err := w.w.Add(kindRecord+byte(level), page, 0, records[i]); err != nil {
			return err
		}
	}
	counts := encodeCatalog(p.counts)
	w.catalogs = append(w.catalogs, pageCatalog{page, int(p.counts[store.Tag{}].traces), counts})
	w.counts += len(counts)
	return nil
}

// size returns about how large the object is so far.
func (w *sumsWriter) size() int { return w.w.Size() + w.counts }

// count is for objects with rows.
func (w *sumsWriter) count() int { return 0 }

func (w *sumsWriter) finish() ([]byte, error) {
	for _, x := range w.catalogs {
		if err := w.w.Add(kindCatalog, x.page, x.traces, x.data); err != nil {
			return nil, err
		}
	}
	return w.w.Finish(), nil
}

func encodeCatalog(c catalog) (out []byte) {
	tags := slices.SortedFunc(maps.Keys(c), compareTags)
	for _, t := range tags {
		n := c[t]
		out = appendText(appendText(out, t.Key), t.Value)
		out = binary.AppendUvarint(out, n.traces)
		out = binary.AppendUvarint(out, uint64(n.first))
		out = binary.AppendUvarint(out, uint64(n.last-n.first))
	}
	return out
}

func decodeCatalog(data []byte) (catalog, error) {
	out := catalog{}
	d := decoder{rest: data}
	for len(d.rest) > 0 {
		t := store.Tag{Key: d.text(store.MaxTagKey, "a tag"), Value: d.text(store.MaxTagValue, "a tag")}
		n := counted{traces: d.number(math.MaxInt64, "a count")}
		n.first = int64(d.number(math.MaxInt64, "a time"))
		n.last = n.first + int64(d.number(math.MaxInt64, "a time"))
		out[t] = n
	}
	return out, d.err
}

// summed is what an object of sums has of a page.
type summed struct {
	stacks  *trie.Trie
	records []*rollup.Record
	size    int // bytes, decompressed
}

// decodeSummed reads a stack table and records of it.
func decodeSummed(stacks []byte, records [][]byte) (*summed, error) {
	out := &summed{stacks: trie.New(), size: len(stacks)}
	if err := rollup.DecodeStacks(out.stacks, stacks); err != nil {
		return nil, fmt.Errorf("%w: %w", block.ErrDamaged, err)
	}
	for _, data := range records {
		rec, err := rollup.Decode(data, out.stacks)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", block.ErrDamaged, err)
		}
		out.records, out.size = append(out.records, rec), out.size+len(data)
	}
	return out, nil
}

// addTo adds what is summed to a page.
func (x *summed) addTo(p *pageSum) {
	for _, rec := range x.records {
		p.AddRecord(rec, x.stacks)
	}
}
