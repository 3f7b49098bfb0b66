// Command viewers writes sample traces in every format. The tests of this folder open
// them in the programs that read these formats.
//
//	go run ./test/viewers OUTDIR
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/firefox"
	"github.com/fieldtrie/fieldtrie/encode/folded"
	"github.com/fieldtrie/fieldtrie/encode/otlp"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/encode/pprof"
	"github.com/fieldtrie/fieldtrie/encode/speedscope"
	"github.com/fieldtrie/fieldtrie/encode/view"
	"github.com/fieldtrie/fieldtrie/trie"

	v8 "github.com/fieldtrie/fieldtrie/encode/v8"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "viewers:", err)
		os.Exit(1)
	}
}

// sampleTraces returns the traces of all outputs, and the traces of the base of comparisons:
// some are in both with different counts, some only in one.
func sampleTraces() (traces, before []string) {
	return []string{"react-complex", "newssite-news-nuxt", "newssite-news-nuxt", "charts-chartjs"},
		[]string{"react-complex", "react-complex", "newssite-news-nuxt", "vue"}
}

// expected has the expected numbers of a viewer. Times are µs.
type expected struct {
	Self      int64            `json:"self"`      // of all stacks
	BaseSelf  int64            `json:"baseSelf"`  // of the base
	Functions map[string]int64 `json:"functions"` // self time by name, of all stacks
	Timed     timed            `json:"timed"`     // of the first trace
}

type timed struct {
	Self      int64            `json:"self"`
	Span      int64            `json:"span"` // first start to last end
	Calls     int              `json:"calls"`
	Functions map[string]int64 `json:"functions"` // self time by name
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("one argument, the folder to write to")
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	traces, before := sampleTraces()
	p, err := merged(traces)
	if err != nil {
		return err
	}
	base, err := merged(before)
	if err != nil {
		return err
	}
	first, err := readTrace(traces[0])
	if err != nil {
		return err
	}
	line, err := trie.Calls(&trie.Stream{Trace: first}, nil, trie.MaxCalls)
	if err != nil {
		return err
	}
	line.Process, line.Thread, line.Name = 7, 8, "CrRendererMain"
	if err := writeAll(args[0], p, base, line); err != nil {
		return err
	}
	want := expected{Self: total(p), BaseSelf: total(base), Functions: map[string]int64{}}
	flat, _ := p.Flat()
	for n, w := range flat {
		if w.Self != 0 {
			want.Functions[name(p.Frame(trie.NodeID(n)))] += w.Self
		}
	}
	want.Timed = expectTimed(line)
	data, err := json.Marshal(want)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(args[0], "expected.json"), data, 0o644)
}

// writeAll writes p, p compared with base, and line, in every format that supports them.
func writeAll(dir string, p, base *trie.Profile, line *trie.Timeline) error {
	o := output.Options{Title: "/feed", Rows: 60}
	compare := o
	compare.Base = base
	lines := []*trie.Timeline{line}
	worker := *line
	worker.Thread, worker.Name = 9, "DedicatedWorker thread"
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"merged.d3.json", func(w io.Writer) error { return view.EncodeD3(w, p, o) }},
		{"compared.d3.json", func(w io.Writer) error { return view.EncodeD3(w, p, compare) }},
		{"timed.d3.json", func(w io.Writer) error { return view.EncodeD3Timed(w, lines, o) }},
		{"merged.svg", func(w io.Writer) error { return view.EncodeSVG(w, p, o) }},
		{"compared.svg", func(w io.Writer) error { return view.EncodeSVG(w, p, compare) }},
		{"hostile.svg", func(w io.Writer) error { return view.EncodeSVG(w, hostile(), o) }},
		{"merged.cpuprofile", func(w io.Writer) error { return v8.EncodeCPUProfile(w, p, o) }},
		{"timed.cpuprofile", func(w io.Writer) error { return v8.EncodeCPUProfileTimed(w, lines, o) }},
		{"merged.speedscope.json", func(w io.Writer) error { return speedscope.Encode(w, p, o) }},
		{"timed.speedscope.json", func(w io.Writer) error { return speedscope.EncodeTimed(w, lines, o) }},
		{"timed.trace.json", func(w io.Writer) error { return v8.EncodeChromeTraceTimed(w, lines, o) }},
		{"timed.firefox.json", func(w io.Writer) error {
			return firefox.EncodeTimed(w, []*trie.Timeline{line, &worker}, o)
		}},
		{"merged.folded", func(w io.Writer) error { return folded.Encode(w, p, o) }},
		{"merged.tree", func(w io.Writer) error { return view.EncodeTree(w, p, o) }},
		{"compared.tree", func(w io.Writer) error { return view.EncodeTree(w, p, compare) }},
		{"merged.csv", func(w io.Writer) error { return view.EncodeCSV(w, p, o) }},
		{"merged.otlp", func(w io.Writer) error { return otlp.Encode(w, p, o) }},
		{"merged.pprof", func(w io.Writer) error { return pprof.Encode(w, p, o) }},
	} {
		var b bytes.Buffer
		if err := f.write(&b); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.name), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// hostile has names that would break a document if they were not escaped.
func hostile() *trie.Profile {
	p := trie.NewProfile()
	for i, name := range []string{
		"</title></svg><script>window.broken = 1</script>", "]]><script>window.broken = 2</script>",
		`" onload="window.broken = 3`, "\x00\x01\x1b[2J\ufffe", "&lt;&amp;&broken;", "--><!--",
		string(bytes.Repeat([]byte("long"), 2500)), "日本語の関数名日本語の関数名日本語の関数名", "\xff\xfe",
	} {
		f := trie.Frame{Name: name, Resource: "https://example.com/" + name, Line: 1, Column: 1}
		p.Add(nil, p.Insert(f), trie.Weight{Self: int64(10_000 + i), Samples: 1, Reach: 1})
	}
	return p
}

func merged(names []string) (*trie.Profile, error) {
	m := trie.NewMerger()
	for _, name := range names {
		t, err := readTrace(name)
		if err != nil {
			return nil, err
		}
		group := m.Group(trie.MakeLabels("page", "/"+name))
		m.AddTrace(t, func(trie.Slice) int { return group })
	}
	return m.Profile(), nil
}

func readTrace(name string) (*trie.Trace, error) {
	f, err := os.Open(filepath.Join("testdata", "traces", name+".json.gz"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	return encode.DecodeTraceJSON(data, encode.Limits{})
}

func total(p *trie.Profile) int64 {
	var sum int64
	for i := range p.Groups {
		self, _ := p.Groups[i].Sum()
		sum += self
	}
	return sum
}

func expectTimed(t *trie.Timeline) timed {
	out := timed{Self: t.Self(), Calls: len(t.Calls), Functions: map[string]int64{}}
	for s := range t.Segments() {
		out.Span += s.End - s.Start
		if s.Node != trie.Root {
			out.Functions[name(t.Frame(s.Node))] += s.End - s.Start
		}
	}
	return out
}

func name(f trie.Frame) string {
	if f.Name == "" {
		return output.Anonymous
	}
	return f.Name
}
