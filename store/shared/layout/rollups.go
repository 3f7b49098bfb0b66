package layout

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

// Counted is the number of traces with a tag, and when the first and the last of them were received
// (µs).
type Counted struct {
	Traces      uint64
	First, Last int64
}

func (c *Counted) add(o Counted) {
	if c.Traces == 0 {
		*c = o
		return
	}
	c.Traces += o.Traces
	c.First, c.Last = min(c.First, o.First), max(c.Last, o.Last)
}

// Catalog counts the traces of a page by tag. The zero tag counts all traces.
type Catalog map[store.Tag]Counted

// Add adds n traces with a tag.
func (c Catalog) Add(t store.Tag, n Counted) {
	x := c[t]
	x.add(n)
	c[t] = x
}

// Page is the rollup of a page over some time.
type Page struct {
	*rollup.Builder
	Counts Catalog
}

// NewPage returns an empty rollup of a page.
func (b *Bucket) NewPage(page string) *Page {
	return &Page{rollup.NewWholeBuilder(page, b.rollups), Catalog{}}
}

// Empty reports whether the rollup has neither sums nor traces. Traces that cannot be decoded still
// count.
func (p *Page) Empty() bool { return p.Builder.Empty() && len(p.Counts) == 0 }

// AddCount adds page views without a trace, or Web Vitals.
func (p *Page) AddCount(x *Count) {
	if x.Reason != "" {
		p.AddOutcome(x.Reason, x.Views)
	}
	for i := range x.Vitals {
		p.AddVital(&x.Vitals[i])
	}
}

// OpenLevels are the levels of rollups that are still added to; closedLevels are the levels of
// final ones.
func OpenLevels() []rollup.Level   { return []rollup.Level{rollup.Wide, rollup.Details} }
func closedLevels() []rollup.Level { return []rollup.Level{rollup.Narrow, rollup.Wide, rollup.Details} }

// RollupWriter writes an object of rollups page by page, so that only one page has to be in memory.
type RollupWriter struct {
	w        *block.Writer
	final    bool
	catalogs []pageCatalog // written after all pages, so that one range read covers all of them
	counts   int           // bytes of catalogues
}

type pageCatalog struct {
	page   string
	traces int
	data   []byte
}

// NewRollupWriter returns a writer. If final is set, no traces will be added to these rollups
// later.
func NewRollupWriter(c *block.Codec, final bool) *RollupWriter {
	return &RollupWriter{w: block.NewWriter(c), final: final}
}

// Add adds a page. Blocks that the same query reads are adjacent.
func (w *RollupWriter) Add(page string, p *Page) error {
	levels := OpenLevels()
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
	counts := encodeCatalog(p.Counts)
	w.catalogs = append(w.catalogs, pageCatalog{page, int(p.Counts[store.Tag{}].Traces), counts})
	w.counts += len(counts)
	return nil
}

// Size returns the approximate size of the object so far, in bytes.
func (w *RollupWriter) Size() int { return w.w.Size() + w.counts }

// Rows returns zeros, because rollups have no rows.
func (w *RollupWriter) Rows() (n int, first, last int64) { return 0, 0, 0 }

// Finish returns the object with a key.
func (w *RollupWriter) Finish(key string) ([]byte, error) {
	for _, x := range w.catalogs {
		if err := w.w.Add(kindCatalog, x.page, x.traces, x.data); err != nil {
			return nil, err
		}
	}
	return w.w.Finish(key), nil
}

func encodeCatalog(c Catalog) (out []byte) {
	tags := slices.SortedFunc(maps.Keys(c), store.CompareTags)
	for _, t := range tags {
		n := c[t]
		out = appendText(appendText(out, t.Key), t.Value)
		out = binary.AppendUvarint(out, n.Traces)
		out = binary.AppendUvarint(out, uint64(n.First))
		out = binary.AppendUvarint(out, uint64(n.Last-n.First))
	}
	return out
}

func decodeCatalog(data []byte) (Catalog, error) {
	out := Catalog{}
	d := newDecoder(data)
	for d.Left() > 0 {
		t := store.Tag{Key: d.Text(store.MaxTagKey), Value: d.Text(store.MaxTagValue)}
		n := Counted{Traces: d.AtMost(math.MaxInt64)}
		n.First = int64(d.AtMost(math.MaxInt64))
		n.Last = n.First + int64(d.AtMost(math.MaxInt64))
		out[t] = n
	}
	return out, d.Err()
}

// PageRecords are the decoded rollups of a page from one object.
type PageRecords struct {
	Stacks  *trie.Trie
	Records []*rollup.Record
	Size    int // bytes, decompressed
}

// decodeRecords decodes a stack table and the records that refer to it.
func decodeRecords(stacks []byte, records [][]byte) (*PageRecords, error) {
	out := &PageRecords{Stacks: trie.New(), Size: len(stacks)}
	if err := rollup.DecodeStacks(out.Stacks, stacks); err != nil {
		return nil, fmt.Errorf("%w: %w", block.ErrDamaged, err)
	}
	for _, data := range records {
		rec, err := rollup.Decode(data, out.Stacks)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", block.ErrDamaged, err)
		}
		out.Records, out.Size = append(out.Records, rec), out.Size+len(data)
	}
	return out, nil
}

// addTo adds the records to the rollup of a page.
func (x *PageRecords) addTo(p *Page) {
	for _, rec := range x.Records {
		p.AddRecord(rec, x.Stacks)
	}
}

// AddReports adds the parts that do not come from traces to a page: page views without a trace, and
// the Web Vitals that keep accepts.
func (x *PageRecords) AddReports(p *Page, keep func(*rollup.Vital) bool) {
	for _, rec := range x.Records {
		for _, out := range rec.Outcomes {
			p.AddOutcome(out.Reason, out.Views)
		}
		for i := range rec.Vitals {
			if keep(&rec.Vitals[i]) {
				p.AddVital(&rec.Vitals[i])
			}
		}
	}
}
