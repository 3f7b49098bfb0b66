package encode

import (
	"bytes"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

// A trace with a replaced context equals a trace encoded with that context.
func TestReplaceContext(t *testing.T) {
	for name, text := range fixture.RealTraces(t) {
		tr, err := DecodeTraceJSON(text, FileLimits())
		if err != nil {
			t.Fatal(err)
		}
		data, err := EncodeTrace(tr)
		if err != nil {
			t.Fatal(err)
		}
		other := *tr
		other.Context.Page, other.Context.Release, other.Context.TimeOrigin = "/other", "2.0", 12345
		other.Context.Labels = trie.MakeLabels("browser", "Chrome 156")
		other.Context.Spans = []trie.Span{{Kind: trie.SpanFeature, Name: "search", Start: 5, Length: 7}}
		other.Unknown = nil
		want, err := EncodeTrace(&other)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReplaceContext(append(data, 0xf8, 0x07, 1), &other.Context) // with a field of a later version
		if err != nil {
			t.Fatal(err)
		}
		doc, err := DecodeBinary(got, Limits{})
		if err != nil || doc.Trace == nil {
			t.Fatalf("a trace with a replaced context cannot be read: %v", err)
		}
		if again, err := EncodeTrace(doc.Trace); err != nil || !bytes.Equal(again, want) {
			t.Errorf("%s: it differs from an encoded trace", name)
		}
	}
	if _, err := ReplaceContext([]byte{0x0d, 1}, &trie.Context{}); err == nil {
		t.Error("truncated input was accepted")
	}
}
