package wasm

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// number, vector and section encode parts of a module.
func number(n uint32) []byte {
	var b []byte
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func text(s string) []byte { return append(number(uint32(len(s))), s...) }

func vector(items ...[]byte) []byte {
	return append(number(uint32(len(items))), slices.Concat(items...)...)
}

func section(id byte, parts ...[]byte) []byte {
	body := slices.Concat(parts...)
	return append(append([]byte{id}, number(uint32(len(body)))...), body...)
}

func module(sections ...[]byte) []byte {
	return append(header[:len(header):len(header)], slices.Concat(sections...)...)
}

// functionNames returns a name section with names for functions from first up.
func functionNames(first uint32, names ...string) []byte {
	var items [][]byte
	for i, n := range names {
		items = append(items, append(number(first+uint32(i)), text(n)...))
	}
	return section(0, text("name"), section(1, vector(items...)))
}

// someImports has two functions, first and last, and one import of every other kind.
var someImports = section(sectionImport, vector(
	slices.Concat(text("env"), text("tick"), []byte{kindFunction, 7}),
	slices.Concat(text("env"), text("table"), []byte{kindTable, 0x63, 0x70, 1, 1, 2}),
	slices.Concat(text("env"), text("memory"), []byte{kindMemory, 0x0d}, number(1), number(1<<20), number(16)),
	slices.Concat(text("env"), text("global"), []byte{kindGlobal, 0x7f, 1}),
	slices.Concat(text("env"), text("tag"), []byte{kindTag, 0, 3}),
	slices.Concat(text("env"), text("tock"), []byte{kindFunction}, number(300)),
))

func TestRead(t *testing.T) {
	data := module(section(sectionCustom, text("producers"), []byte{0xff, 0xff}), someImports,
		section(3, []byte{3, 0, 0, 0}),
		section(sectionExport, vector(
			slices.Concat(text("run"), []byte{kindFunction, 3}),
			slices.Concat(text("memory"), []byte{kindMemory, 0}),
			slices.Concat(text("again"), []byte{kindFunction, 3}),
			slices.Concat(text("named"), []byte{kindFunction, 2}))),
		section(sectionCustom, text("name"), section(0, text("app")), section(7, []byte("later")),
			section(1, vector(
				append(number(2), text("_ZN3app4core17h0123456789abcdefE")...),
				append(number(2), text("twice")...),
				append(number(4), text("a\xffb")...)))))
	m, err := Read(bytes.NewReader(data), "x.wasm")
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "x.wasm" || m.own != "app" || m.Imports != 2 || m.fromGo {
		t.Errorf("got %+v", m)
	}
	for i, want := range []string{"env.tick", "env.tock", "app::core", "run", "a\ufffdb", "", ""} {
		if got := m.Function(uint32(i)); got != want {
			t.Errorf("function %d: got %q, want %q", i, got, want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	long := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0}
	for _, c := range []struct {
		name string
		data []byte
		err  string
	}{
		{"empty", nil, "x: not a WebAssembly module"},
		{"text", []byte("(module)"), "not a WebAssembly module"},
		{"short", header[:5], "not a WebAssembly module"},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), "WebAssembly version 0d000100 is not supported"},
		{"no length", module([]byte{3}), "byte 9: unexpected end"},
		{"length over the end", module([]byte{3, 9, 0}), "byte 10: a length of 9, but 1 bytes are left"},
		{"length of six bytes", module([]byte{3}, long), "byte 14: a number of more than 32 bits"},
		{"length of 35 bits", module([]byte{3, 0xff, 0xff, 0xff, 0xff, 0x7f}), "more than 32 bits"},
		{"name over the section", module(section(0, []byte{5, 'n'}), section(3, []byte("aaaaaaaa"))),
			"byte 11: a length of 5, but 1 bytes are left"},
		{"truncated name section", module(section(0, text("name"), []byte{1, 4, 1, 0, 9, 'a'})),
			"byte 20: a length of 9, but 1 bytes are left"},
		{"fewer names than stated", module(section(0, text("name"), section(1, number(1<<31)))), "unexpected end"},
		{"unknown import", module(section(sectionImport, vector(slices.Concat(text("a"), text("b"), []byte{9})))),
			"an import of the unknown kind 9"},
		{"fewer imports than stated", module(section(sectionImport, number(1<<31))), "unexpected end"},
		{"unterminated limits", module(section(sectionImport, vector(slices.Concat(text("a"), text("b"),
			[]byte{kindMemory, 0}, bytes.Repeat([]byte{0x80}, 11))))), "more than 64 bits"},
		{"export", module(section(sectionExport, vector(text("a")))), "unexpected end"},
	} {
		_, err := Read(bytes.NewReader(c.data), "x")
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.err)
		}
	}
}

// TestReadGo reads a module written by another program, the Go linker.
func TestReadGo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	source := "package main\n\ntype T struct{}\n\n//go:noinline\nfunc (t *T) Work() {}\n\nfunc main() { " +
		"new(T).Work() }\n"
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", "app.wasm", "main.go")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "app.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Read(bytes.NewReader(data), "app.wasm")
	if err != nil {
		t.Fatal(err)
	}
	// Every function has a name, and so every import, without a gap.
	numbers := slices.Sorted(maps.Keys(m.names))
	if m.Imports == 0 || len(numbers) < 500 || int(numbers[len(numbers)-1]) != len(numbers)-1 {
		t.Fatalf("%d imports, %d names up to number %d", m.Imports, len(numbers), numbers[len(numbers)-1])
	}
	for _, i := range numbers {
		if imported := strings.HasPrefix(m.names[i], "gojs."); imported != (int(i) < m.Imports) {
			t.Errorf("function %d of %d imports is %q", i, m.Imports, m.names[i])
		}
	}
	// Exports and names use the same function numbers.
	for name, want := range map[string]string{"run": "wasm_export_run", "getsp": "wasm_export_getsp"} {
		i, ok := exported(data)[name]
		if !ok || m.Function(i) != want {
			t.Errorf("export %s is function %d, %q", name, i, m.Function(i))
		}
	}
	found := false
	for i := range m.names {
		found = found || m.Function(i) == "main.(*T).Work"
	}
	if !found {
		t.Error("main.(*T).Work is missing")
	}
}

// exported returns the functions that a module exports.
func exported(data []byte) map[string]uint32 {
	functions := map[string]uint32{}
	for c := (&cursor{data: data, pos: len(header)}); c.more(); {
		id, s := c.byte(), c.part()
		if id != sectionExport {
			continue
		}
		for range s.number() {
			name, kind, i := s.text(), s.byte(), s.number()
			if kind == kindFunction {
				functions[name] = i
			}
		}
	}
	return functions
}

func TestReadable(t *testing.T) {
	for name, want := range map[string]string{
		"":                                "",
		"plain":                           "plain",
		"_ZN3app3fib17h0123456789abcdefE": "app::fib",
		"_RNvC3app3fib":                   "app::fib",
		"_Z4worki":                        "work(int)",
		"_ZN5space3fooEv.constprop.0":     "space::foo()",
		"_Z":                              "_Z",
		"_Run":                            "_Run",
		"_start":                          "_start",
		"_Z" + strings.Repeat("4worki", maxMangled): "_Z" + strings.Repeat("4worki", maxMangled),
	} {
		if got := (&Module{}).readable(name); got != want {
			t.Errorf("%.60q: got %.60q, want %.60q", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"main.main":                    "main.main",
		"main.__T_.Work":               "main.(*T).Work",
		"a.com_b_c.__T_.Work.func1":    "a.com_b_c.(*T).Work.func1",
		"a.__T_.b.__U_.c":              "a.(*T).b.(*U).c",
		"a.____T_.b":                   "a.(*__T).b",
		"main.__T_go.shape.int__.Work": "main.__T_go.shape.int__.Work",
		"main.__.b":                    "main.__.b",
		"main.___.b":                   "main.___.b",
		"main.__T_":                    "main.__T_",
		"_Z4worki":                     "_Z4worki",
	} {
		if got := (&Module{fromGo: true}).readable(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
