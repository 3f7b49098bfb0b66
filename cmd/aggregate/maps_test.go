package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shop is the build of a small program with source maps.
const shop = "../upload/testdata/shop"

// shopTrace writes a trace of main.js of shop with minified function names. Each function is given
// by the text at its position.
func shopTrace(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(shop, "main.js"))
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) int {
		i := strings.Index(string(script), text)
		if i < 0 {
			t.Fatalf("no %s in main.js", text)
		}
		return i + strings.IndexByte(text, '(') + 1
	}
	path := filepath.Join(t.TempDir(), "trace.json")
	trace := fmt.Sprintf(`{"resources":["https://cdn.example.com/main.js"],"frames":[{"name":"o","resourceId":0,`+
		`"line":1,"column":%d},{"name":"add","resourceId":0,"line":1,"column":%d}],
		"stacks":[{"frameId":1},{"frameId":0,"parentId":0}],"samples":[{"timestamp":0,"stackId":1},{"timestamp":10,`+
		`"stackId":0},{"timestamp":20}]}`, at("function o(t)"), at("add(e)"))
	if err := os.WriteFile(path, []byte(trace), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func aggregateOf(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	err = run(t.Context(), args, strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), err
}

func TestMaps(t *testing.T) {
	trace := shopTrace(t)
	for args, want := range map[string][]string{
		"-f top": {" o (https://cdn.example.com/main.js:1:",
			" add (https://cdn.example.com/main.js:1:"},
		"-f top --maps":                {" formatPrice (src/", " Cart.add (src/cart.ts:"},
		"-f folded --maps":             {"Cart.add (src/cart.ts:"},
		"-f json --maps":               {`"Cart.add"`},
		"-f svg --maps":                {"Cart.add"},
		"-f speedscope --timed --maps": {"Cart.add"},
		"-f top --by owner --maps":     {" (app)"},
		"-f top --by file --maps":      {" src/cart.ts"},
		"-f top --only app --maps":     {" Cart.add (src/cart.ts:"},
	} {
		words := strings.Fields(args)
		if words[len(words)-1] == "--maps" {
			words = append(words, shop)
		}
		stdout, stderr, err := aggregateOf(t, append(words, trace)...)
		if err != nil {
			t.Errorf("%s: %v", args, err)
		}
		for _, text := range want {
			if !strings.Contains(stdout, text) {
				t.Errorf("%s: no %q in\n%s%s", args, text, stdout, stderr)
			}
		}
	}
}

// A script with an empty source map, as bundlers write for chunk loaders, does not prevent names in
// other scripts.
func TestMapsWithoutMappings(t *testing.T) {
	trace, dir := shopTrace(t), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(shop)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"loader.js":     "load()\n//# sourceMappingURL=loader.js.map\n",
		"loader.js.map": `{"version":3,"sources":[],"names":[],"mappings":""}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stdout, stderr, err := aggregateOf(t, "-f", "top", "--maps", dir, trace)
	if err != nil || !strings.Contains(stdout, " formatPrice (src/") ||
		!strings.Contains(stderr, "loader.js: the map has no mappings") {
		t.Errorf("%v\n%s%s", err, stdout, stderr)
	}
}

func TestMapsRefused(t *testing.T) {
	trace := shopTrace(t)
	empty, other := t.TempDir(), t.TempDir()
	for name, from := range map[string]string{"main.js": "worker.js", "main.js.map": "main.js.map"} {
		b, err := os.ReadFile(filepath.Join(shop, from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(other, name), bytes.Replace(b, []byte("worker.js.map"),
			[]byte("main.js.map"), 1), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{
		"nowhere": "--maps nowhere: no such file or directory",
		empty:     "--maps: no script with a source map in",
		other:     "--maps: no script with a source map in",
	} {
		_, stderr, err := aggregateOf(t, "-f", "top", "--maps", dir, trace)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", dir, err)
		}
		if dir == other && !strings.Contains(stderr, "the map belongs to another script") {
			t.Errorf("%s: %s", dir, stderr)
		}
	}
}
