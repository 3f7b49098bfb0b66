package folded

import (
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// TestFolded checks that each stack with self time is one line, in microseconds, and that names
// cannot be confused with the structure.
func TestFolded(t *testing.T) {
	for name, data := range fixture.RealTraces(t) {
		tr, err := encode.DecodeProfilerTrace(data, input.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		checkFolded(t, name, tr.Profile())
	}
	for name, tr := range fixture.HandmadeTraces() {
		checkFolded(t, name, tr.Profile())
	}
	for name, p := range fixture.HandmadeProfiles() {
		checkFolded(t, name, p)
	}
}

func checkFolded(t *testing.T, name string, p *trie.Profile) {
	t.Helper()
	want := map[string]int64{}
	flat, _ := p.Flat()
	for n, w := range flat {
		if w.Self == 0 {
			continue
		}
		stack := ""
		for a := range p.Stack(trie.NodeID(n)) {
			stack = ";" + output.Location(p.Frame(a)) + stack
		}
		want[stack[1:]] += w.Self
	}
	got := map[string]int64{}
	for line := range strings.Lines(fixture.Written(t, Encode, p, output.Options{})) {
		i := strings.LastIndexByte(line, ' ')
		self, err := strconv.ParseInt(strings.TrimSuffix(line[i+1:], "\n"), 10, 64)
		if err != nil {
			t.Fatalf("%s: %q: %v", name, line, err)
		}
		var stack []string
		for f := range strings.SplitSeq(line[:i], ";") {
			name, err := unescape(f)
			if err != nil {
				t.Fatalf("%q: %v", f, err)
			}
			stack = append(stack, name)
		}
		if _, twice := got[strings.Join(stack, ";")]; twice {
			t.Errorf("%s: %q occurs twice", name, line)
		}
		got[strings.Join(stack, ";")] = self
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: got %v\nwant %v", name, got, want)
	}
}

// unescape undoes the escapes of a folded stack. They are those of Go's strings, except for \x,
// which is a byte in Go.
func unescape(s string) (string, error) {
	out := ""
	for s != "" {
		c, _, tail, err := strconv.UnquoteChar(s, 0)
		if err != nil {
			return "", err
		}
		out, s = out+string(c), tail
	}
	return out, nil
}
