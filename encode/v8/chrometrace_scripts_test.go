package v8

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// decodeScripts decodes a trace with these events and this metadata.
func decodeScripts(t *testing.T, metadata string, events ...string) *trie.Recording {
	t.Helper()
	text := `{"metadata":{"source":"DevTools"` + metadata + `},"traceEvents":[` + strings.Join(events, ",") + `]}`
	if !IsChromeTrace([]byte(text[:len(`{"metadata":{"source":"DevTools"`)])) {
		t.Error("the beginning is not detected as a trace")
	}
	r, err := DecodeChromeTrace(strings.NewReader(text), input.FileLimits())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// scriptHead is a V8 event with the name of a script. Chrome writes the arguments first.
func scriptHead(id int, members string) string {
	return fmt.Sprintf(`{"args":{"data":{"isolate":"9007199254740993","scriptId":%d%s}},`+
		`"cat":"disabled-by-default-devtools.v8-source-rundown","name":"ScriptCatchup","ph":"X","pid":7,"tid":7,`+
		`"ts":1,"dur":1}`, id, members)
}

// scriptText is a V8 event with the text of a script, or with a part of it.
func scriptText(name string, id int, text, members string) string {
	quoted, _ := json.Marshal(text)
	return fmt.Sprintf(`{"args":{"data":{"isolate":"9007199254740993","scriptId":%d,"sourceText":%s%s}},`+
		`"cat":"disabled-by-default-devtools.v8-source-rundown-sources","name":%q,"ph":"X","pid":7,"tid":7,"ts":1,`+
		`"dur":1}`, id, quoted, members, name)
}

func dataURL(text string) string {
	return "data:application/json;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(text))
}

func TestCarriedScripts(t *testing.T) {
	const a, someMap = `function f(){return "<é>"}`, `{"version":3,"mappings":""}`
	text := func(id int) string { return scriptText("ScriptCatchup", id, a, "") }
	maps := func(list string) string { return `,"sourceMaps":[` + list + `]` }
	named := `,"url":"https://x.test/js/a.js","sourceMapUrl":"a.js.map"`
	tests := []struct {
		name, metadata string
		events         []string
		want           string // URL, text and map of each
	}{
		{"map by its URL", maps(`{"url":"other","sourceMapUrl":"https://x.test/js/a.js.map","sourceMap":` +
			someMap + `}`),
			[]string{scriptHead(3, named), text(3)}, "https://x.test/js/a.js|" + a + "|" + someMap},
		{"text before the map", maps(`{"sourceMapUrl":"https://x.test/js/a.js.map","sourceMap":` + someMap + `}`),
			[]string{text(3), scriptHead(3, named)}, "https://x.test/js/a.js|" + a + "|" + someMap},
		{"map by the URL of the script, as a text",
			maps(`null,7,{"url":"https://x.test/js/a.js","sourceMap":"{\"version\":3}"}`),
			[]string{scriptHead(3, `,"url":"https://x.test/js/a.js","sourceMapUrlElided":true`), text(3)},
			"https://x.test/js/a.js|" + a + `|{"version":3}`},
		{"data URL", "", []string{scriptHead(3, `,"url":"/a.js","sourceMapUrl":"`+dataURL(someMap)+`"`), text(3)},
			"/a.js|" + a + "|" + someMap},
		{"data URL, escaped", "",
			[]string{scriptHead(3, `,"url":"/a.js","sourceMapUrl":"data:application/json,%7B%22version%22%3A3%7D"`),
				text(3)},
			"/a.js|" + a + `|{"version":3}`},
		{"data URL in a comment alone", "", []string{scriptHead(3, `,"url":"/a.js","sourceMapUrlElided":true`),
			scriptText("ScriptCatchup", 3, "f()\n//# sourceMappingURL="+dataURL(someMap)+"\n", "")},
			"/a.js|f()\n//# sourceMappingURL=" + dataURL(someMap) + "\n|" + someMap},
		{"a string that looks like a comment", "", []string{scriptHead(3, `,"url":"/a.js"`),
			scriptText("ScriptCatchup", 3, `f("//# sourceMappingURL=data:,{}")`, "")}, ""},
		{"invalid base64", "", []string{scriptHead(3, `,"url":"/a.js","sourceMapUrl":"data:;base64,%%%"`), text(3)},
			"/a.js|" + a + "|%%%"},
		{"comment sourceURL", maps(`{"url":"/b.js","sourceMap":{}}`),
			[]string{scriptHead(3, `,"url":"/a.js","sourceUrl":"/b.js"`), text(3)},
			"/b.js|" + a + "|{}"},
		{"large script in parts, not in order and twice", maps(`{"url":"/a.js","sourceMap":{}}`), []string{
			scriptText("LargeScriptCatchup", 3, "b", `,"splitIndex":1,"splitCount":3`), scriptHead(3, `,"url":"/a.js"`),
			scriptText("LargeScriptCatchup", 3, "a", `,"splitIndex":0,"splitCount":3`), scriptText("LargeScriptCatchup",
				3, "c", `,"splitIndex":2,"splitCount":3`),
			scriptText("LargeScriptCatchup", 3, "c", `,"splitIndex":2,"splitCount":3`)}, "/a.js|abc|{}"},
		{"a part is missing", maps(`{"url":"/a.js","sourceMap":{}}`), []string{scriptHead(3, `,"url":"/a.js"`),
			scriptText("LargeScriptCatchup", 3, "b", `,"splitIndex":1,"splitCount":2`)}, "/a.js||{}"},
		{"impossible parts", maps(`{"url":"/a.js","sourceMap":{}}`), []string{scriptHead(3, `,"url":"/a.js"`),
			scriptText("LargeScriptCatchup", 3, "b", `,"splitIndex":-1,"splitCount":2`),
			scriptText("LargeScriptCatchup", 3, "b", `,"splitIndex":0,"splitCount":1e9`),
			scriptText("LargeScriptCatchup", 3, "b", `,"splitIndex":[],"splitCount":999999999`)}, "/a.js||{}"},
		{"map without a script", maps(`{"url":"/a.js","sourceMap":{}}`), []string{scriptHead(3, `,"url":"/b.js"`),
			text(3)}, "/a.js||{}"},
		{"script without a map", "", []string{scriptHead(3, named), text(3)}, ""},
		{"script in a page", maps(`{"url":"/","sourceMap":{}}`),
			[]string{scriptHead(3, `,"url":"/","startLine":4,"startColumn":8`), text(3)}, "/||{}"},
		{"values of wrong types", `,"sourceMaps":[{"url":{},"sourceMapUrl":[],"sourceMap":5}],"modifications":{}`,
			[]string{scriptHead(3, `,"url":{},"sourceMapUrl":[1],"sourceUrl":null`), text(3),
				`{"name":"ScriptCatchup","args":5}`, `{"name":"StubScriptCatchup","args":{"data":{"scriptId":3}}}`},
			""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := decodeScripts(t, tt.metadata, tt.events...)
			var got []string
			for _, s := range r.Scripts {
				got = append(got, fmt.Sprintf("%s|%s|%s", s.URL, s.Text, s.Map))
			}
			if got := strings.Join(got, "\n"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if len(r.Warnings) > 0 {
				t.Errorf("warnings: %q", r.Warnings)
			}
		})
	}
}

// Scripts over a limit are skipped, with a warning.
func TestCarriedScriptsBounds(t *testing.T) {
	var events []string
	for id := range maxScripts + 1 {
		events = append(events, scriptHead(id, `,"url":"/a.js"`))
	}
	events = append(events, scriptText("ScriptCatchup", 0, "a", ""),
		`{"name":"TooLargeScriptCatchup","args":{"data":{"scriptId":1,"length":30000000}}}`)
	r := decodeScripts(t, `,"sourceMaps":[{"url":"/a.js","sourceMap":{}},{"url":"/b.js"}]`, events...)
	if len(r.Scripts) != maxScripts || string(r.Scripts[0].Text) != "a" || r.Scripts[1].Text != nil {
		t.Errorf("got %d scripts", len(r.Scripts))
	}
	if want := "2 texts of scripts or source maps are too large or too many; they were left out"; len(
		r.Warnings) != 1 || r.Warnings[0] != want {
		t.Errorf("got %q, want %q", r.Warnings, want)
	}
}

// A text that exceeds the bound is skipped without memory for all of it.
func TestCarriedScriptsRoom(t *testing.T) {
	var r input.JSON
	c := carriedScripts{bytes: maxScriptBytes - 10}
	r.Stream(strings.NewReader(`{"sourceText":"` + strings.Repeat("x", 1<<20) + `","sourceMapUrl":"/a"}`))
	for r.Object(); r.Key(); {
		if !c.member(&r) {
			t.Errorf("%s is ignored", r.Name)
		}
	}
	if e := &c.event; r.Err != nil || !e.beyond || len(e.text) > 0 || string(e.mapURL) != `"/a"` {
		t.Errorf("got %d bytes of text, %q, beyond %v, %v", len(e.text), e.mapURL, e.beyond, r.Err)
	}
	r.Stream(strings.NewReader(`{"sourceMaps":[{"url":"/a","sourceMap":{"version":3}},{"url":"/b","sourceMap":{}}]}`))
	c.readMetadata(&r)
	if r.Err != nil || c.left != 1 || len(c.maps) != 1 || c.maps[0].url != "/b" {
		t.Errorf("got %d maps, %d skipped, %v", len(c.maps), c.left, r.Err)
	}
}
