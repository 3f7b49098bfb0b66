package build

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
)

func TestComplete(t *testing.T) {
	project := filesOf(map[string]string{
		"src/a.ts": "one\ntwo", "packages/b/b.tsx": "b", "app/page.vue": "<script>", "node_modules/p/index.js": "p",
		".env": "SECRET", "src/key.pem": "SECRET", "src/long.ts": "0123456789",
	})
	for _, c := range []struct{ name, content, why string }{
		{"../../src/a.ts", "one\ntwo", ""},
		{"../../src/./x/../a.ts", "one\ntwo", ""},
		{`..\..\src\a.ts`, "one\ntwo", ""},
		{"webpack://app/./src/a.ts", "one\ntwo", ""},
		{"webpack:///./src/a.ts", "one\ntwo", ""},
		{"turbopack:///[project]/app/page.vue", "<script>", ""},
		{"rspack://app/node_modules/p/index.js", "p", ""},
		{"../../packages/b/b.tsx", "b", ""},
		{"../../../outside.ts", "", "outside the folder of the project"},
		{"webpack://app/../outside.ts", "", "outside the folder of the project"},
		{"/etc/a.ts", "", "an absolute path is not read"},
		{"https://site.example/a.ts", "", "a URL is not read"},
		{"file:///etc/a.ts", "", "a URL is not read"},
		{"../../.env", "", "not a script"},
		{"../../src/key.pem", "", "not a script"},
		{"../../src", "", "not a script"},
		{"webpack/runtime/chunk loaded", "", "not a script"},
		{"webpack://app/./app/page.vue?a1b2", "", "it was made by the build"},
		{"../../src/none.ts", "", "file does not exist"},
		{"../../src/long.ts", "", "too large: 10 bytes, the most is 9"},
		{"webpack://", "", "not a script"},
	} {
		m := &sourcemap.Map{Sources: []sourcemap.Source{{Name: c.name}, {}, {Name: c.name, Content: []byte("own")}}}
		missing := Complete(m, project, "dist/js/a.js.map", 9)
		if got := string(m.Sources[0].Content); got != c.content {
			t.Errorf("%s: content %q, not %q", c.name, got, c.content)
		}
		var want []Missing
		if c.why != "" {
			want = []Missing{{0, c.name, c.why}}
		}
		if !slices.Equal(missing, want) {
			t.Errorf("%s: missing %v, not %v", c.name, missing, want)
		}
		if m.Sources[1].Content != nil || string(m.Sources[2].Content) != "own" {
			t.Errorf("%s: other sources have changed", c.name)
		}
	}
}

// TestCompleteInAll: the limit is for all sources of a map, and a file that has been cut since
// is not taken.
func TestCompleteInAll(t *testing.T) {
	project := filesOf(map[string]string{"a.ts": "12345", "b.ts": "12345", "c.ts": "1\n2", "d.ts": "1\n2"})
	m, err := sourcemap.Read([]byte(`{"version":3,"sources":["c.ts","d.ts","a.ts","b.ts"],"mappings":"AACA,ACCA"}`), sourcemap.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	missing := Complete(m, project, "a.js.map", 10)
	want := []Missing{
		{1, "d.ts", "it has fewer lines than when it was built"},
		{3, "b.ts", "too large: 5 bytes, the most is 2"},
	}
	if !slices.Equal(missing, want) {
		t.Errorf("missing %v, not %v", missing, want)
	}
}

// TestLoadCompletes: the folder of the build is at its place in that of the project.
func TestLoadCompletes(t *testing.T) {
	dist := filesOf(map[string]string{
		"js/a.js": "x", "js/a.js.map": `{"version":3,"sources":["../../../src/a.ts","../../../src/b.ts"],"mappings":""}`,
		"b.js": "y//# sourceMappingURL=data:,%7B%22version%22:3,%22sources%22:%5B%22../../src/a.ts%22%5D,%22mappings%22:%22%22%7D",
	})
	o := Options{Sources: fstest.MapFS{"src/a.ts": {Data: []byte("text")}}, Dir: "out/dist"}
	b, err := Find(dist, o)
	if err != nil {
		t.Fatal(err)
	}
	var problems []string
	for _, s := range b.Scripts {
		l, err := b.Load(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(l.Map.Sources[0].Content); got != "text" {
			t.Errorf("%s: content %q", s.Path, got)
		}
		for _, p := range l.Problems {
			problems = append(problems, fmt.Sprint(p))
		}
	}
	want := []string{`js/a.js: its map has no content of 1 of 2 sources, so some functions keep their names: "../../../src/b.ts" (file does not exist); ` +
		"have the build write sourcesContent, or give the folder of the project"}
	if !slices.Equal(problems, want) {
		t.Errorf("got %q\nwant %q", problems, want)
	}
}
