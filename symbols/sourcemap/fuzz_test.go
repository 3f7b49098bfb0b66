package sourcemap

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

// FuzzRead checks that accepted maps have sorted mappings and no index out of range, and that
// reading stays within the limits.
func FuzzRead(f *testing.F) {
	for seed := range uint64(8) {
		p, places := randomMap(rand.New(rand.NewPCG(seed, 4)))
		f.Add(p.json())
		f.Add(p.cut(places))
	}
	for _, s := range []string{
		"", "<html>", ")]}'\n{}",
		`{"version":3,"sources":[null],"sourceRoot":"a","x_google_ignoreList":[0],"mappings":"+/////D,B"}`,
		`{"version":3,"sources":["a"],"sourcesContent":["\ud835\udcb3\n"],"debugId":"A","x":[{"y":"]"}],` +
			`"mappings":"AAAA,D;\/A"}`,
	} {
		f.Add([]byte(s))
	}
	limits := Limits{Mappings: 1000, Lines: 1000, Sources: 100, Names: 100, Sections: 10, Text: 10_000}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Read(b, limits)
		if err != nil {
			return
		}
		checkMap(t, m, limits)
	})
}

// checkMap checks properties of every map.
func checkMap(t *testing.T, m *Map, limits Limits) {
	t.Helper()
	if m.Lines() > limits.Lines || len(m.Sources) > limits.Sources || len(m.Names) > limits.Names ||
		len(m.Mappings()) > limits.Mappings {
		t.Fatal("the map exceeds its limits")
	}
	next := 0
	for line := range m.Lines() {
		first, end := m.Line(line)
		if first != next || end < first {
			t.Fatalf("line %d has mappings %d to %d after %d", line, first, end, next)
		}
		next = end
		last := int32(0)
		for i, mapping := range m.Mappings()[first:end] {
			if mapping.Column < last {
				t.Fatalf("line %d has column %d after %d", line, mapping.Column, last)
			}
			last = mapping.Column
			if mapping.Source < -1 || int(mapping.Source) >= len(m.Sources) || mapping.Name < -1 ||
				int(mapping.Name) >= len(m.Names) {
				t.Fatalf("line %d: %+v has an index out of range", line, mapping)
			}
			if mapping.SourceLine < 0 || mapping.SourceColumn < 0 || mapping.Source < 0 && mapping.Name >= 0 {
				t.Fatalf("line %d: %+v is impossible", line, mapping)
			}
			if at := m.At(int32(line), mapping.Column); at < first+i || m.Mappings()[at].Column != mapping.Column {
				t.Fatalf("line %d: found mapping %d instead of %+v", line, at, mapping)
			}
		}
	}
	if next != len(m.Mappings()) {
		t.Fatalf("lines have %d mappings of %d", next, len(m.Mappings()))
	}
	for _, s := range m.Sources {
		if !utf8.ValidString(s.Name) {
			t.Fatalf("source %q is not UTF-8", s.Name)
		}
	}
}

// FuzzPositions checks that the place of a character leads back to its offset.
func FuzzPositions(f *testing.F) {
	scripts, err := filepath.Glob("testdata/*.js")
	if err != nil || len(scripts) == 0 {
		f.Fatal("no scripts in testdata")
	}
	for _, name := range scripts {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, int32(1), int32(5))
	}
	for _, s := range []string{"\x80\n\x80a", "\xf0\xf0\xe2\x80", "\xf0\xf00", "\u2028\r\n\r𝒳", "\ufeff\ufeff"} {
		f.Add([]byte(s), int32(0), int32(2))
	}
	f.Fuzz(func(t *testing.T, text []byte, line, column int32) {
		checkRoundTrip(t, text, line, column)
		if utf8.Valid(text) {
			checkPositions(t, text)
		}
	})
}
