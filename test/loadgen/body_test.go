package loadgen

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
)

// TestBody checks that both formats of a body contain the same trace, with the given page, view and
// time.
func TestBody(t *testing.T) {
	traces := realTraces(t)
	for _, f := range []form{formBinary, formJSON} {
		variants, err := newVariants(traces, 2, f, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			t.Fatal(err)
		}
		spans := 0
		for i, v := range variants {
			samples := 0
			for k := range v.chunks {
				s := stamp{page: PageName(30 * i), number: k, origin: 1795216764503812 + int64(i)}
				s.view[0], s.view[15] = 0xfe, byte(i)
				got := decode(t, f, v.chunks[k].append(nil, s))
				want := *v.chunks[k].trace
				want.Context.Page, want.Context.Chunk, want.Context.TimeOrigin = s.page, uint32(k), s.origin
				want.Context.ViewID = string(s.view[:])
				if !got.Equal(&want) {
					t.Fatalf("%s, variant %d: got %+v, want %+v", f, i, got.Context, want.Context)
				}
				samples += len(got.Samples)
				spans += len(got.Context.Spans)
			}
			if want := len(traces[i%len(traces)].Samples); samples != want {
				t.Errorf("%s, variant %d: %d samples, want %d", f, i, samples, want)
			}
		}
		if spans < len(variants) {
			t.Errorf("%s: %d spans of %d variants", f, spans, len(variants))
		}
	}
}

func decode(t *testing.T, f form, data []byte) *trie.Trace {
	t.Helper()
	if f == formJSON {
		got, err := encode.DecodeTraceJSON(data, encode.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	doc, err := encode.DecodeBinary(data, encode.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return doc.Trace
}

// TestSplit checks that the chunks of a trace together contain the whole trace.
func TestSplit(t *testing.T) {
	for _, whole := range realTraces(t) {
		for n := 1; n <= maxChunks; n++ {
			m := trie.NewMerger()
			at := 0
			for _, part := range split(whole, n) {
				if err := part.Validate(); err != nil {
					t.Fatal(err)
				}
				for _, s := range part.Samples {
					if got, want := stackOf(&part.Trie, s.Node), stackOf(&whole.Trie,
						whole.Samples[at].Node); got != want || s.Time != whole.Samples[at].Time {
						t.Fatalf("sample %d is %s, want %s", at, got, want)
					}
					at++
				}
				m.AddTrace(part, func(trie.Slice) int { return m.Group(nil) })
			}
			if p := m.Profile(); at != len(whole.Samples) || n == 1 && !p.Equal(whole.Profile()) {
				t.Errorf("%d chunks: %d samples of %d", n, at, len(whole.Samples))
			}
		}
	}
}

func TestBatch(t *testing.T) {
	variants, err := newVariants(realTraces(t)[:2], 1, formBinary, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	var traces []delivery
	for i := range variants {
		v := &view{stamp: stamp{page: PageName(i), origin: 1}}
		traces = append(traces, delivery{v, &variants[i].chunks[0], 0})
	}
	var scratch []byte
	body, contentType := appendBody(nil, formBinary, traces, &scratch)
	if contentType != "application/x-protobuf" {
		t.Errorf("content type %s", contentType)
	}
	for i := range traces {
		length, n := binary.Uvarint(body)
		doc := decode(t, formBinary, body[n:n+int(length)])
		if doc.Context.Page != PageName(i) {
			t.Errorf("trace %d is of %s", i, doc.Context.Page)
		}
		body = body[n+int(length):]
	}
	if len(body) > 0 {
		t.Errorf("%d bytes of the body are left", len(body))
	}
}
