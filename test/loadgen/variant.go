package loadgen

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// variant is a page view ready to be sent any number of times: one or more chunks with a
// release, labels and spans.
type variant struct {
	chunks []chunk
	length int64 // µs from the page's time origin to the end of the last chunk
	routes []int // ranks of the later pages of the view, relative to its first page
}

// chunk is one trace of a variant, without the fields that differ between views: page,
// view id, number and time origin.
type chunk struct {
	trace *trie.Trace
	form  form
	tail  []byte // what follows them
	rest  []byte // binary: what follows the context
}

// form is the encoding of traces.
type form string

const (
	formBinary form = "application/x-protobuf"
	formJSON   form = "application/json"
)

// chunkSet is a set of chunks of a view, one bit each.
type chunkSet uint32

// maxChunks bounds the chunks of a view.
const maxChunks = 20

func chunkNumber(n int) chunkSet { return 1 << n }

func (s chunkSet) has(n int) bool { return s>>n&1 != 0 }

// members returns the size of a set of chunks.
func members(s chunkSet) int { return bits.OnesCount32(uint32(s)) }

// newVariants returns the given number of variants of each trace, with the variants of
// one trace spread out, so that the order of the files does not matter.
func newVariants(traces []*trie.Trace, each int, f form, rnd *rand.Rand) ([]variant, error) {
	var out []variant
	p := anyView()
	for range each {
		for i, t := range traces {
			v, err := p.variant(t, f, rnd)
			if err != nil {
				return nil, fmt.Errorf("trace %d: %w", i, err)
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// variant returns a view that is t, cut into chunks.
func (p *population) variant(t *trie.Trace, f form, rnd *rand.Rand) (variant, error) {
	c := trie.Context{
		Interval: t.Context.Interval, SamplingShare: 0.05, Release: oneOf(rnd, p.releases), Environment: "production",
		Labels: p.labels(rnd), Spans: p.spans(t, rnd),
	}
	cost := newCost(rnd)
	var v variant
	for _, part := range split(t, p.chunks(rnd)) {
		part.Context, part.Cost = c, cost
		part.Context.Spans = spansWithin(part, c.Spans)
		k, err := newChunk(part, f)
		if err != nil {
			return variant{}, err
		}
		v.chunks = append(v.chunks, k)
		_, v.length = covered(part)
	}
	return v, nil
}

func (p *population) labels(rnd *rand.Rand) trie.Labels {
	return trie.MakeLabels("browser", oneOf(rnd, p.browsers), "connection", oneOf(rnd, p.connections),
		"device", oneOf(rnd, p.devices), "navigation", oneOf(rnd, p.navigations))
}

func newCost(rnd *rand.Rand) trie.Cost {
	return trie.Cost{Start: 300 + rnd.Uint32N(500), Stop: 500 + rnd.Uint32N(2000), Encode: 800 + rnd.Uint32N(2000)}
}

// spansWithin returns the spans that are active in the time of t.
func spansWithin(t *trie.Trace, spans []trie.Span) []trie.Span {
	from, to := covered(t)
	return slices.DeleteFunc(slices.Clone(spans), func(s trie.Span) bool { return s.Start >= to || s.End() <= from })
}

func oneOf[E any](rnd *rand.Rand, s []E) E { return s[rnd.IntN(len(s))] }

// covered returns the time [from, to) that the samples of t cover.
func covered(t *trie.Trace) (from, to int64) {
	return t.Samples[0].Time, t.Samples[len(t.Samples)-1].Time + int64(t.Context.Interval)
}

// spans returns phases that cover the time of t, and some features within it. Every
// fifth trace has none.
func (p *population) spans(t *trie.Trace, rnd *rand.Rand) []trie.Span {
	if rnd.IntN(5) == 0 {
		return nil
	}
	from, to := covered(t)
	var spans []trie.Span
	add := func(kind trie.SpanKind, name string, start, end float64) {
		at := func(share float64) int64 { return from + int64(share*float64(to-from)) }
		spans = append(spans, trie.Span{Kind: kind, Name: name, Start: at(start), Length: at(min(end, 1)) - at(start)})
	}
	now := 0.1 + 0.4*rnd.Float64()
	add(trie.SpanLabel, "phase=load", 0, now)
	for i := 0; now < 1; i++ {
		next := now + 0.05 + 0.3*rnd.Float64()
		add(trie.SpanLabel, []string{"phase=interaction", "phase=idle"}[i%2], now, next)
		now = next
	}
	for range rnd.IntN(4) {
		start := 0.9 * rnd.Float64()
		add(trie.SpanFeature, oneOf(rnd, p.features), start, start+0.05+0.3*rnd.Float64())
	}
	trie.SortSpans(spans)
	return spans
}

// split cuts t into up to n traces of about equally many samples, each with the stacks
// of its samples.
func split(t *trie.Trace, n int) []*trie.Trace {
	n = min(n, len(t.Samples))
	out := make([]*trie.Trace, n)
	for i := range out {
		part := &trie.Trace{Trie: *trie.New(), Context: trie.Context{Interval: t.Context.Interval}}
		nodes := map[trie.NodeID]trie.NodeID{trie.Root: trie.Root}
		for _, s := range t.Samples[i*len(t.Samples)/n : (i+1)*len(t.Samples)/n] {
			s.Node = copyNode(part, t, s.Node, nodes)
			part.Samples = append(part.Samples, s)
		}
		out[i] = part
	}
	return out
}

// copyNode returns the number in to of node n of from. nodes has the numbers known so
// far.
func copyNode(to, from *trie.Trace, n trie.NodeID, nodes map[trie.NodeID]trie.NodeID) trie.NodeID {
	if m, known := nodes[n]; known {
		return m
	}
	m := to.Child(copyNode(to, from, from.Nodes[n].Parent, nodes), to.Intern(from.Frame(n)))
	nodes[n] = m
	return m
}
