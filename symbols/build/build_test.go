package build

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// aMap returns a map with its own name, and more keys, as {"a":"b"}.
func aMap(source string, more ...string) string {
	return fmt.Sprintf(`{"version":3,"sources":[%q],"sourcesContent":["x"],"mappings":"AAAA"%s}`, source,
		strings.Join(more, ""))
}

// filesOf returns a file system with texts.
func filesOf(texts map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range texts {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// describe finds and loads all scripts and returns a line for each script and problem.
func describe(t *testing.T, b *Build) (lines []string) {
	t.Helper()
	problems := slices.Clone(b.Problems)
	for _, s := range b.Scripts {
		l, err := b.Load(s)
		if err != nil {
			t.Fatal(err)
		}
		line := s.Path
		if s.Way != NoMap {
			line += " " + strings.TrimSpace(string(s.Way)+" "+s.MapPath)
		}
		if l.Map != nil {
			line += " of " + l.Map.Sources[0].Name
		}
		lines = append(lines, line)
		problems = append(problems, l.Problems...)
	}
	sortProblems(problems)
	for _, p := range problems {
		if p.Advice == "" {
			t.Errorf("%v has no advice", p)
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s", p.Kind, p.Path, p.What))
	}
	return lines
}

const (
	uuid      = "0123abcd-0123-4567-89ab-0123456789ab"
	otherUUID = "ffffffff-0123-4567-89ab-0123456789ab"
)

func TestFind(t *testing.T) {
	inline := "data:application/json;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(aMap("a.ts")))
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"nothing", map[string]string{"index.html": "<!doctype html>", "a.css": "", "a.css.map": "{}"}, nil},
		{"by comment", map[string]string{
			"js/a.js": "x\n//# sourceMappingURL=a.js.map\n", "js/a.js.map": aMap("a.ts"),
		}, []string{"js/a.js comment js/a.js.map of a.ts"}},
		{"by comment in another folder", map[string]string{
			"js/a.js": "x\n//# sourceMappingURL=../maps/a.json", "maps/a.json": aMap("a.ts"),
			"js/a.js.map": aMap("wrong.ts"),
		}, []string{"js/a.js comment maps/a.json of a.ts"}},
		{"by comment under another name", map[string]string{
			"chunks/0p2.js": "x\n//# sourceMappingURL=1_4.js.map", "chunks/1_4.js.map": aMap("a.ts"),
		}, []string{"chunks/0p2.js comment chunks/1_4.js.map of a.ts"}},
		{"by comment with escapes and a query", map[string]string{
			"[id].js": "x\n//# sourceMappingURL=%5Bid%5D.js.map?v=1#x", "[id].js.map": aMap("a.ts"),
		}, []string{"[id].js comment [id].js.map of a.ts"}},
		{"by comment with a percent sign", map[string]string{
			"a.js": "x\n//# sourceMappingURL=100%.map", "100%.map": aMap("a.ts"),
		}, []string{"a.js comment 100%.map of a.ts"}},
		{"the last comment", map[string]string{
			"a.js":  "//# sourceMappingURL=b.map\nx\n//# sourceMappingURL=c.map\n//# debugId=" + uuid + "\n\n",
			"b.map": aMap("b.ts"), "c.map": aMap("c.ts"),
		}, []string{"a.js comment c.map of c.ts"}},
		{"all suffixes", map[string]string{
			"a.mjs": "", "a.mjs.map": aMap("m.ts"), "a.cjs": "", "a.cjs.map": aMap("c.ts"),
			"a.js.gz": "", "a.js.br": "", "a.jsx": "", "a.ts": "", "ajs": "",
		}, []string{"a.cjs beside a.cjs.map of c.ts", "a.mjs beside a.mjs.map of m.ts"}},
		{"beside", map[string]string{
			"a.js": "x", "a.js.map": aMap("a.ts"),
		}, []string{"a.js beside a.js.map of a.ts"}},
		{"inline in base64", map[string]string{
			"a.js": "x\n//# sourceMappingURL=" + inline,
		}, []string{"a.js inline of a.ts"}},
		{"inline without padding", map[string]string{
			"a.js": "x\n//# sourceMappingURL=" + strings.TrimRight(inline, "="),
		}, []string{"a.js inline of a.ts"}},
		{"inline with percent signs", map[string]string{
			"a.js": "x\n//# sourceMappingURL=data:application/json," + url.PathEscape(aMap("a.ts")),
		}, []string{"a.js inline of a.ts"}},
		{"URL with a file next to the script", map[string]string{
			"js/a.js": "x\n//# sourceMappingURL=https://cdn.example/maps/m.map?x", "js/m.map": aMap("a.ts"),
			"js/b.js": "y\n//# sourceMappingURL=/static/n.map", "js/n.map": aMap("b.ts"),
		}, []string{"js/a.js comment js/m.map of a.ts", "js/b.js comment js/n.map of b.ts"}},
		{"URL with a map named after the script", map[string]string{
			"a.js": "x\n//# sourceMappingURL=https://cdn.example/m.map", "a.js.map": aMap("a.ts"),
		}, []string{"a.js beside a.js.map of a.ts"}},
		{"by file key", map[string]string{
			"js/a.js": "x", "maps/1.map": aMap("a.ts", `,"file":"../js/a.js"`), "maps/2.map": aMap("b.ts",
				`,"file":"b.js"`),
		}, []string{"js/a.js file maps/1.map of a.ts"}},
		{"by the last part of the file key", map[string]string{
			"js/a.js": "x", "maps/1.map": aMap("a.ts", `,"file":"static/a.js"`),
		}, []string{"js/a.js file maps/1.map of a.ts"}},
		{"an ambiguous file key", map[string]string{
			"js/a.js": "x", "old/a.js": "y", "maps/1.map": aMap("a.ts", `,"file":"a.js"`),
		}, []string{"js/a.js", "old/a.js", "no-map js/a.js: it has no source map",
			"no-map old/a.js: it has no source map"}},
		{"by debug ID", map[string]string{
			"a.js": "x\n//# debugId=" + strings.ToUpper(uuid), "1.map": aMap("a.ts", `,"debug_id":"`+uuid+`"`),
			"2.map": aMap("b.ts", `,"file":"a.js"`),
		}, []string{"a.js debug ID 1.map of a.ts"}},
		{"a map of another script is not used", map[string]string{
			"a.js": "x", "b.js": "y", "b.js.map": aMap("b.ts", `,"file":"a.js"`),
		}, []string{"a.js", "b.js beside b.js.map of b.ts", "no-map a.js: it has no source map"}},
		{"a script without a map between scripts with one", map[string]string{
			"a.js": "x", "a.js.map": aMap("a.ts"), "b.js": "y", "c.js": "z", "c.js.map": aMap("c.ts"),
		}, []string{"a.js beside a.js.map of a.ts", "b.js", "c.js beside c.js.map of c.ts",
			"no-map b.js: it has no source map"}},
		{"skipped folders", map[string]string{
			".cache/a.js": "", "x/.git/a.js": "", "node_modules/p/a.js": "", "x/node_modules/p/a.js": "",
			"x/_next/a.js": "", "x/_next/a.js.map": aMap("a.ts"),
		}, []string{"x/_next/a.js beside x/_next/a.js.map of a.ts"}},
		{"copies with one map", map[string]string{
			"a.js": "x//# sourceMappingURL=m.map", "b.js": "x//# sourceMappingURL=m.map", "m.map": aMap("a.ts"),
		}, []string{"a.js comment m.map of a.ts", "b.js comment m.map of a.ts"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := Find(filesOf(c.files), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(t, b); !slices.Equal(got, c.want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"))
			}
		})
	}
}

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"a comment that leads out of the folder", map[string]string{
			"js/a.js": "x\n//# sourceMappingURL=../../etc/passwd", "etc/passwd": "root",
		}, []string{"js/a.js",
			`map-outside js/a.js: its sourceMappingURL "../../etc/passwd" is a path outside the folder, which is not ` +
				`read`}},
		{"escapes that lead out of the folder", map[string]string{
			"a.js": "x\n//# sourceMappingURL=%2e%2e%2fetc%2fpasswd",
		}, []string{"a.js", `map-outside a.js: its sourceMappingURL "%2e%2e%2fetc%2fpasswd" is a path outside the ` +
			`folder, which is not read`}},
		{"backslashes that lead out of the folder", map[string]string{
			"a.js": `x` + "\n" + `//# sourceMappingURL=..\..\secret.map`,
		}, []string{"a.js", `map-outside a.js: its sourceMappingURL "..\\..\\secret.map" is a path outside the ` +
			`folder, which is not read`}},
		{"the folder itself", map[string]string{"a.js": "x\n//# sourceMappingURL=./."},
			[]string{"a.js", `map-outside a.js: its sourceMappingURL "./." is a path outside the folder, which is ` +
				`not read`}},
		{"an absolute path", map[string]string{"a.js": "x\n//# sourceMappingURL=/etc/passwd", "etc/passwd": "root"},
			[]string{"a.js", `map-outside a.js: its sourceMappingURL "/etc/passwd" is an absolute path, which is not ` +
				`read`}},
		{"a file URL", map[string]string{"a.js": "x\n//# sourceMappingURL=file:///etc/passwd", "etc/passwd": "root"},
			[]string{"a.js", `map-outside a.js: its sourceMappingURL "file:///etc/passwd" is a URL, which is not ` +
				`read`}},
		{"a URL of the network", map[string]string{"a.js": "x\n//# sourceMappingURL=//cdn.example/a.js.map?token"},
			[]string{"a.js", `map-outside a.js: its sourceMappingURL "//cdn.example/a.js.map?token" is a URL, which ` +
				`is not read`}},
		{"a missing map", map[string]string{"a.js": "x\n//# sourceMappingURL=a.js.map"},
			[]string{"a.js", `missing-map a.js: its sourceMappingURL "a.js.map" does not exist`}},
		{"a long name", map[string]string{"a.js": "x\n//# sourceMappingURL=" + strings.Repeat("é", 1000)},
			[]string{"a.js", `missing-map a.js: its sourceMappingURL "` + strings.Repeat("é", 50) +
				`…" does not exist`}},
		{"a folder as a map", map[string]string{"a.js": "x\n//# sourceMappingURL=maps", "maps/x": ""},
			[]string{"a.js", `missing-map a.js: its sourceMappingURL "maps" does not exist`}},
		{"a data URL without data", map[string]string{"a.js": "x\n//# sourceMappingURL=data:application/json"},
			[]string{"a.js inline", "unreadable-map a.js: map in its data: URL: a data: URL without a comma"}},
		{"invalid base64", map[string]string{"a.js": "x\n//# sourceMappingURL=data:application/json;base64,ab!c"},
			[]string{"a.js inline",
				"unreadable-map a.js: map in its data: URL: decode base64 of data: URL: illegal base64 data at " +
					"input byte 2"}},
		{"invalid percent-encoding", map[string]string{"a.js": "x\n//# sourceMappingURL=data:,%7B%zz"},
			[]string{"a.js inline",
				`unreadable-map a.js: map in its data: URL: decode data: URL: invalid URL escape "%zz"`}},
		{"data that is not a map", map[string]string{"a.js": "x\n//# sourceMappingURL=data:;base64,e30="},
			[]string{"a.js inline", "unreadable-map a.js: map in its data: URL: source map: version is missing"}},
		{"a page instead of a map", map[string]string{"a.js": "x", "a.js.map": "<!DOCTYPE html>"},
			[]string{"a.js beside a.js.map",
				"unreadable-map a.js: map a.js.map: source map: byte 0: an HTML or XML page; did a server respond " +
					"with it because it has no map?"}},
		{"a page instead of a script", map[string]string{"a.js": "\ufeff \n<!DOCTYPE HTML><html>",
			"b.js": "<HTML lang=en>", "c.js": "<!-- old comment\nx", "c.js.map": aMap("c.ts")},
			[]string{"c.js beside c.js.map of c.ts",
				"not-a-script a.js: an HTML page with the name of a script",
				"not-a-script b.js: an HTML page with the name of a script"}},
		{"two scripts with one map", map[string]string{
			"a.js": "x\n//# sourceMappingURL=m.map", "b.js": "y\n//# sourceMappingURL=m.map", "m.map": aMap("a.ts"),
		}, []string{"a.js", "b.js",
			"shared-map a.js: its map m.map also belongs to b.js",
			"shared-map b.js: its map m.map also belongs to a.js"}},
		{"two scripts with the map of one of them", map[string]string{
			"a.js": "x\n//# sourceMappingURL=b.js.map", "b.js": "y\n//# sourceMappingURL=b.js.map",
			"b.js.map": aMap("b.ts"), "c.js": "y//# sourceMappingURL=b.js.map",
		}, []string{"a.js", "b.js comment b.js.map of b.ts", "c.js",
			"shared-map a.js: its map b.js.map also belongs to b.js",
			"shared-map c.js: its map b.js.map also belongs to b.js"}},
		{"two maps that claim a script", map[string]string{
			"a.js": "x", "1.map": aMap("a.ts", `,"file":"a.js"`), "2.map": aMap("b.ts", `,"file":"a.js"`),
		}, []string{"a.js", "ambiguous-map a.js: both 1.map and 2.map may be its map: each names it"}},
		{"two maps with the debug ID of a script", map[string]string{
			"a.js": "x\n//# debugId=" + uuid, "1.map": aMap("a.ts", `,"debugId":"`+uuid+`"`), "2.map": aMap("b.ts",
				`,"debugId":"`+uuid+`"`),
		}, []string{"a.js", "ambiguous-map a.js: both 1.map and 2.map may be its map: each has its debug ID"}},
		{"two scripts with one debug ID and one map", map[string]string{
			"a.js": "x\n//# debugId=" + uuid, "b.js": "y\n//# debugId=" + uuid, "1.map": aMap("a.ts",
				`,"debugId":"`+uuid+`"`),
		}, []string{"a.js", "b.js",
			"shared-map a.js: its map 1.map also belongs to b.js",
			"shared-debug-id b.js: its debug ID " + uuid + " is also used by a.js",
			"shared-map b.js: its map 1.map also belongs to a.js"}},
		{"two scripts with one debug ID", map[string]string{
			"a.js": "x\n//# debugId=" + uuid, "b.js": "y\n//# debugId=" + uuid, "a.js.map": aMap("a.ts"),
			"b.js.map": aMap("b.ts"),
		}, []string{"a.js beside a.js.map of a.ts", "b.js beside b.js.map of b.ts",
			"shared-debug-id b.js: its debug ID " + uuid + " is also used by a.js"}},
		{"a script and its map with different debug IDs", map[string]string{
			"a.js": "x\n//# debugId=" + uuid, "a.js.map": aMap("a.ts", `,"debugId":"`+otherUUID+`"`),
		}, []string{"a.js beside a.js.map of a.ts",
			"debug-id-differs a.js: its debug ID is " + uuid + `, but its map has "` + otherUUID + `"`}},
		{"no contents", map[string]string{
			"a.js": "x",
			"a.js.map": `{"version":3,"sources":["a.ts","b.ts",null,"c.ts","d.ts","e.ts"],"sourcesContent":["x"],` +
				`"mappings":""}`,
		}, []string{"a.js beside a.js.map of a.ts",
			`missing-sources a.js: its map has no content of 4 of 6 sources, so some functions keep their names: ` +
				`"b.ts", "c.ts", "d.ts", …`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := Find(filesOf(c.files), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(t, b); !slices.Equal(got, c.want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"))
			}
		})
	}
}

// TestSame checks that the results are deterministic, although maps are used internally.
func TestSame(t *testing.T) {
	texts := map[string]string{}
	for i := range 40 {
		name := fmt.Sprintf("%d.js", i)
		texts[name] = fmt.Sprintf("%d\n//# sourceMappingURL=%d.map", i, i/3)
		texts[fmt.Sprintf("%d.map", i/3)] = aMap("a.ts", fmt.Sprintf(`,"file":"%d.js"`, i%7))
	}
	first, err := Find(filesOf(texts), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := describe(t, first)
	for range 5 {
		b, err := Find(filesOf(maps.Clone(texts)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := describe(t, b); !slices.Equal(got, want) {
			t.Fatalf("got\n%s\nand before\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestReadComments(t *testing.T) {
	for _, c := range []struct{ text, url, id string }{
		{"", "", ""},
		{"x", "", ""},
		{"x\n//# sourceMappingURL=a.map", "a.map", ""},
		{"x\r\n//# sourceMappingURL=a.map\r\n", "a.map", ""},
		{"x\r//# sourceMappingURL=a.map\r", "a.map", ""},
		{"x;//# sourceMappingURL=a.map", "a.map", ""},
		{"//@ sourceMappingURL=a.map", "a.map", ""},
		{"//#sourceMappingURL=a.map", "a.map", ""},
		{"//# \tsourceMappingURL= a.map \t", "a.map", ""},
		{"/*# sourceMappingURL=a.map */", "a.map", ""},
		{"/*@ sourceMappingURL=a.map*/  ", "a.map", ""},
		{"/*# sourceMappingURL=a.map */ x", "", ""},
		{"/*# sourceMappingURL=a.map", "", ""},
		{"# sourceMappingURL=a.map", "", ""},
		{"// sourceMappingURL=a.map", "", ""},
		{"s = '//# sourceMappingURL=a.map'", "", ""},
		{"s = `//# sourceMappingURL=` + a", "", ""},
		{`eval("x\n//# sourceMappingURL=a.map\n")`, "", ""},
		{"//# sourceMappingURL=a.map and more", "", ""},
		{"//# sourceMappingURL=", "", ""},
		{"//# sourceMappingURL=a.map\n//# sourceMappingURL='", "a.map", ""},
		{"//# sourceMappingURL=a.map\n" + strings.Repeat("x\n\n", commentLines-1), "a.map", ""},
		{"//# sourceMappingURL=a.map\n" + strings.Repeat("x\n", commentLines), "", ""},
		{"//# sourceMappingURL=a.map\n//# debugId=" + uuid + "\n//# sourceURL=b", "a.map", uuid},
		{"//# debugId=" + strings.ToUpper(uuid), "", uuid},
		{"//# debugId=" + strings.ReplaceAll(uuid, "-", ""), "", strings.ReplaceAll(uuid, "-", "")},
		{"//# debugId=1234", "", ""},
		{"//# debugId=<script>\n//# debugId=zzzzabcd-0123-4567-89ab-0123456789ab", "", ""},
	} {
		if got := readComments([]byte(c.text)); got != (comments{c.url, c.id}) {
			t.Errorf("%q has %+v", c.text, got)
		}
	}
}
