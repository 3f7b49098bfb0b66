package metamorphic

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

// pages are the pages of traces. The first ones are used more often.
var pages = []string{"/feed", "/item/:id", "/cart", "/search", "/about"}

// trace is a trace that was or will be sent to the store.
type trace struct {
	store.Record
	doc    *trie.Trace
	totals map[string]totals // by page
}

// totals are quantities that add up over traces.
type totals struct{ traces, self, samples int64 }

func (t *totals) add(o totals) {
	t.traces += o.traces
	t.self += o.self
	t.samples += o.samples
}

// maker creates traces. It has its own random numbers, so the same seed gives the same traces.
type maker struct {
	r     *rand.Rand
	next  int    // number of the next trace, which makes its id unique
	epoch uint64 // part of the names of functions, so that dictionaries become outdated
	views [][16]byte
	made  []*trace // recent traces, to be sent again
}

// fork returns a maker of other traces for another goroutine.
func (m *maker) fork() *maker {
	const room = 1 << 16 // maximum number of traces that it creates
	f := &maker{r: rand.New(rand.NewPCG(m.r.Uint64(), 1)), next: m.next, epoch: m.r.Uint64(),
		views: slices.Clone(m.views), made: slices.Clone(m.made)}
	m.next += room
	return f
}

// join takes over the recent traces of f.
func (m *maker) join(f *maker) {
	m.views = last(append(m.views, f.views...), 200)
	m.made = last(append(m.made, f.made...), 200)
}

// last returns up to n of the last elements.
func last[E any](list []E, n int) []E { return slices.Clone(list[max(0, len(list)-n):]) }

// batch returns n traces: new page views, later chunks of earlier ones, and duplicates.
func (m *maker) batch(n int) (out []*trace) {
	for range n {
		if len(m.made) > 0 && m.r.IntN(12) == 0 {
			out = append(out, m.made[m.r.IntN(len(m.made))])
			continue
		}
		out = append(out, m.trace(m.page(), m.view()))
	}
	return out
}

// burst returns n new traces of one page, each with its own view. They are similar, so that a
// dictionary is worthwhile, and their ids are in the order of arrival, so that the last dictionary
// is used last.
func (m *maker) burst(n int) (out []*trace) {
	m.epoch = m.r.Uint64()
	for page := m.page(); len(out) < n; {
		var view [16]byte
		binary.BigEndian.PutUint64(view[:], uint64(m.next))
		out = append(out, m.trace(page, view))
	}
	return out
}

// view returns a new page view, or one that has traces already.
func (m *maker) view() (view [16]byte) {
	if len(m.views) > 0 && m.r.IntN(3) == 0 {
		return m.views[m.r.IntN(len(m.views))]
	}
	binary.BigEndian.PutUint64(view[:], uint64(m.next)*0x9E3779B97F4A7C15) // distributes views over all keys
	return view
}

func (m *maker) page() string { return pages[min(m.r.IntN(len(pages)), m.r.IntN(len(pages)))] }

// trace returns a new trace of a page view. One chunk in four is out of order, and one trace in
// three has a feature.
func (m *maker) trace(page string, view [16]byte) *trace {
	m.views = append(m.views, view)
	id := store.ID{View: view, Chunk: uint32(m.next)}
	if m.r.IntN(4) == 0 {
		id.Chunk = 1<<31 - id.Chunk // chunks arrive out of order
	}
	m.next++
	doc := m.document(page, id)
	if m.r.IntN(3) == 0 {
		doc.Context.Spans = append(doc.Context.Spans, trie.Span{Kind: trie.SpanFeature, Name: "search",
			Start: doc.Samples[0].Time, Length: 1})
		trie.SortSpans(doc.Context.Spans)
	}
	payload, err := encode.EncodeTrace(doc)
	if err != nil {
		panic(err) // not a valid trace
	}
	tags, _ := store.TagsOf(doc)
	t := &trace{Record: store.Record{ID: id, Pages: doc.Pages(), Tags: tags, Payload: payload}, doc: doc,
		totals: map[string]totals{}}
	for _, page := range t.Pages {
		t.totals[page] = totalsOf(merged(page, nil, slices.Values([]*instance{{trace: t}})))
	}
	if m.made = append(m.made, t); len(m.made) > 400 {
		m.made, m.views = last(m.made, 200), last(m.views, 200)
	}
	return t
}

// document returns a trace with time on one or two pages.
func (m *maker) document(page string, id store.ID) *trie.Trace {
	r := m.r
	t := &trie.Trace{Trie: *trie.New()}
	var nodes []trie.NodeID
	for range 2 + r.IntN(10) {
		var stack []trie.Frame
		for depth := range 1 + r.IntN(4) {
			name := fmt.Sprintf("component%xRender", m.epoch%1_000_003*uint64(7+depth)+uint64(r.IntN(12)))
			stack = append(stack, trie.Frame{Name: name,
				Resource: fmt.Sprintf("https://static.example.com/bundle-%x.js", m.epoch), Line: uint32(1 + r.IntN(3))})
		}
		nodes = append(nodes, t.Insert(stack...))
	}
	c := &t.Context
	c.Page, c.ViewID, c.Chunk, c.Interval = page, string(id.View[:]), id.Chunk, 10_000
	c.Release = []string{"r1", "r2", "r3"}[r.IntN(3)]
	c.Environment = []string{"", "test"}[r.IntN(2)]
	c.SamplingShare = 0.01
	c.Labels = trie.MakeLabels("device", []string{"mobile-low", "desktop-high"}[r.IntN(2)], "phase", "idle")
	at := int64(0)
	for range 1 + r.IntN(20) {
		at += int64(r.IntN(40_000))
		t.Samples = append(t.Samples, trie.Sample{Time: at, Node: nodes[r.IntN(len(nodes))]})
	}
	span := func(kind trie.SpanKind, name string) {
		c.Spans = append(c.Spans, trie.Span{Kind: kind, Name: name, Start: r.Int64N(at + 1),
			Length: 1 + r.Int64N(at+1)})
	}
	span(trie.SpanFeature, "search")
	span(trie.SpanLabel, "phase=load")
	if r.IntN(3) == 0 {
		span(trie.SpanPage, m.page())
	}
	trie.SortSpans(c.Spans)
	return t
}
