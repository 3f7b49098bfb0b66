package encode

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// compareGolden compares got with the file testdata/name, which -update writes.
func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: %s\nif that is meant, -update rewrites it", name, firstDifference(got, want))
	}
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		line := func(s []string) string {
			if i < len(s) {
				return fmt.Sprintf("%.300q", s[i])
			}
			return "the end"
		}
		if line(g) != line(w) || i >= len(g) || i >= len(w) {
			return fmt.Sprintf("line %d:\ngot  %s\nwant %s", i+1, line(g), line(w))
		}
	}
	return "lines differ after 300 characters"
}

// weightsByStack is all that a profile says. Coverage stands as a weight without a stack.
func weightsByStack(p *trie.Profile) map[string]trie.Weight {
	out := map[string]trie.Weight{}
	add := func(key string, w trie.Weight) {
		if w.IsZero() {
			return
		}
		sum := out[key]
		out[key] = trie.Weight{Self: sum.Self + w.Self, Samples: sum.Samples + w.Samples, Reach: sum.Reach + w.Reach}
	}
	for _, g := range p.Groups {
		c := g.Coverage
		add(fmt.Sprintf("%q", g.Labels), trie.Weight{Self: c.Stackless, Samples: c.Traces, Reach: c.Views})
		add(fmt.Sprintf("%q unsampled", g.Labels), trie.Weight{Self: c.Unsampled, Samples: c.Truncated, Reach: c.Idle})
		for n, w := range g.Weights.All() {
			if !w.IsZero() {
				add(fmt.Sprintf("%q %s", g.Labels, stackText(&p.Trie, trie.NodeID(n))), w)
			}
		}
	}
	add("all", trie.Weight{Samples: p.Traces, Reach: p.Views})
	return out
}

func stackText(t *trie.Trie, n trie.NodeID) string {
	var b strings.Builder
	for a := range t.Stack(n) {
		f := t.Frame(a)
		fmt.Fprintf(&b, "%q %q %d %d,", f.Name, f.Resource, f.Line, f.Column)
	}
	return b.String()
}

type failingWriter struct{ err error }

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// jsonCases are documents, good and bad, at the edges of JSON.
var jsonCases = []string{
	``, ` `, `null`, `nul`, `nulll`, `true`, `tru`, `false`, `falsey`, "\x00", `{`, `}`, `[`, `]`,
	`{}`, `[]`, ` [ ] `, `{"a":1}`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{"a" 1}`, `{a:1}`, `{"a":1 "b":2}`,
	`[1,]`, `[,1]`, `[,]`, `[1 2]`, `[1,2`, `[1}`, `{"a":[}]}`, `[[[]]]`, `[{}]x`, `1 2`, `"a""b"`,
	`0`, `-0`, `00`, `01`, `-01`, `0.5`, `00.5`, `.5`, `5.`, `-`, `+1`, `--1`, `1e`, `1e+`, `1e5`, `1E-5`, `1.5e+07`, `0e0`,
	`1.2.3`, `1e5.5`, `1a`, `0x10`, `NaN`, `Infinity`, `-Infinity`, `1_000`, `1e999`,
	`99999999999999999999`, `9007199254740993`, `18446744073709551616`, `0.1234567890123456789`,
	`""`, `"`, `"a`, `"\`, `"\"`, `"\\"`, `"\""`, `"\/\b\f\n\r\t"`, `"\x"`, `"\u12"`, `"\u12G4"`, `"\u0041\u00e9"`,
	`"\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\ud83d\u0041"`, `"\ud83dx"`, `"\ud83d\ud83d\ude00"`, `"\ud83d\uZZZZ"`,
	"\"a\nb\"", "\"a\x1fb\"", "\"a\x7fb\"", "\"\xff\"", "\"\xc3\xa9\"", "\"\xe2\x82\"", "\"\xed\xa0\x80\"", "\"\xff\\n\"",
	"\t\r\n 1", "\f1", "\v1", "\u00a01", `// no`, `{"a":1/**/}`, `'a'`, `{"":""}`, `{"a":{"a":{"a":[1,{"b":null}]}}}`,
	strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
	strings.Repeat("[", 10_000+1) + strings.Repeat("]", 10_000+1),
	strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000),
	strings.Repeat("[", 1_000_000), strings.Repeat(`{"":`, 1_000_000),
}

func framesOf(t *trie.Trie, n trie.NodeID) []trie.Frame {
	var frames []trie.Frame
	for n := range t.Stack(n) {
		frames = append(frames, t.Frame(n))
	}
	slices.Reverse(frames)
	return frames
}

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
