package formats

import (
	"io"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// A profile whose stacks would take gigabytes one by one is rejected by the formats that write
// stacks one by one, and written by the others.
func TestDeepStacks(t *testing.T) {
	p := trie.NewProfile()
	f := p.Intern(trie.Frame{Name: "f"})
	n := trie.Root
	for range 20_000 {
		n = p.Child(n, f)
		p.Add(nil, n, trie.Weight{Self: 1, Samples: 1})
	}
	for _, f := range writtenProfiles() {
		err := f.Encode(io.Discard, p, output.Options{Template: fixture.HTMLTemplate()})
		whole := f.Name == "pprof" || f.Name == "folded" || f.Name == "speedscope" || f.Name == "otlp"
		if whole != (err != nil) || err != nil && !strings.Contains(err.Error(),
			"the stacks have 200010000 frames in all") {
			t.Errorf("%s: got %v", f.Name, err)
		}
	}
}

func writtenProfiles() []Format {
	var out []Format
	for _, f := range All() {
		if f.Encode != nil {
			out = append(out, f)
		}
	}
	return out
}
