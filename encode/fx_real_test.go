package encode

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// realTraces returns the recordings of real browsers: the folder that the environment
// variable TRACES names, or that of the repository.
func realTraces(t testing.TB) map[string][]byte {
	t.Helper()
	folder := os.Getenv("TRACES")
	if folder == "" {
		folder = filepath.FromSlash("../testdata/traces")
	}
	traces := map[string][]byte{}
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		name, zipped := strings.CutSuffix(e.Name(), ".gz")
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if zipped {
			z, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if data, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		traces[name] = data
	}
	if len(traces) == 0 {
		t.Skip("no traces in " + folder)
	}
	return traces
}

// goldenTraces are the smallest of the real traces.
var goldenTraces = []string{"preact-complex.json", "svelte-complex.json", "javascript-web-components.json"}

// repositoryTrace decodes one of the traces of testdata/traces.
func repositoryTrace[L any](t testing.TB, name string, decode func([]byte, L) (*trie.Trace, error)) *trie.Trace {
	t.Helper()
	t.Setenv("TRACES", "")
	data, ok := realTraces(t)[name]
	if !ok {
		t.Fatalf("no trace %s", name)
	}
	var limits L // the default ones
	tr, err := decode(data, limits)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// importFile returns one of the files of testdata/imports.
func importFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/imports/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// threadLines returns a line for each thread of r and each of its samples: the time, the
// frames and the marker.
func threadLines(t testing.TB, r *trie.Recording) []string {
	t.Helper()
	var lines []string
	for _, th := range r.Threads {
		if len(th.Streams) != 1 {
			t.Fatalf("thread %q: %d streams", th.Name, len(th.Streams))
		}
		tr := th.Streams[0].Trace
		if err := tr.Validate(); err != nil {
			t.Fatal(err)
		}
		if !tr.Gapless {
			t.Errorf("thread %q has gaps", th.Name)
		}
		lines = append(lines, fmt.Sprintf("%s %d/%d until %d", th.Name, th.Process, th.ID, tr.End))
		for _, s := range tr.Samples {
			line := fmt.Sprintf("%d", s.Time)
			for _, f := range framesOf(&tr.Trie, s.Node) {
				line += ";" + location(f)
			}
			if s.Marker != 0 {
				line += " [" + s.Marker.String() + "]"
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// checkLines compares what was read of a file with what it should be.
func checkLines(t *testing.T, r *trie.Recording, want, warnings []string) {
	t.Helper()
	if got := threadLines(t, r); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !slices.Equal(r.Warnings, warnings) {
		t.Errorf("got warnings\n%s\nwant\n%s", strings.Join(r.Warnings, "\n"), strings.Join(warnings, "\n"))
	}
}

// fuzzRecording checks that what decode takes is valid.
func fuzzRecording[L any, K ~uint8](t *testing.T, data []byte, decode func([]byte, L) (*trie.Recording, error), kindOf func(error) K) {
	var limits L // the default ones
	r, err := decode(data, limits)
	if err != nil {
		if kindOf(err) == 0 {
			t.Fatalf("%T %v", err, err)
		}
		return
	}
	threadLines(t, r)
}

// oneTrace is the JSON of a trace with a garbage collection.
const oneTrace = `{"resources":["https://example.com/app.js"],` +
	`"frames":[{"name":"main","resourceId":0,"line":1,"column":1},{"name":"","resourceId":0,"line":12,"column":3},{"name":"querySelector"}],` +
	`"stacks":[{"frameId":0},{"frameId":1,"parentId":0},{"frameId":2,"parentId":1}],` +
	`"samples":[{"timestamp":101.4,"stackId":2},{"timestamp":121.5000000001397,"stackId":0},{"timestamp":111.45},{"timestamp":131,"stackId":1,"marker":"gc"}]}`
