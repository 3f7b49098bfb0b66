package naming

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/trie"
)

func TestLinks(t *testing.T) {
	l := &library{}
	x := table(1, fn(10, "a", "renderRow", 1), fn(20, "b", "commit", 2))
	x.Sources = []symbols.Source{{Name: "src/my table/Row#1.tsx"}, {Name: "node_modules/react-dom/index.js"}}
	x.Functions[1].Source = 1
	l.add("v 1/2", "app.js", x)
	l.uploads[0].Repository = "example/shop"
	names := name(l, "v 1/2", at("/app.js", "a", 10), at("/app.js", "b", 20))
	links, err := ParseLinks("https://git.example.com/{repo}/blob/{release}/{file}#L{line}")
	if err != nil {
		t.Fatal(err)
	}
	const want = "https://git.example.com/example/shop/blob/v%201%2F2/src/my%20table/Row%231.tsx#L10"
	if got := links.Of(names, names.Of("v 1/2", at("/app.js", "a", 10))); got != want {
		t.Errorf("got %s, not %s", got, want)
	}
	for _, f := range []trie.Frame{names.Of("v 1/2", at("/app.js", "b", 20)), at("/app.js", "x", 1), {Name: "(gc)"}} {
		if got := links.Of(names, f); got != "" {
			t.Errorf("%v: %s", f, got)
		}
	}
	if got := (Links{}).Of(names, names.Of("v 1/2", at("/app.js", "a", 10))); got != "" {
		t.Errorf("without a template: %s", got)
	}
	for _, template := range []string{"", "javascript:{file}", "git.example.com/{file}",
		"https://git.example.com/{line}", "https://%zz/{file}"} {
		if _, err := ParseLinks(template); err == nil {
			t.Errorf("%s is a template", template)
		}
	}
}
