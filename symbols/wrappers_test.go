package symbols_test

import (
	"os"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
)

// esbuild's wrapper around a lazily loaded module gets the name of the module, not of a function
// that begins at the same place. The script has three small modules, made by esbuild 0.28 with
// --bundle --minify --sourcemap=external --format=esm.
func TestWrappers(t *testing.T) {
	script, err := os.ReadFile("testdata/wrappers/out.js")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/wrappers/out.js.map")
	if err != nil {
		t.Fatal(err)
	}
	m, err := sourcemap.Read(text, sourcemap.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	table, _, err := symbols.Make(script, m)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		"(z,u)=>":    "(module) of old.js",
		"j(o){":      "measure of old.js",
		"()=>{n=f(":  "(module) of late.js",
		"f(o,t){":    "first of late.js",
		"()=>{a();g": "(module) of lazy.js",
		"m(o){":      "show of lazy.js",
	} {
		column := strings.Index(string(script), at)
		if at[0] != '(' { // V8 reports where the parameters begin
			column += strings.IndexByte(at, '(')
		}
		got := "nothing"
		if f := table.Find(1, uint32(column)+1); f != nil && f.Source >= 0 {
			got = f.Name + " of " + table.Sources[f.Source].Name
		}
		if got != want {
			t.Errorf("%s is %s, want %s", at, got, want)
		}
	}
}
