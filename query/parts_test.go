package query

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

func TestByPackage(t *testing.T) {
	for resource, want := range map[string]string{
		"":                                      "f",
		"/srv/node_modules/@scope/pkg/index.js": "@scope/pkg",
		"https://cdn.example.com/node_modules/a/b.js": "a",
		"https://cdn.example.com:8080/app.js":         "cdn.example.com:8080",
		"node:internal/timers":                        "(node)",
		"wasm://wasm/app-3b507e7a":                    "(wasm)",
		"wasm ":                                       "(wasm)",
		"file:///srv/app.js":                          "(own code)",
		"C:\\app\\main.js":                            "(own code)",
		"VM12":                                        "(own code)",
	} {
		if got := ByPackage(trie.Frame{Name: "f", Resource: resource, Line: 1}).Name; got != want {
			t.Errorf("%q: got %q, want %q", resource, got, want)
		}
	}
	if got := ByResource(trie.Frame{Name: "f", Resource: "a.js", Line: 1}); got != (trie.Frame{Name: "a.js"}) {
		t.Errorf("got %v", got)
	}
	if got := ByResource(trie.Frame{Name: "(gc)"}); got != (trie.Frame{Name: "(gc)"}) {
		t.Errorf("got %v", got)
	}
}
