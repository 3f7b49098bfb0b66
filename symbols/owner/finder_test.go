package owner

import (
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// sources returns an origin whose source is the resource of a frame, if that is a path.
func sources(teams *Codeowners) func(trie.Frame) Origin {
	return func(f trie.Frame) Origin {
		switch {
		case f.Resource == "" || strings.Contains(f.Resource, ":"):
			return Origin{}
		case strings.HasPrefix(f.Resource, "node_modules/lodash/"):
			return Origin{Source: f.Resource, Version: "4.17.21", Teams: teams}
		}
		return Origin{Source: f.Resource, Teams: teams}
	}
}

func TestBy(t *testing.T) {
	teams, _, err := ParseCodeowners("/src/ @acme/web\n/src/free/\n")
	if err != nil {
		t.Fatal(err)
	}
	x := NewFinder(Default(), sources(teams))
	for _, tt := range []struct {
		frame                      trie.Frame
		owner, team, pkg, resource string
	}{
		{trie.Frame{Name: "Row", Resource: "src/Row.tsx", Line: 3, Column: 5}, "(app)", "@acme/web", "(app)",
			"src/Row.tsx"},
		{trie.Frame{Name: "x", Resource: "src/free/x.ts"}, "(app)", "(no team)", "(app)", "src/free/x.ts"},
		{trie.Frame{Name: "map", Resource: "node_modules/lodash/map.js"}, "(package lodash)", "(package)",
			"lodash@4.17.21", "node_modules/lodash/map.js"},
		{trie.Frame{Name: "a", Resource: "node_modules/vue/x.js"}, "(framework vue)", "(framework)", "vue",
			"node_modules/vue/x.js"},
		{trie.Frame{Name: "r", Resource: "webpack/bootstrap"}, "(runtime webpack)", "(runtime)", "(runtime webpack)",
			"webpack/bootstrap"},
		{trie.Frame{Name: "t", Resource: "https://shop.example/app.js"}, "(unmapped)", "(unmapped)",
			"(unmapped shop.example)", "https://shop.example/app.js"},
		{trie.Frame{Name: "appendChild"}, "(browser)", "(browser)", "(browser)", "appendChild"},
		{trie.Frame{Name: trie.FrameGC}, "(browser)", "(browser)", "(gc)", "(gc)"},
		{trie.Frame{Name: trie.FrameUnknown}, "(unknown)", "(unknown)", "(unknown)", "(unknown)"},
		{trie.Frame{Name: trie.FrameFieldtrie}, "(package fieldtrie)", "(package)", "(fieldtrie)", "(fieldtrie)"},
		{trie.ThirdParty("ads.example"), "(third-party ads.example)", "(third-party)", "(third-party ads.example)",
			"(third-party ads.example)"},
		{trie.Frame{Name: "x", Resource: "moz-extension://a/x.js"}, "(extension)", "(extension)", "(extension)",
			"moz-extension://a/x.js"},
	} {
		for what, want := range map[string]string{"owner": tt.owner, "team": tt.team, "package": tt.pkg,
			"file": tt.resource, "resource": tt.resource} {
			by, err := x.By(what)
			if err != nil {
				t.Fatal(err)
			}
			if got := by(tt.frame); got != (trie.Frame{Name: want}) {
				t.Errorf("%v by %s: got %v, want %s", tt.frame, what, got, want)
			}
		}
	}
	if _, err := x.By("colour"); err == nil || !strings.Contains(err.Error(),
		"known are owner, team, package, file, resource") {
		t.Errorf("got %v", err)
	}
}

// Without symbols, only the script determines the package.
func TestByPackageOfScripts(t *testing.T) {
	x := NewFinder(Default(), nil)
	for resource, want := range map[string]string{
		"":                                      "(browser)",
		"/srv/node_modules/@scope/pkg/index.js": "@scope/pkg",
		"https://cdn.example.com/node_modules/a/b.js":               "a",
		"https://cdn.example.com:8080/app.js":                       "(unmapped cdn.example.com:8080)",
		"https://cdn.jsdelivr.net/npm/lodash@4.17.21/lodash.min.js": "lodash@4.17.21",
		"node:internal/timers":                                      "(node)",
		"wasm://wasm/app-3b507e7a":                                  "(wasm)",
		"wasm ":                                                     "(wasm)",
		"file:///srv/app.js":                                        "(app)",
		"C:\\app\\main.js":                                          "(app)",
		"VM12":                                                      "(app)",
	} {
		if got := x.ByPackage(trie.Frame{Name: "f", Resource: resource, Line: 1}).Name; got != want {
			t.Errorf("%q: got %q, want %q", resource, got, want)
		}
	}
}

// A file is decided once per origin, and frames without a script are distinguished by their names.
func TestFinderRemembers(t *testing.T) {
	var from Origin
	x := NewFinder(Default(), func(trie.Frame) Origin { return from })
	for line := range uint32(3) {
		from = Origin{Source: "src/a.ts"}
		if got := x.Of(trie.Frame{Resource: "src/a.ts", Line: line}); got != (Owner{Kind: App}) {
			t.Errorf("got %+v", got)
		}
		from.Ignored = true
		if got := x.Of(trie.Frame{Resource: "src/a.ts", Line: line}); got != (Owner{Kind: Package, Name: "src"}) {
			t.Errorf("ignored: got %+v", got)
		}
	}
	from = Origin{}
	if a, b := x.Of(trie.Frame{Name: "f"}), x.Of(trie.ThirdParty("a")); a.Kind != Browser || b.Kind != ThirdParty {
		t.Errorf("got %v and %v", a, b)
	}
	if len(x.known) != 4 {
		t.Errorf("%d of 4 origins are remembered", len(x.known))
	}
}
