package sourcemap

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestKeys reads maps in the forms of different tools.
func TestKeys(t *testing.T) {
	text := func(s string) []byte { return []byte(s) }
	for _, c := range []struct {
		name, json string
		want       Map // without mappings
	}{
		{"least", `{"version":3,"sources":[],"mappings":""}`, Map{}},
		{"byte order mark", "\xef\xbb\xbf" + `{"version":3,"file":"a.js","sources":[],"mappings":""}`,
			Map{File: "a.js"}},
		{"guard against inclusion", ")]}'\n" + `{"version":3,"file":"a.js","sources":[],"mappings":""}`,
			Map{File: "a.js"}},
		{"longer guard", ")]}', \r\n" + `{"version":3,"file":"a.js","sources":[],"mappings":""}`, Map{File: "a.js"}},
		{"white space", " {\t\"version\" : 3 ,\r\n\"sources\":[ ] , \"mappings\" : \"\" }\n", Map{}},
		{"order of keys", `{"mappings":"AAAA","sourcesContent":["x"],"sources":["a"],"version":3}`,
			Map{Sources: []Source{{Name: "a", Content: text("x")}}}},
		{"null", `{"version":3,"file":null,"sourceRoot":null,"sources":[null,"a"],"sourcesContent":null,` +
			`"names":[null],"ignoreList":null,"sections":null,"debugId":null,"mappings":""}`,
			Map{Sources: []Source{{}, {Name: "a"}}, Names: []string{""}}},
		{"contents", `{"version":3,"sources":["a","b","c","d"],"sourcesContent":["x\n\u00e9\ud835\udcb3\ud835\"",` +
			`null,""],"mappings":""}`,
			Map{Sources: []Source{{Name: "a", Content: text("x\né𝒳\ufffd\"")}, {Name: "b"},
				{Name: "c", Content: text("")}, {Name: "d"}}}},
		{"more contents than sources", `{"version":3,"sources":["a"],"sourcesContent":["x","y"],"mappings":""}`,
			Map{Sources: []Source{{Name: "a", Content: text("x")}}}},
		{"equal sources", `{"version":3,"sources":["a","a"],"sourcesContent":["x","y"],"mappings":""}`,
			Map{Sources: []Source{{Name: "a", Content: text("x")}, {Name: "a", Content: text("y")}}}},
		{"bytes that are not UTF-8", "{\"version\":3,\"sources\":[\"\xff\"],\"mappings\":\"\"}",
			Map{Sources: []Source{{Name: "\ufffd"}}}},
		{"debug ID", `{"version":3,"debugId":"ABCDEF","debug_id":"other","sources":[],"mappings":""}`,
			Map{DebugID: "abcdef"}},
		{"old debug ID", `{"version":3,"debug_id":"ABCDEF","sources":[],"mappings":""}`, Map{DebugID: "abcdef"}},
		{"ignore list", `{"version":3,"ignoreList":[1],"x_google_ignoreList":[0],"sources":["a","b"],"mappings":""}`,
			Map{Sources: []Source{{Name: "a"}, {Name: "b", Ignored: true}}}},
		{"old ignore list", `{"version":3,"x_google_ignoreList":[0,null,0],"sources":["a","b"],"mappings":""}`,
			Map{Sources: []Source{{Name: "a", Ignored: true}, {Name: "b"}}}},
		{"key twice", `{"version":3,"sources":["x","y"],"names":["x","y"],"sources":["a"],"names":["a"],"mappings":""}`,
			Map{Sources: []Source{{Name: "a"}}, Names: []string{"a"}}},
		{"keys of tools", `{"version":3,"x_facebook_sources":[[{"names":["<global>"],"mappings":"AAA"}],null,-1.5e3,` +
			`true],"sources":[],"x":{"]":"}"},"mappings":"","y":1}`, Map{}},
		{"sections", `{"version":3,"file":"a.js","debugId":"F","sections":[
			{"offset":{"line":0,"column":0},"map":{"version":3,"sources":["a"],"names":["x"],"ignoreList":[0],` +
			`"mappings":"","debugId":"E"}},
			{"map":{"version":3,"sources":["b"],"sourceRoot":"r","names":["y"],"mappings":""},"offset":{"line":0,` +
			`"column":9,"x":[]},"url":null,"x":{}}]}`,
			Map{File: "a.js", DebugID: "f", Sources: []Source{{Name: "a", Ignored: true}, {Name: "r/b"}},
				Names: []string{"x", "y"}}},
		{"no sections", `{"sections":[]}`, Map{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Read([]byte(c.json), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got := Map{File: m.File, DebugID: m.DebugID, Sources: slices.Clip(m.Sources), Names: m.Names}
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
			for i, s := range m.Sources {
				if (s.Content == nil) != (c.want.Sources[i].Content == nil) {
					t.Errorf("source %d: content %q instead of none, or the reverse", i, s.Content)
				}
			}
		})
	}
}

func TestSourceRoot(t *testing.T) {
	for _, c := range []struct{ root, name, want string }{
		{"", "a.ts", "a.ts"},
		{"src", "a.ts", "src/a.ts"},
		{"src/", "a.ts", "src/a.ts"},
		{"/", "a.ts", "/a.ts"},
		{"src", "/a.ts", "src/a.ts"},
		{"src", "../a.ts", "src/../a.ts"},
		{"https://site.example/src", "a.ts", "https://site.example/src/a.ts"},
		{"src", "webpack://app/./a.ts", "webpack://app/./a.ts"},
		{"src", "rollup-plugin:x", "rollup-plugin:x"},
		{"src", `C:\a.ts`, `src/C:\a.ts`},
		{"src", "", ""},
		{"src", "a:b?c", "src/a:b?c"},
		{"src", "a b:c", "src/a b:c"},
	} {
		m, err := Read(encodeJSON(map[string]any{"version": 3, "sourceRoot": c.root, "sources": []string{c.name},
			"mappings": ""}), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Sources[0].Name; got != c.want {
			t.Errorf("%q under %q is %q, not %q", c.name, c.root, got, c.want)
		}
	}
}

func TestReadHeader(t *testing.T) {
	for _, c := range []struct{ text, file, id, err string }{
		{`)]}'` + "\n" + `{"mappings":"!","file":"a.js","debug_id":"AB","x":[{}]}`, "a.js", "ab", ""},
		{`{"debug_id":"AB","debugId":"CD","file":null}`, "", "cd", ""},
		{`{}`, "", "", ""},
		{`<html>`, "", "", "source map: byte 0: an HTML or XML page; did a server respond with it because it has no " +
			"map?"},
		{`{"file":1}`, "", "", "source map: file: byte 8: found a number, want a string"},
		{`{"mappings":"`, "", "", "source map: byte 12: unterminated string"},
	} {
		h, err := ReadHeader([]byte(c.text))
		if got := fmt.Sprint(err); h.File != c.file || h.DebugID != c.id || err != nil && got != c.err || err == nil &&
			c.err != "" {
			t.Errorf("%s: %+v, %v", c.text, h, err)
		}
	}
}

// TestShares checks that a content without escapes shares memory with the map, with limited
// capacity.
func TestShares(t *testing.T) {
	b := []byte(`{"version":3,"sources":["a"],"sourcesContent":["xyz"],"mappings":""}`)
	m, err := Read(b, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	content := m.Sources[0].Content
	if at := strings.Index(string(b), "xyz"); &content[0] != &b[at] {
		t.Error("the content was copied")
	}
	if cap(content) != len(content) {
		t.Errorf("a content of %d bytes has the capacity %d", len(content), cap(content))
	}
}

// linesOf returns the lines of a map, each as its mappings.
func linesOf(m *Map) (lines [][]Mapping) {
	for line := range m.Lines() {
		first, end := m.Line(line)
		lines = append(lines, m.Mappings()[first:end])
	}
	return lines
}

func TestMappings(t *testing.T) {
	none := func(column int32) Mapping { return Mapping{Column: column, Source: -1, Name: -1} }
	for _, c := range []struct {
		name, mappings string
		want           [][]Mapping
	}{
		{"empty", "", [][]Mapping{{}}},
		{"lines", ";;A;", [][]Mapping{{}, {}, {none(0)}, {}}},
		{"one, four and five numbers", "A,CCEG,CAAAC", [][]Mapping{{
			none(0),
			{Column: 1, Source: 1, SourceLine: 2, SourceColumn: 3, Name: -1},
			{Column: 2, Source: 1, SourceLine: 2, SourceColumn: 3, Name: 1},
		}}},
		{"columns restart, other fields continue", "CCCC;CAAA", [][]Mapping{
			{{Column: 1, Source: 1, SourceLine: 1, SourceColumn: 1, Name: -1}},
			{{Column: 1, Source: 1, SourceLine: 1, SourceColumn: 1, Name: -1}},
		}},
		{"empty mappings", ",A,,C,;,", [][]Mapping{{none(0), none(1)}, {}}},
		{"escaped digit", `A;oB,\/A`, [][]Mapping{{none(0)}, {none(5), none(20)}}},
		{"largest", "+/////D", [][]Mapping{{none(1<<31 - 1)}}},
		{"leading zeros", "ggggggA", [][]Mapping{{none(0)}}},
		{"unsorted, order of equal places kept", "EAAA,DCCA,AADA,CAAA", [][]Mapping{{
			{Column: 1, Source: 1, SourceLine: 1, Name: -1}, {Column: 1, Source: 1, Name: -1},
			{Column: 2, Source: 0, Name: -1}, {Column: 2, Source: 1, Name: -1},
		}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Read([]byte(`{"version":3,"sources":["a","b"],"names":["x","y"],"mappings":"`+c.mappings+
				`"}`), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if got := linesOf(m); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
		})
	}
}

// TestSections checks that sections end where the next one begins.
func TestSections(t *testing.T) {
	section := func(line, column int, mappings string) string {
		return fmt.Sprintf(`{"offset":{"line":%d,"column":%d},"map":{"version":3,"sources":[],"mappings":%q}}`, line,
			column, mappings)
	}
	for _, c := range []struct {
		name     string
		sections []string
		want     [][]int32 // columns
	}{
		{"one after another", []string{section(0, 0, "A;C"), section(2, 0, "A;C")}, [][]int32{{0}, {1}, {0}, {1}}},
		{"only the first line is moved", []string{section(1, 10, "C;C")}, [][]int32{{}, {11}, {1}}},
		{"in one line", []string{section(0, 0, "A,C"), section(0, 5, "A,C")}, [][]int32{{0, 1, 5, 6}}},
		{"at one place", []string{section(0, 3, "A"), section(0, 3, "C")}, [][]int32{{4}}},
		{"overlap in a line", []string{section(0, 0, "A,K,K"), section(0, 5, "A")}, [][]int32{{0, 5}}},
		{"overlap over lines", []string{section(0, 0, "A;A,K;A;A"), section(1, 3, "A;C")}, [][]int32{{0}, {0, 3}, {1}}},
		{"far away", []string{section(0, 0, "A"), section(3, 0, "")}, [][]int32{{0}, {}, {}, {}}},
		{"unsorted and cut", []string{section(0, 0, "K,F,K"), section(0, 4, "C,D")}, [][]int32{{3, 4, 5}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Read([]byte(`{"sections":[`+strings.Join(c.sections, ",")+`]}`), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var got [][]int32
			for _, line := range linesOf(m) {
				columns := []int32{}
				for _, mapping := range line {
					columns = append(columns, mapping.Column)
				}
				got = append(got, columns)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestOutside(t *testing.T) {
	m, err := Read([]byte(`{"version":3,"sources":[],"mappings":"C"}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []int32{-1 << 31, -1, 1, 1<<31 - 1} {
		if got := m.At(line, 5); got != -1 {
			t.Errorf("line %d has mapping %d", line, got)
		}
	}
	if m.At(0, 0) != -1 || m.At(0, 1) != 0 || m.At(0, 1<<31-1) != 0 {
		t.Error("wrong mapping in the existing line")
	}
	if empty := new(Map); empty.Lines() != 0 || empty.At(0, 0) != -1 {
		t.Error("an empty map has lines")
	}
}
