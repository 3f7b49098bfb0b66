package deletion

import (
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
)

// stacksOf returns the function of each sample, or "" for a sample without a stack.
func stacksOf(t *trie.Trace) (out []string) {
	for _, s := range t.Samples {
		name := ""
		if s.Node != trie.Root {
			name = t.Frame(s.Node).Name
		}
		out = append(out, name)
	}
	return out
}

// A sample at the very end of a page belongs to the next page.
func TestWithoutPage(t *testing.T) {
	row := rowOf(t)
	for _, tt := range []struct {
		page   string
		stacks []string
		names  []string // of spans
		others int
	}{
		{"/b", []string{"inA", "inA", "inA", "inA", "inA", "", "", "", "", "", ""}, []string{"user=u1", gone}, 0},
		{"/a", []string{"", "", "", "", "", "inB", "inB", "inB", "inB", "inB", "inB"}, []string{"/b"}, 1},
	} {
		out, err := matcher(Selection{Page: tt.page}).Without(row)
		if err != nil {
			t.Fatal(err)
		}
		got, err := out.Decode(new(encode.BinaryDecoder))
		if err != nil {
			t.Fatal(err)
		}
		if stacks := stacksOf(got); !slices.Equal(stacks, tt.stacks) {
			t.Errorf("without %s: got the stacks %q, want %q", tt.page, stacks, tt.stacks)
		}
		var names []string
		for _, s := range got.Context.Spans {
			names = append(names, s.Name)
		}
		if !slices.Equal(names, tt.names) || len(out.Others) != tt.others {
			t.Errorf("without %s: got the spans %q and pages %q, want %q", tt.page, names, out.Others, tt.names)
		}
	}
}

// A feature is kept if it overlaps a page that is kept. A feature that only touches such a page is
// removed.
func TestSpansWithoutPage(t *testing.T) {
	for _, tt := range []struct {
		what          string
		start, length int64
		stays         bool
	}{
		{"only on the page", 120, 10, false},
		{"on the whole page", 100, 100, false},
		{"from just before the page", 99, 10, true},
		{"up to just after the page", 190, 11, true},
		{"before the page", 10, 20, true},
		{"after the page", 300, 20, true},
		{"around the page", 10, 1000, true},
	} {
		x := &trie.Trace{Trie: *trie.New()}
		x.Context.Page, x.Context.Interval = "/a", 10
		x.Context.Spans = []trie.Span{
			{Kind: trie.SpanPage, Name: "/b", Start: 100, Length: 100},
			{Kind: trie.SpanFeature, Name: "search", Start: tt.start, Length: tt.length},
		}
		trie.SortSpans(x.Context.Spans)
		out := without(x, func(page string) bool { return page == "/b" })
		got := slices.ContainsFunc(out.Context.Spans, func(s trie.Span) bool { return s.Name == "search" })
		if got != tt.stays {
			t.Errorf("%s: the feature is kept: got %t, want %t", tt.what, got, tt.stays)
		}
	}
}
