package collect

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
)

// TestScript sends documents of the browser script with texts of any length, and checks which ones
// are counted as bugs of the script.
func TestScript(t *testing.T) {
	col, s := newCollector(Options{})
	tr := &trie.Trace{Trie: *trie.New()}
	tr.Context = trie.Context{Page: "/feed", ViewID: "0123456789abcdef", Interval: 10_000,
		Labels: trie.MakeLabels("long", strings.Repeat("x", 30_000), strings.Repeat("k", 9000), "v")}
	tr.Context.Spans = []trie.Span{{Kind: trie.SpanFeature, Name: strings.Repeat("f", 20_000), Length: 1000}}
	tr.Samples = []trie.Sample{{Node: tr.Insert(trie.Frame{Name: "f"})}}
	body, err := encode.EncodeTrace(tr)
	if err != nil {
		t.Fatal(err)
	}
	if got := post(t, col, string(body)); got.status != http.StatusAccepted {
		t.Fatalf("got %d %q", got.status, got.Error)
	}
	stored := traceOf(t, s.only(t))
	if f := stored.Context.Spans[0].Name; len(f) != longestName || !strings.HasSuffix(f, "f…") {
		t.Errorf("a feature of %d bytes: %.20q", len(f), f)
	}
	if v := stored.Context.Labels.Value("long"); len(v) != longestName || !strings.HasSuffix(v, "x…") {
		t.Errorf("a label of %d bytes", len(v))
	}
	if n := s.metric(t, "script_rejected_total", "malformed") + s.metric(t, "script_rejected_total",
		"invalid"); n != 0 {
		t.Errorf("%v are counted as refused", n)
	}
	for i, broken := range []string{string(body[:len(body)/2]), string(body[:len(body)-3])} {
		if got := post(t, col, broken); got.status/100 != 4 {
			t.Errorf("got %d", got.status)
		}
		if n := s.metric(t, "script_rejected_total", "malformed") + s.metric(t, "script_rejected_total",
			"invalid"); n != float64(i+1) {
			t.Errorf("%v are counted as refused, want %d", n, i+1)
		}
	}
	post(t, col, "{}")
	if n := s.metric(t, "script_rejected_total", "malformed") + s.metric(t, "script_rejected_total",
		"invalid"); n != 2 {
		t.Errorf("documents of other clients are counted: %v", n)
	}
}
