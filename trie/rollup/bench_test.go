package rollup_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// sampleTraces returns the traces of testdata with a feature and phases, all on one page.
func sampleTraces(tb testing.TB) (out []*trie.Trace) {
	tb.Helper()
	files, err := filepath.Glob("../../testdata/traces/*.gz")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no traces: %v", err)
	}
	for _, name := range files {
		packed, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			tb.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			tb.Fatal(err)
		}
		t, err := encode.DecodeTraceJSON(text, encode.FileLimits())
		if err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		encode.Repair(t)
		c := &t.Context
		c.Page, c.Release = "/feed", "r1"
		c.Labels = trie.MakeLabels("browser", "Chrome 156", "connection", "4g", "device", "desktop-high",
			"phase", "idle")
		end := t.Samples[len(t.Samples)-1].Time
		c.Spans = []trie.Span{
			{Kind: trie.SpanLabel, Name: "phase=load", Length: end / 3},
			{Kind: trie.SpanFeature, Name: "search", Start: end / 4, Length: end / 4},
			{Kind: trie.SpanLabel, Name: "phase=interaction", Start: end / 2, Length: end / 10},
		}
		trie.SortSpans(c.Spans)
		out = append(out, t)
	}
	return out
}

// BenchmarkBuilder rolls up one page view of one trace.
func BenchmarkBuilder(b *testing.B) {
	traces := sampleTraces(b)
	x := rollup.NewBuilder("/feed", trie.New(), rollup.Limits{})
	i := 0
	for b.Loop() {
		x.Begin(1)
		x.Add(traces[i%len(traces)])
		x.End()
		i++
	}
}

// BenchmarkMerger merges one trace, by the same labels.
func BenchmarkMerger(b *testing.B) {
	traces := sampleTraces(b)
	m := trie.NewMerger()
	i := 0
	for b.Loop() {
		t := traces[i%len(traces)]
		m.NextView()
		m.AddTrace(t, func(s trie.Slice) int { return m.Group(rollup.CellLabels(s, &t.Context)) })
		i++
	}
}

// BenchmarkSum adds up a record of a thousand page views.
func BenchmarkSum(b *testing.B) {
	traces := sampleTraces(b)
	stacks := trie.New()
	x := rollup.NewBuilder("/feed", stacks, rollup.Limits{})
	for i := range 1000 {
		x.Begin(1)
		x.Add(traces[i%len(traces)])
		x.End()
	}
	data := x.Encode(rollup.Narrow, true)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		rec, err := rollup.Decode(data, stacks)
		if err != nil {
			b.Fatal(err)
		}
		s := rollup.NewSum(func(trie.Labels) (trie.Labels, bool) { return nil, true })
		s.Add(rec, stacks)
		s.Profile()
	}
}
