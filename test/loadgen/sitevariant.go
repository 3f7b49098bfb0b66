package loadgen

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

const (
	siteRoutes = 4       // maximum routes of a view, including its first page
	chunkPause = 100_000 // µs between the traces of a view
)

// siteMaker makes the variants of a site.
type siteMaker struct {
	population
	rnd    *rand.Rand
	zipf   *rand.Zipf // pages of routes
	traces []*trie.Trace
	form   form
}

// newSiteVariants returns the given number of variants for each trace and release, oldest
// release first.
func newSiteVariants(o Options, rnd *rand.Rand) ([]variant, error) {
	var out []variant
	m := siteMaker{population: site(), rnd: rnd, zipf: newZipf(rnd, o.Zipf, o.Pages), form: o.form()}
	for release, name := range m.releases {
		m.traces = m.traces[:0]
		for _, t := range o.Traces {
			m.traces = append(m.traces, edition(t, release))
		}
		for i := range o.Variants * len(m.traces) {
			v, err := m.variant(name, i%len(m.traces))
			if err != nil {
				return nil, fmt.Errorf("release %s, variant %d: %w", name, i, err)
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// variant returns a view of a release. Its first chunk is trace number first; the others
// are random traces, one after the other.
func (m *siteMaker) variant(release string, first int) (v variant, err error) {
	parts := make([]*trie.Trace, m.chunks(m.rnd))
	for i := range parts {
		t := *m.traces[first]
		from, to := covered(&t)
		start := max(v.length, from)
		if i > 0 {
			start = v.length + chunkPause
		}
		t.Samples = slices.Clone(t.Samples)
		for k := range t.Samples {
			t.Samples[k].Time += start - from
		}
		t.Cost = newCost(m.rnd)
		parts[i], v.length = &t, start+to-from
		first = m.rnd.IntN(len(m.traces))
	}
	begin, _ := covered(parts[0])
	labels := m.labels(m.rnd)
	var spans []trie.Span
	spans, v.routes = m.spans(begin, v.length)
	for _, t := range parts {
		t.Context = trie.Context{
			Interval: t.Context.Interval, SamplingShare: 0.05, Release: release, Environment: "production",
			Labels: labels, Spans: spansWithin(t, spans),
		}
		k, err := newChunk(t, m.form)
		if err != nil {
			return variant{}, err
		}
		v.chunks = append(v.chunks, k)
	}
	return v, nil
}

// spans returns the routes, phases and features of a view that lasts from begin to end, and
// the ranks of the pages of its routes after the first.
func (m *siteMaker) spans(begin, end int64) (spans []trie.Span, routes []int) {
	add := func(kind trie.SpanKind, name string, start, end int64) {
		spans = append(spans, trie.Span{Kind: kind, Name: name, Start: start, Length: end - start})
	}
	bounds := []int64{begin, end}
	for range m.rnd.IntN(siteRoutes) {
		bounds = append(bounds, begin+m.rnd.Int64N(end-begin))
	}
	slices.Sort(bounds)
	for i, from := range bounds[:len(bounds)-1] {
		to := bounds[i+1]
		if from == to {
			continue
		}
		if i > 0 {
			rank := int(m.zipf.Uint64())
			routes = append(routes, rank)
			add(trie.SpanPage, PageName(rank), from, to)
		}
		at := func(share float64) int64 { return from + int64(share*float64(to-from)) }
		loaded := 0.1 + 0.3*m.rnd.Float64()
		add(trie.SpanLabel, "phase=load", from, at(loaded))
		add(trie.SpanLabel, oneOf(m.rnd, []string{"phase=interaction", "phase=idle"}), at(loaded), to)
		for range m.rnd.IntN(3) {
			start := 0.8 * m.rnd.Float64()
			add(trie.SpanFeature, oneOf(m.rnd, m.features), at(start), at(start+0.2*m.rnd.Float64()))
		}
	}
	trie.SortSpans(spans)
	return spans, routes
}
