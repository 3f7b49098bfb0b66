package deletion

import (
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
)

// stacksOf returns the function of each sample, "" for none.
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

// A sample at the very end of a page is of the next one.
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
