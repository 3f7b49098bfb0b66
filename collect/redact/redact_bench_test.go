package redact

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

// realTexts returns the distinct names of functions and scripts in traces of real browsers, sorted.
func realTexts(t testing.TB) (names, scripts []string) {
	t.Helper()
	name, script := map[string]bool{}, map[string]bool{}
	for _, tr := range fixture.Real(t) {
		for i := range tr.Frames {
			f := tr.FrameOf(trie.FrameID(i))
			name[f.Name] = true
			r, _, _ := strings.Cut(f.Resource, "?") // like encode.Repair
			script[r] = true
		}
	}
	if len(name) < 500 || len(script) < 40 {
		t.Fatalf("%d names and %d scripts in the real traces", len(name), len(script))
	}
	return slices.Sorted(maps.Keys(name)), slices.Sorted(maps.Keys(script))
}

// A redactCase is a line of testdata/redact.txt: a text, and its redacted form.
type redactCase struct{ text, want string }

func redactedTexts(t testing.TB) (out []redactCase) {
	t.Helper()
	data, err := os.ReadFile("testdata/redact.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) == 3 && !strings.HasPrefix(line, "# ") {
			c := redactCase{fields[1], fields[2]}
			if c.want == "=" {
				c.want = c.text
			}
			out = append(out, c)
		}
	}
	return out
}

// BenchmarkRedact redacts each function name, or each script name, of real traces once.
func BenchmarkRedact(b *testing.B) {
	names, scripts := realTexts(b)
	for _, c := range []struct {
		name  string
		texts []string
	}{{"names", names}, {"scripts", scripts}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var r Redactor
				for _, s := range c.texts {
					r.Text(s)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(c.texts)), "ns/text")
		})
	}
}
