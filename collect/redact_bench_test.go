package collect

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// realTexts returns the distinct names of functions and of scripts in the traces of real
// browsers, in order.
func realTexts(t testing.TB) (names, scripts []string) {
	t.Helper()
	name, script := map[string]bool{}, map[string]bool{}
	for file, text := range realTraces(t) {
		var e struct {
			Trace struct {
				Resources []string
				Frames    []struct{ Name string }
			}
		}
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, f := range e.Trace.Frames {
			name[f.Name] = true
		}
		for _, r := range e.Trace.Resources {
			r, _, _ = strings.Cut(r, "?") // as encode.Repair leaves it
			script[r] = true
		}
	}
	if len(name) < 500 || len(script) < 40 {
		t.Fatalf("%d names and %d scripts in the real traces", len(name), len(script))
	}
	return slices.Sorted(maps.Keys(name)), slices.Sorted(maps.Keys(script))
}

// BenchmarkRedact redacts each of the names, or of the scripts, of real traces once.
func BenchmarkRedact(b *testing.B) {
	names, scripts := realTexts(b)
	for _, c := range []struct {
		name  string
		texts []string
	}{{"names", names}, {"scripts", scripts}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var r redaction
				for _, s := range c.texts {
					r.text(s)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(c.texts)), "ns/text")
		})
	}
}
