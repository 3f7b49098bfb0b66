package wasm

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

func mustRead(t testing.TB, data []byte, name string) *Module {
	t.Helper()
	m, err := Read(bytes.NewReader(data), name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// padding is a custom section of about n bytes.
func padding(n int) []byte { return section(sectionCustom, text("padding"), make([]byte, n)) }

// TestRenameRecorded renames the frames of a profile recorded by Node.js, see testdata/README.md.
func TestRenameRecorded(t *testing.T) {
	fib, err := os.ReadFile("testdata/fib.wasm")
	if err != nil {
		t.Fatal(err)
	}
	frames := recordedFrames(t)
	named, other := mustRead(t, fib, "fib.wasm"), mustRead(t, module(), "other.wasm")
	// The module, run in three forms, is the only one, or one of two.
	for _, modules := range []Modules{{named}, {named, other}} {
		got := map[string]bool{}
		for f := range frames {
			got[f.Resource+" "+modules.Rename(f).Name] = true
			if f.Resource == "file:///record.mjs" && modules.Rename(f) != f {
				t.Errorf("%+v is a JavaScript frame", f)
			}
		}
		for url, known := range map[string]bool{
			"wasm://wasm/app-3b507e7a": true, // with names, of which one is missing
			"wasm://wasm/59dbfb72":     len(modules) == 1,
			"wasm://wasm/00013a92":     len(modules) == 1,
		} {
			for name, raw := range map[string]string{"app::fib": "wasm-function[1]", "work(int)": "wasm-function[2]",
				"run": "wasm-function[3]"} {
				if got[url+" "+name] != known || got[url+" "+raw] == known {
					t.Errorf("%d modules: %s in %s: want it named: %v", len(modules), name, url, known)
				}
			}
		}
	}
}

// recordedFrames returns the frames of the recorded profile.
func recordedFrames(t *testing.T) map[trie.Frame]bool {
	t.Helper()
	file, err := os.Open("testdata/fib.cpuprofile.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var profile struct {
		Nodes []struct {
			CallFrame struct{ FunctionName, URL string }
		}
	}
	if err := json.NewDecoder(z).Decode(&profile); err != nil {
		t.Fatal(err)
	}
	frames := map[trie.Frame]bool{}
	for _, n := range profile.Nodes {
		frames[trie.Frame{Name: n.CallFrame.FunctionName, Resource: n.CallFrame.URL}] = true
	}
	return frames
}

// large returns a module of n bytes.
func large(n int) []byte {
	const some = 1 << 14 // n has an encoding of the same length
	return module(padding(n - len(module(padding(some))) + some))
}

// TestHashes tests URLs that V8 used for modules with these bytes.
func TestHashes(t *testing.T) {
	for _, c := range []struct {
		url  string
		data []byte
	}{
		{"wasm://wasm/d9128ea6", module()},            // Node.js 20
		{"wasm://wasm/0001394a", large(20_050)},       // Node.js 20 and Chromium 156
		{"wasm://wasm/hello-0001394a", large(20_050)}, // the same
	} {
		_, hash, ok := cutURL(c.url)
		if m := mustRead(t, c.data, "x"); !ok || m.hashes[0] != hash {
			t.Errorf("%s: %d bytes have %08x", c.url, len(c.data), m.hashes)
		}
	}
}

func TestRenameFinds(t *testing.T) {
	own := section(sectionCustom, text("name"), section(0, text("engine")),
		section(1, vector(append(number(0), text("own")...))))
	names := functionNames(0, "large")
	plain := large(20_000)
	a, b := mustRead(t, module(functionNames(0, "a")), "dist/a.wasm"), mustRead(t, append(plain, names...),
		`C:\b.debug.wasm`)
	c := mustRead(t, module(own), "c.wasm")
	twin := mustRead(t, module(own), "twin.wasm")
	hash := func(size int) string { return fmt.Sprintf("%08x", size<<2|2) }
	for _, x := range []struct {
		modules       Modules
		url, function string
		want          string
	}{
		{Modules{a}, "", "wasm-function[0]", "a"},
		{Modules{a}, "wasm ", "wasm-function[0]", "a"},
		{Modules{a}, "wasm://wasm/12345678", "wasm-function[0]", "a"},
		{Modules{a}, "wasm://wasm/12345678", "wasm-function[1]", "wasm-function[1]"},
		{Modules{a, b}, "", "wasm-function[0]", "wasm-function[0]"},
		{Modules{a, b}, "wasm://wasm/12345678", "wasm-function[0]", "wasm-function[0]"},
		{Modules{a, b}, "wasm://wasm/" + hash(len(plain)+len(names)), "wasm-function[0]", "large"},
		{Modules{a, b}, "wasm://wasm/" + hash(len(plain)), "wasm-function[0]", "large"},
		{Modules{a, b}, "https://x.example/a.wasm?v=1", "wasm-function[0]", "a"},
		{Modules{a, b}, "https://x.example/a.wasm", "<?>.wasm-function[0]", "a"},
		{Modules{a, b}, "https://x.example/z.wasm", "wasm-function[0]", "wasm-function[0]"},
		{Modules{a, c}, "wasm://wasm/engine-00000000", "wasm-function[0]", "own"},
		{Modules{c, twin}, "wasm://wasm/engine-00000000", "wasm-function[0]", "wasm-function[0]"},
		{Modules{c, twin}, "https://x.example/twin.wasm", "wasm-function[0]", "own"},
		{Modules{a}, "https://x.example/a.js", "f", "f"},
		{Modules{a}, "https://x.example/a.js", "_Z4worki", "_Z4worki"},
		{Modules{a, b}, "wasm://wasm/00000000", "_Z4worki", "work(int)"},
		{Modules{}, "wasm://wasm/00000000", "wasm-function[0]", "wasm-function[0]"},
		{Modules{a}, "", "wasm-function[-1]", "wasm-function[-1]"},
		{Modules{a}, "", "wasm-function[99999999999]", "wasm-function[99999999999]"},
		{Modules{a}, "", "my-wasm-function[0]", "my-wasm-function[0]"},
	} {
		f := trie.Frame{Name: x.function, Resource: x.url, Line: 1, Column: 2}
		got := x.modules.Rename(f)
		if f.Name = x.want; got != f {
			t.Errorf("%s in %q: got %+v, want %q", x.function, x.url, got, x.want)
		}
		if again := x.modules.Rename(got); again != got {
			t.Errorf("%+v became %+v", got, again)
		}
	}
}

func FuzzRead(f *testing.F) {
	fib, err := os.ReadFile("testdata/fib.wasm")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(fib)
	f.Add(module(someImports, functionNames(0, "_ZN3app3fib17h0123456789abcdefE", "_RNvC3app3fib")))
	f.Add(module(section(sectionCustom, text("go:buildid")), functionNames(3, "main.__T_.Work")))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(bytes.NewReader(data), "x")
		if err != nil {
			return
		}
		// A name takes at least two bytes, and demangling it is bounded.
		if len(m.names) > len(data)/2 || m.Imports > len(data)/4 {
			t.Fatalf("%d names and %d imports of %d bytes", len(m.names), m.Imports, len(data))
		}
		for i := range maps.Keys(m.names) {
			if got := m.Function(i); len(got) > len(data)+1<<maxDemangled {
				t.Fatalf("a name of %d bytes", len(got))
			}
		}
	})
}
