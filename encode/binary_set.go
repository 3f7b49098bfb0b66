package encode

import (
	"errors"
	"math"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"

	fieldtriev1 "github.com/fieldtrie/fieldtrie/proto/fieldtrie/v1"
)

// EncodeSet encodes traces as one document, a set. Equal traces in the same order have equal bytes.
// Gapless traces have no encoding.
func EncodeSet(s *trie.Set) ([]byte, error) {
	s = s.Canonical()
	var tables fieldtriev1.Document
	trieColumns(&tables, &s.Trie)
	d := &fieldtriev1.Set{
		Magic:        SetVersion<<24 | magicNumber,
		ResourceText: tables.ResourceText, ResourceShared: tables.ResourceShared, ResourceLength: tables.ResourceLength,
		NameText: tables.NameText, NameLength: tables.NameLength,
		FrameName: tables.FrameName, FrameCount: tables.FrameCount, FramePosition: tables.FramePosition,
		ChainParent: tables.ChainParent, ChainLength: tables.ChainLength, NodeFrame: tables.NodeFrame,
	}
	w := setWriter{Set: d, contexts: map[string]uint32{}, spans: map[trie.Span]uint32{}}
	for i := range s.Traces {
		if s.Traces[i].Gapless {
			return nil, errors.New("a gapless trace cannot be written in the binary format")
		}
		if err := w.trace(&s.Traces[i]); err != nil {
			return nil, err
		}
	}
	w.unused(s)
	w.costs(s.Traces)
	d.SampleTime, d.SampleRun, d.SampleRunLength = w.samples.time, w.samples.run, w.samples.runLength
	d.Marker, d.MarkerRunLength = w.samples.markers()
	if len(d.Span) == 0 {
		d.TraceSpans = nil
	}
	if len(d.TraceNode) == 0 {
		d.TraceNodes = nil
	}
	return marshal(d)
}

// setWriter writes the columns of a set.
type setWriter struct {
	*fieldtriev1.Set
	samples  sampleColumns
	contexts map[string]uint32 // row numbers by their bytes
	spans    map[trie.Span]uint32
	view     string // of the last trace
	origin   int64
}

func (w *setWriter) trace(t *trie.Trace) error {
	c := t.Context
	c.ViewID, c.Chunk, c.TimeOrigin, c.Spans, c.Unknown = "", 0, 0, nil, nil
	p := contextColumns(&c)
	if p == nil {
		p = &fieldtriev1.Context{}
	}
	data, err := marshal(p)
	if err != nil {
		return err
	}
	row, ok := w.contexts[string(data)]
	if !ok {
		row = uint32(len(w.contexts))
		w.contexts[string(data)] = row
		w.Context = append(w.Context, p)
	}
	w.TraceContext = append(w.TraceContext, row)
	id := uint32(0)
	if view := t.Context.ViewID; len(w.Chunk) == 0 || view != w.view {
		id = uint32(len(view)) + 1
		w.ViewId, w.view = append(w.ViewId, view...), view
	}
	w.ViewIdLength = append(w.ViewIdLength, id)
	w.Chunk = append(w.Chunk, t.Context.Chunk)
	w.TimeOrigin = append(w.TimeOrigin, t.Context.TimeOrigin-w.origin)
	w.origin = t.Context.TimeOrigin
	start := int64(0)
	if len(t.Samples) > 0 {
		start = t.Samples[0].Time
	}
	w.TraceSamples = append(w.TraceSamples, uint32(len(t.Samples)))
	w.SampleStart = append(w.SampleStart, start)
	w.SampleUnit = append(w.SampleUnit, w.samples.add(t.Samples, int64(t.Context.Interval)))
	w.addSpans(t.Context.Spans)
	return nil
}

func (w *setWriter) addSpans(spans []trie.Span) {
	w.TraceSpans = append(w.TraceSpans, uint32(len(spans)))
	start := int64(0)
	for _, s := range spans {
		what := trie.Span{Kind: s.Kind, Name: s.Name}
		row, ok := w.spans[what]
		if !ok {
			row = uint32(len(w.spans))
			w.spans[what] = row
			w.SpanKind, w.SpanName = append(w.SpanKind, uint32(s.Kind)), append(w.SpanName, s.Name)
		}
		w.Span = append(w.Span, row)
		w.SpanStart = append(w.SpanStart, s.Start-start)
		w.SpanLength = append(w.SpanLength, uint64(s.Length))
		start = s.Start
	}
}

func (w *setWriter) unused(s *trie.Set) {
	last := int64(0)
	for _, list := range s.Unused {
		w.TraceNodes = append(w.TraceNodes, uint32(len(list)))
		for _, n := range list {
			w.TraceNode = append(w.TraceNode, int64(n)-last)
			last = int64(n)
		}
	}
}

func (w *setWriter) costs(traces []trie.Trace) {
	if !slices.ContainsFunc(traces, func(t trie.Trace) bool { return t.Cost != trie.Cost{} }) {
		return
	}
	for field := costStart; field < costEnd; field++ {
		for i := range traces {
			c := &traces[i].Cost
			w.Cost = append(w.Cost, [costEnd]uint32{costStart: c.Start, costStop: c.Stop, costEncode: c.Encode,
				costBytes: c.Bytes, costDropped: c.Dropped}[field])
		}
	}
}

// DecodeSet decodes a set. It shares no memory with d and data. It drops unknown fields.
func (d *BinaryDecoder) DecodeSet(data []byte, lim Limits) (*trie.Set, error) {
	r, err := d.begin(data, SetVersion, lim)
	if err != nil {
		return nil, err
	}
	s := &trie.Set{}
	if err := r.readSet(s); err != nil {
		return nil, err
	}
	return s, nil
}

func (r *documentReader) readSet(s *trie.Set) error {
	n := len(r.col(setTraceContext))
	if err := input.First(
		input.Check("trace_context", n, r.lim.Traces),
		r.sameRows(setTraceContext, setTraceSamples, setViewIDLength, setChunk, setTimeOrigin, colSampleStart,
			colSampleUnit),
		r.readTrie(&s.Trie),
	); err != nil {
		return err
	}
	s.Traces, s.Unused = make([]trie.Trace, n), make([][]trie.NodeID, n)
	s.Share()
	if err := input.First(r.readContexts(s.Traces), r.readViews(s.Traces), r.readSpans(s.Traces),
		r.readCosts(s.Traces)); err != nil {
		return err
	}
	for i := range s.Traces {
		if err := s.Traces[i].Context.Validate(); err != nil {
			return input.Refuse(input.Invalid, "", "trace %d: %w", i, err)
		}
	}
	return input.First(r.readSamples(s), r.readUnused(s))
}

// readContexts sets the parts of contexts that traces share.
func (r *documentReader) readContexts(traces []trie.Trace) error {
	if len(r.contexts) > len(traces) {
		return input.Refuse(input.Invalid, "context", "%d rows for %d traces", len(r.contexts), len(traces))
	}
	contexts := make([]trie.Context, len(r.contexts))
	for i, data := range r.contexts {
		p := &fieldtriev1.Context{}
		err := proto.Unmarshal(data, p)
		if err != nil {
			return &input.Error{Kind: input.Malformed, Field: "context", Err: err}
		}
		if len(p.ViewId) > 0 || p.Chunk != 0 || p.TimeOrigin != 0 || len(p.SpanKind) > 0 {
			return input.Refuse(input.Invalid, "context", "row %d: has what belongs to one trace", i)
		}
		if contexts[i], err = r.readContext(p); err != nil {
			return err
		}
		contexts[i].Unknown = nil
	}
	for i, row := range r.col(setTraceContext) {
		if row >= uint64(len(contexts)) {
			return input.Refuse(input.Invalid, "trace_context", "row %d: context %d of %d", i, row, len(contexts))
		}
		traces[i].Context = contexts[row]
	}
	return nil
}

// readViews gives traces their view ids, chunks and time origins.
func (r *documentReader) readViews(traces []trie.Trace) error {
	all := string(r.viewIDs)
	view, origin := "", int64(0)
	for i := range traces {
		if n := r.col(setViewIDLength)[i]; n > 0 {
			if n-1 > uint64(len(all)) {
				return input.Refuse(input.Invalid, "view_id_length", "row %d: %d bytes, but view_id has %d left", i,
					n-1, len(all))
			}
			view, all = all[:n-1], all[n-1:]
		}
		chunk := r.col(setChunk)[i]
		if chunk > math.MaxUint32 {
			return input.Refuse(input.Invalid, "chunk", "row %d: %d is over 32 bits", i, chunk)
		}
		origin += unzigzag(r.col(setTimeOrigin)[i]) // Validate bounds it, and what overflows is bounded again
		c := &traces[i].Context
		c.ViewID, c.Chunk, c.TimeOrigin = view, uint32(chunk), origin
	}
	if len(all) > 0 {
		return input.Refuse(input.Invalid, "view_id", "%d bytes belong to no trace", len(all))
	}
	return nil
}

// readSpans gives traces their spans.
func (r *documentReader) readSpans(traces []trie.Trace) error {
	kinds, rows := r.col(setSpanKind), r.col(setSpan)
	if err := input.First(
		input.Check("span", len(rows), r.lim.Spans),
		r.sameRows(setSpan, setSpanStart, setSpanLength),
	); err != nil {
		return err
	}
	if len(r.spanNames) != len(kinds) || len(kinds) > len(rows) {
		return input.Refuse(input.Invalid, "span_name", "%d rows, span_kind has %d, for %d spans", len(r.spanNames),
			len(kinds), len(rows))
	}
	names := make([]trie.Span, len(kinds))
	for i, name := range r.spanNames {
		if len(name) > r.lim.TextBytes {
			return input.Refuse(input.TooLarge, "span_name", "row %d: %d bytes, the most is %d", i, len(name),
				r.lim.TextBytes)
		}
		if kinds[i] > uint64(trie.SpanLabel) || !utf8.Valid(name) {
			return input.Refuse(input.Invalid, "span_name", "row %d: unknown kind, or not UTF-8", i)
		}
		names[i] = trie.Span{Kind: trie.SpanKind(kinds[i]), Name: string(name)}
	}
	counts, err := r.counts(setTraceSpans, len(traces), len(rows))
	if err != nil {
		return err
	}
	all, at := make([]trie.Span, len(rows)), 0
	for i, n := range counts {
		start := int64(0)
		for k := at; k < at+int(n); k++ {
			step, length, row := unzigzag(r.col(setSpanStart)[k]), r.col(setSpanLength)[k], rows[k]
			if row >= uint64(len(names)) || step < -4*trie.MaxTime || step > 4*trie.MaxTime || length > 2*trie.MaxTime {
				return input.Refuse(input.Invalid, "span", "row %d is out of range", k)
			}
			start += step
			all[k] = trie.Span{Kind: names[row].Kind, Name: names[row].Name, Start: start, Length: int64(length)}
		}
		if n > 0 {
			traces[i].Context.Spans = all[at : at+int(n) : at+int(n)]
		}
		at += int(n)
	}
	return nil
}

// counts returns a column with a number for each trace, or none. Its sum must be all.
func (r *documentReader) counts(field, traces, all int) ([]uint64, error) {
	counts := r.col(field)
	if len(counts) > 0 && len(counts) != traces {
		return nil, input.Refuse(input.Invalid, r.name(field), "%d rows for %d traces", len(counts), traces)
	}
	for _, n := range counts {
		if n > uint64(all) {
			return nil, input.Refuse(input.Invalid, r.name(field), "the rows are more than there are")
		}
		all -= int(n)
	}
	if all > 0 {
		return nil, input.Refuse(input.Invalid, r.name(field), "%d rows belong to no trace", all)
	}
	return counts, nil
}

func (r *documentReader) readCosts(traces []trie.Trace) error {
	costs := r.col(setCost)
	if len(costs) == 0 {
		return nil
	}
	if len(costs) != (costEnd-1)*len(traces) {
		return input.Refuse(input.Invalid, "cost", "%d rows for %d traces", len(costs), len(traces))
	}
	for i, v := range costs {
		if v > math.MaxUint32 {
			return input.Refuse(input.Invalid, "cost", "row %d: %d is over 32 bits", i, v)
		}
	}
	for i := range traces {
		at := func(field int) uint32 { return uint32(costs[(field-1)*len(traces)+i]) }
		traces[i].Cost = trie.Cost{Start: at(costStart), Stop: at(costStop), Encode: at(costEncode),
			Bytes: at(costBytes), Dropped: at(costDropped)}
	}
	return nil
}

// readSamples sets the samples of traces.
func (r *documentReader) readSamples(s *trie.Set) error {
	// A sample takes a byte at least, but for the first one of each trace.
	most := min(len(r.col(colSampleTime))+len(s.Traces), r.lim.Samples)
	all := 0
	for i, n := range r.col(setTraceSamples) {
		if n > uint64(most-all) {
			return input.Refuse(input.TooLarge, "trace_samples", "row %d: %d, the most for all is %d", i, n, most)
		}
		if n > 0 && s.Traces[i].Context.Interval == 0 {
			return input.Refuse(input.Invalid, "context.interval", "missing for trace %d", i)
		}
		all += int(n)
	}
	reader, err := r.sampleReader(len(s.Nodes))
	if err != nil {
		return err
	}
	samples := make([]trie.Sample, all)
	for i := range s.Traces {
		t, n := &s.Traces[i], r.col(setTraceSamples)[i]
		t.Samples, samples = samples[:n:n], samples[n:]
		if err := reader.read(t.Samples, unzigzag(r.col(colSampleStart)[i]), r.col(colSampleUnit)[i],
			int64(t.Context.Interval)); err != nil {
			return err
		}
	}
	return reader.end()
}

// readUnused sets the nodes of each trace without samples in or below them.
func (r *documentReader) readUnused(s *trie.Set) error {
	nodes := r.col(setTraceNode)
	counts, err := r.counts(setTraceNodes, len(s.Traces), len(nodes))
	if err != nil {
		return err
	}
	all, last := make([]trie.NodeID, len(nodes)), int64(0)
	for i, step := range nodes {
		if last += unzigzag(step); last <= 0 || last >= int64(len(s.Nodes)) {
			return input.Refuse(input.Invalid, "trace_node", "row %d: node %d of %d", i, last, len(s.Nodes)-1)
		}
		all[i] = trie.NodeID(last)
	}
	for i, n := range counts {
		s.Unused[i], all = all[:n:n], all[n:]
	}
	return nil
}
