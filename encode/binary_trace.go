package encode

import (
	"bytes"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

func (r *documentReader) readTrace(t *trie.Trace) error {
	for f := colGroupRows; f < colEnd; f++ {
		if len(r.col(f)) > 0 {
			return input.Refuse(input.Invalid, fieldNameOf(f), "a trace has none")
		}
	}
	if len(r.labelKeys)+len(r.labelValues) > 0 {
		return input.Refuse(input.Invalid, "group_label_key", "a trace has none")
	}
	var err error
	if t.Context, err = r.readContext(); err != nil {
		return err
	}
	if err := r.readTrie(&t.Trie); err != nil {
		return err
	}
	if t.Samples, err = r.samples(t.Samples[:0], len(t.Nodes)); err != nil {
		return err
	}
	if t.Cost, err = r.readCost(); err != nil {
		return err
	}
	t.Unknown = bytes.Clone(r.unknown)
	// The tables are valid here, or one of the readers above would have rejected
	// them. Validating the whole trace would look at every row a second time.
	if t.Context.Interval == 0 && len(t.Samples) > 0 {
		return input.Refuse(input.Invalid, "context.interval", "missing")
	}
	if err := t.Context.Validate(); err != nil {
		return &input.Error{Kind: input.Invalid, Err: err}
	}
	return nil
}

// samples appends the samples of the document to out.
func (r *documentReader) samples(out []trie.Sample, nodes int) ([]trie.Sample, error) {
	runs, lengths := r.col(colSampleRun), r.col(colSampleRunLength)
	count := len(r.col(colSampleTime))
	if len(runs) > 0 {
		count++
	}
	if err := input.Check("sample_time", count, r.lim.Samples); err != nil {
		return nil, err
	}
	out = slices.Grow(out, count)
	var named int64 // the node that a run named last
	for i, run := range runs {
		n := uint64(1)
		if run&1 == 1 {
			if len(lengths) == 0 || lengths[0] > uint64(count) {
				return nil, input.Refuse(input.Invalid, "sample_run_length", "does not fit run %d", i)
			}
			n, lengths = lengths[0]+2, lengths[1:]
		}
		node := int64(0)
		if run>>1 > 0 {
			named += unzigzag(run>>1 - 1)
			if node = named; node <= 0 || node >= int64(nodes) {
				return nil, input.Refuse(input.Invalid, "sample_run", "run %d: node %d of %d", i, node, nodes-1)
			}
		}
		if n > uint64(count-len(out)) {
			return nil, input.Refuse(input.Invalid, "sample_run", "run %d ends after the last sample", i)
		}
		for range n {
			out = append(out, trie.Sample{Node: trie.NodeID(node)})
		}
	}
	if len(out) != count || len(lengths) > 0 {
		return nil, input.Refuse(input.Invalid, "sample_run", "%d samples, sample_time has %d", len(out), count)
	}
	return out, input.First(r.sampleTimes(out), r.markers(out))
}

func (r *documentReader) sampleTimes(samples []trie.Sample) error {
	if len(samples) == 0 {
		return nil
	}
	unit := r.single(colSampleUnit)
	if unit > trie.MaxTime {
		return input.Refuse(input.Invalid, "sample_unit", "%d µs is out of range", unit)
	}
	usual := int64(r.context.GetInterval()) / int64(unit)
	now := unzigzag(r.single(colSampleStart))
	if now < -trie.MaxTime || now > trie.MaxTime {
		return input.Refuse(input.Invalid, "sample_start", "%d µs is out of range", now)
	}
	samples[0].Time = now
	for i, raw := range r.col(colSampleTime) {
		more := unzigzag(raw)
		if more < -usual || more > 2*trie.MaxTime/int64(unit) {
			return input.Refuse(input.Invalid, "sample_time", "row %d: %d units more than %d is out of range", i, more, usual)
		}
		if now += (more + usual) * int64(unit); now > trie.MaxTime {
			return input.Refuse(input.Invalid, "sample_time", "row %d: %d µs is out of range", i, now)
		}
		samples[i+1].Time = now
	}
	return nil
}

func (r *documentReader) markers(samples []trie.Sample) error {
	if err := r.sameRows(colMarker, colMarkerRunLength); err != nil || len(r.col(colMarker)) == 0 {
		return err
	}
	at := 0
	for i, m := range r.col(colMarker) {
		n := r.col(colMarkerRunLength)[i]
		if n >= uint64(len(samples)-at) {
			return input.Refuse(input.Invalid, "marker_run_length", "row %d ends after the last sample", i)
		}
		if m > uint64(trie.MarkerIdle) {
			return input.Refuse(input.Invalid, "marker", "row %d: unknown marker %d", i, m)
		}
		for range n + 1 {
			samples[at].Marker = trie.Marker(m)
			at++
		}
	}
	if at != len(samples) {
		return input.Refuse(input.Invalid, "marker_run_length", "covers %d of %d samples", at, len(samples))
	}
	return nil
}

func (r *documentReader) readCost() (trie.Cost, error) {
	for i, v := range r.cost {
		if v > math.MaxUint32 {
			return trie.Cost{}, input.Refuse(input.Invalid, costName(protowire.Number(i)), "%d is over 32 bits", v)
		}
	}
	number := func(field int) uint32 { return uint32(r.cost[field]) }
	return trie.Cost{
		Start: number(costStart), Stop: number(costStop), Encode: number(costEncode),
		Bytes: number(costBytes), Dropped: number(costDropped),
	}, nil
}

func (r *documentReader) readContext() (trie.Context, error) {
	p := &r.context
	if !r.hasContext {
		return trie.Context{}, nil
	}
	if err := input.First(
		input.Check("context.label_key", len(p.LabelKey), r.lim.Labels),
		input.Check("context.span_kind", len(p.SpanKind), r.lim.Spans),
	); err != nil {
		return trie.Context{}, err
	}
	if len(p.LabelKey) != len(p.LabelValue) {
		return trie.Context{}, input.Refuse(input.Invalid, "context.label_value", "%d rows, label_key has %d", len(p.LabelValue), len(p.LabelKey))
	}
	if n := len(p.SpanKind); len(p.SpanName) != n || len(p.SpanStart) != n || len(p.SpanLength) != n {
		return trie.Context{}, input.Refuse(input.Invalid, "context.span_kind", "the span columns differ in length")
	}
	c := trie.Context{
		Page: p.Page, ViewID: string(p.ViewId), Chunk: p.Chunk, TimeOrigin: p.TimeOrigin, Interval: p.Interval,
		SamplingShare: p.SamplingShare, Release: p.Release, Environment: p.Environment,
		Unknown: bytes.Clone(p.ProtoReflect().GetUnknown()),
	}
	for i, k := range p.LabelKey {
		c.Labels = append(c.Labels, trie.Label{Key: k, Value: p.LabelValue[i]})
	}
	start := int64(0)
	for i, kind := range p.SpanKind {
		step, length := p.SpanStart[i], p.SpanLength[i]
		if step < -4*trie.MaxTime || step > 4*trie.MaxTime || length > 2*trie.MaxTime || kind > uint32(trie.SpanLabel) {
			return trie.Context{}, input.Refuse(input.Invalid, "context.span_start", "span %d is out of range", i)
		}
		start += step
		c.Spans = append(c.Spans, trie.Span{Kind: trie.SpanKind(kind), Name: p.SpanName[i], Start: start, Length: int64(length)})
	}
	return c, r.checkTexts(&c)
}

// checkTexts bounds the texts of c; protobuf does not.
func (r *documentReader) checkTexts(c *trie.Context) error {
	check := func(field, s string) error {
		if len(s) > r.lim.TextBytes {
			return input.Refuse(input.TooLarge, "context."+field, "%d bytes, the most is %d", len(s), r.lim.TextBytes)
		}
		return nil
	}
	err := input.First(check("page", c.Page), check("release", c.Release), check("environment", c.Environment))
	for _, l := range c.Labels {
		err = input.First(err, check("label_key", l.Key), check("label_value", l.Value))
	}
	for _, s := range c.Spans {
		err = input.First(err, check("span_name", s.Name))
	}
	return err
}
