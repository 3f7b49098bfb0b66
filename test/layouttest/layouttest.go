// Package layouttest defines the objects of a store as literals, so that a test describes a
// complete segment, run or object of rollups in a few lines, and compares what it reads with
// another literal.
package layouttest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Interval is the time between two samples of a trace, in µs.
const Interval = 10_000

// Row is a trace under one of its pages.
type Row struct {
	Page   string
	View   string // up to 16 bytes
	Chunk  uint32
	At     int64 // when it was received, in µs
	Others []string
	Tags   []store.Tag // in segments

	// The trace has a sample for each of Samples, such as "f;g": g called by f.
	Release string
	Samples []string
	// Payload replaces the trace, for a trace that cannot be decoded or has a field that Row lacks.
	Payload string
}

// id returns the id of the trace.
func (r *Row) id() (id store.ID) {
	copy(id.View[:], r.View)
	id.Chunk = r.Chunk
	return id
}

// Trace returns the trace of a row without a payload.
func (r *Row) Trace() *trie.Trace {
	id := r.id()
	t := &trie.Trace{Trie: *trie.New()}
	t.Context = trie.Context{Page: r.Page, ViewID: string(id.View[:]), Chunk: r.Chunk, Interval: Interval,
		Release: r.Release}
	for i, stack := range r.Samples {
		var frames []trie.Frame
		for name := range strings.SplitSeq(stack, ";") {
			frames = append(frames, trie.Frame{Name: name, Resource: "https://x.example/app.js", Line: 1})
		}
		t.Samples = append(t.Samples, trie.Sample{Time: int64(i) * Interval, Node: t.Insert(frames...)})
	}
	return t
}

// encode returns the row in the form of objects.
func (r *Row) encode() (layout.Row, error) {
	out := layout.Row{Page: r.Page, ID: r.id(), Received: r.At, Others: r.Others, Tags: r.Tags,
		Payload: []byte(r.Payload)}
	var err error
	if r.Payload == "" {
		out.Payload, err = encode.EncodeTrace(r.Trace())
	}
	return out, err
}

// rowOf returns the row of an object as a literal.
func rowOf(x *layout.Row) (Row, error) {
	out := Row{Page: x.Page, View: strings.TrimRight(string(x.ID.View[:]), "\x00"), Chunk: x.ID.Chunk,
		At: x.Received, Others: x.Others, Tags: x.Tags}
	payload, err := x.Document()
	if err != nil {
		return out, err
	}
	var d encode.BinaryDecoder
	doc, err := d.Decode(payload, encode.FileLimits())
	if err != nil || doc.Trace == nil {
		out.Payload = string(payload)
		return out, nil
	}
	known := out
	known.Release = doc.Trace.Context.Release
	for _, s := range doc.Trace.Samples {
		var names []string
		for n := range doc.Trace.Stack(s.Node) {
			names = append(names, doc.Trace.Frame(n).Name)
		}
		slices.Reverse(names)
		known.Samples = append(known.Samples, strings.Join(names, ";"))
	}
	if same, err := known.encode(); err != nil || !bytes.Equal(same.Payload, payload) {
		out.Payload = string(payload)
		return out, nil
	}
	return known, nil
}

// Segment is a complete segment.
type Segment struct {
	Rows   []Row
	Counts []layout.Count
}

// Encode returns s as it is stored under the key. The order of the rows does not matter.
func (s *Segment) Encode(b *layout.Bucket, key string) ([]byte, error) {
	batch := &layout.Batch{Counts: slices.Clone(s.Counts)}
	for i := range s.Rows {
		row, err := s.Rows[i].encode()
		if err != nil {
			return nil, err
		}
		batch.Rows = append(batch.Rows, row)
	}
	return layout.EncodeSegment(b.Codec, key, batch, b.Shards)
}

// DecodeSegment returns a segment, sorted by shard.
func DecodeSegment(ctx context.Context, b *layout.Bucket, key string, body []byte) (out Segment, err error) {
	o, err := b.ParseSegment(key, body)
	if err != nil {
		return out, err
	}
	for shard := range b.Shards {
		batch, err := o.OfShard(ctx, shard)
		if err != nil {
			return out, err
		}
		for i := range batch.Rows {
			row, err := rowOf(&batch.Rows[i])
			if err != nil {
				return out, err
			}
			out.Rows = append(out.Rows, row)
		}
		out.Counts = append(out.Counts, batch.Counts...)
	}
	return out, nil
}

// Run is a complete run. Its rows are sorted by page, view and chunk.
type Run struct {
	Rows   []Row
	Packed bool // traces of a block share their tables, as in closed hours
}

// Encode returns r as it is stored under the key.
func (r *Run) Encode(b *layout.Bucket, key string) ([]byte, error) {
	w := layout.NewRunWriter(b.Codec)
	if r.Packed {
		w = layout.NewPackedWriter(b.Codec)
	}
	for i := range r.Rows {
		row, err := r.Rows[i].encode()
		if err == nil {
			err = w.Add(&row)
		}
		if err != nil {
			return nil, err
		}
	}
	return w.Finish(key)
}

// DecodeRun returns the run with a key. It is packed if one of its traces is.
func DecodeRun(ctx context.Context, b *layout.Bucket, key string) (out Run, err error) {
	o, err := b.Open(ctx, key)
	if err != nil {
		return out, err
	}
	err = layout.Merge(ctx, []*layout.Cursor{o.Rows(1)}, func(x *layout.Row) error {
		row, err := rowOf(x)
		out.Rows = append(out.Rows, row)
		out.Packed = out.Packed || x.Trace != nil
		return err
	})
	return out, err
}

// File returns a manifest's entry of the run with an id.
func (r *Run) File(id string) layout.File {
	out := layout.File{ID: id, Rows: len(r.Rows)}
	for i := range r.Rows {
		if at := r.Rows[i].At; out.First == 0 || at < out.First {
			out.First = at
		}
		out.Last = max(out.Last, r.Rows[i].At)
	}
	return out
}

// Rollups are the rollups of rows and counts. Rows are sorted by page, view and chunk.
type Rollups struct {
	Rows   []Row
	Counts []layout.Count
	Closed bool // complete: no more data is added
}

// Encode returns the rollups of r as they are stored under the key.
func (r *Rollups) Encode(b *layout.Bucket, key string) ([]byte, error) {
	pages := map[string]*layout.Page{}
	var names []string
	page := func(name string) *layout.Page {
		if pages[name] == nil {
			pages[name] = b.NewPage(name)
			names = append(names, name)
		}
		return pages[name]
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		p := page(row.Page)
		first := i == 0 || r.Rows[i-1].Page != row.Page || r.Rows[i-1].View != row.View
		last := i == len(r.Rows)-1 || r.Rows[i+1].Page != row.Page || r.Rows[i+1].View != row.View
		if first {
			p.Begin(1)
		}
		t, one := row.Trace(), layout.Counted{Traces: 1, First: row.At, Last: row.At}
		p.Add(t)
		p.Counts.Add(store.Tag{}, one)
		tags, _ := store.TagsOf(t)
		for _, tag := range tags {
			p.Counts.Add(tag, one)
		}
		if last {
			p.End()
		}
	}
	for i := range r.Counts {
		page(r.Counts[i].Page).AddCount(&r.Counts[i])
	}
	slices.Sort(names)
	w := layout.NewRollupWriter(b.Codec, r.Closed)
	for _, name := range names {
		if err := w.Add(name, pages[name]); err != nil {
			return nil, err
		}
	}
	return w.Finish(key)
}

// Sums are a page's sums in rollups.
type Sums struct {
	Views, Traces int64
	Self          map[string]int64 // by stack, such as "f;g", in µs
	Outcomes      map[string]int64 // page views without a trace, by reason
	Vitals        map[string]int64 // page views, by Web Vital
	Catalog       layout.Catalog
}

// DecodeRollups returns the rollups with a key, by page.
func DecodeRollups(ctx context.Context, b *layout.Bucket, key string) (out map[string]Sums, closed bool, err error) {
	o, err := b.Open(ctx, key)
	if err != nil {
		return nil, false, err
	}
	out = map[string]Sums{}
	closed = o.HasLevel(rollup.Narrow)
	for _, page := range layout.PagesOf([]*layout.Object{o}) {
		x, catalog, err := o.Page(ctx, page, layout.OpenLevels(), true)
		if err != nil {
			return nil, false, err
		}
		out[page] = sumsOf(x, catalog)
	}
	return out, closed, nil
}

func sumsOf(x *layout.PageRecords, catalog layout.Catalog) Sums {
	s := Sums{Catalog: catalog, Self: map[string]int64{}, Outcomes: map[string]int64{}, Vitals: map[string]int64{}}
	for _, rec := range x.Records {
		for _, o := range rec.Outcomes {
			s.Outcomes[o.Reason] += o.Views
		}
		for i := range rec.Vitals {
			s.Vitals[rec.Vitals[i].Name] += rec.Vitals[i].Views
		}
		if rec.Level != rollup.Wide {
			continue
		}
		s.Views, s.Traces = rec.Views()
		rec.EachWeight(func(_ int, n trie.NodeID, self, _ int64) {
			var names []string
			for n := range x.Stacks.Stack(n) {
				names = append(names, x.Stacks.Frame(n).Name)
			}
			slices.Reverse(names)
			s.Self[strings.Join(names, ";")] += self
		})
	}
	return s
}

// Spec is an object in readable form: a [Segment], a [Run] or [Rollups].
type Spec interface {
	Encode(b *layout.Bucket, key string) ([]byte, error)
}

// Put puts an object, and returns its size.
func Put(t testing.TB, b *layout.Bucket, key string, spec Spec) int64 {
	t.Helper()
	body, err := spec.Encode(b, key)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.PutObject(t.Context(), key, body); err != nil {
		t.Fatal(err)
	}
	return int64(len(body))
}

// NewBucket returns an empty bucket on a store.
func NewBucket(t testing.TB, on objects.Store, shards int) *layout.Bucket {
	t.Helper()
	b, err := layout.Create(t.Context(), on, layout.Options{Shards: shards, GiveUp: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
