package encode

import (
	"bytes"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"

	fieldtriev1 "github.com/fieldtrie/fieldtrie/proto/fieldtrie/v1"
)

func (r *documentReader) readTrace(t *trie.Trace) error {
	for f := colGroupRows; f < colEnd; f++ {
		if len(r.col(f)) > 0 {
			return input.Refuse(input.Invalid, r.name(f), "a trace has none")
		}
	}
	if len(r.labelKeys)+len(r.labelValues) > 0 {
		return input.Refuse(input.Invalid, "group_label_key", "a trace has none")
	}
	var err error
	if t.Context, err = r.readContext(&r.context); err != nil {
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

// readContext returns the context of a message, without the check that all of it is valid.
func (r *documentReader) readContext(p *fieldtriev1.Context) (trie.Context, error) {
	if err := input.First(
		input.Check("context.label_key", len(p.LabelKey), r.lim.Labels),
		input.Check("context.span_kind", len(p.SpanKind), r.lim.Spans),
	); err != nil {
		return trie.Context{}, err
	}
	if len(p.LabelKey) != len(p.LabelValue) {
		return trie.Context{}, input.Refuse(input.Invalid, "context.label_value", "%d rows, label_key has %d",
			len(p.LabelValue), len(p.LabelKey))
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
		c.Spans = append(c.Spans, trie.Span{Kind: trie.SpanKind(kind), Name: p.SpanName[i], Start: start,
			Length: int64(length)})
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
