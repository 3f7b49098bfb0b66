package collect

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/collect/redact"
)

// Places where texts of a browser are stored, as named in docs/privacy.md.
const (
	inNames    = "names"
	inScripts  = "URLs of scripts"
	inElements = "elements"
	inPages    = "pages"
)

// planted sends a text in every field that a browser may send, each in its own request, and returns
// everything that is stored, by place.
func planted(t *testing.T, text string) map[string]string {
	t.Helper()
	out := map[string]string{}
	trace := func(place string, change func(doc map[string]any, resource, frame map[string]any)) {
		frame := map[string]any{"name": "f", "resourceId": 0, "line": 1, "column": 1}
		resource := map[string]any{"url": "https://x.example/app.js"}
		doc := map[string]any{"page": "/", "interval": 10}
		change(doc, resource, frame)
		doc["trace"] = map[string]any{
			"resources": []any{resource["url"]}, "frames": []any{frame}, "stacks": []any{map[string]any{"frameId": 0}},
			"samples": []any{map[string]any{"timestamp": 0, "stackId": 0}},
		}
		body, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		col, s := newCollector(Options{})
		if got := post(t, col, string(body)); got.status != http.StatusAccepted {
			t.Fatalf("%q in %s: got %d %q", text, place, got.status, got.Error)
		}
		rec := s.only(t)
		x := traceOf(t, rec)
		out[place] += fmt.Sprintln(rec.Pages, rec.Tags, x.Context, x.Frame(x.Samples[0].Node))
	}
	span := func(key, value string) func(doc, _, _ map[string]any) {
		return func(doc, _, _ map[string]any) {
			doc["spans"] = []any{map[string]any{key: value, "start": 0, "end": 10}}
		}
	}
	set := func(key string, value any) func(doc, _, _ map[string]any) {
		return func(doc, _, _ map[string]any) { doc[key] = value }
	}
	trace(inNames, func(_, _, frame map[string]any) { frame["name"] = text })
	trace(inNames, span("feature", text))
	trace(inNames, span("label", "phase="+text))
	if !strings.Contains(text, "=") { // "=" would end the key
		trace(inNames, span("label", text+"=x"))
	}
	trace(inNames, set("labels", map[string]string{"tier": text}))
	trace(inNames, set("labels", map[string]string{text: "x"}))
	trace(inNames, set("release", text))
	trace(inNames, set("environment", text))
	trace(inScripts, func(_, resource, _ map[string]any) { resource["url"] = text })
	trace(inScripts, func(_, resource, _ map[string]any) {
		resource["url"] = "https://x.example/u/" + text + "/app.js"
	})
	trace(inPages, set("page", "/"+strings.TrimPrefix(text, "/")))
	trace(inPages, set("page", "/account/"+text+"/edit"))
	trace(inPages, span("page", "/account/"+text))

	report := func(place string, doc map[string]any) {
		if doc["page"] == nil {
			doc["page"] = "/"
		}
		doc["vitals"] = map[string]any{"lcp": 100, "inp": 100, "cls": 0}
		body, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		col, s := newCollector(Options{})
		if got := postView(t, col, string(body)); got.status != http.StatusNoContent {
			t.Fatalf("%q in %s: got %d %q", text, place, got.status, got.Error)
		}
		out[place] += fmt.Sprintln(s.vitals)
	}
	report(inNames, map[string]any{"release": text, "environment": text})
	report(inNames, map[string]any{"labels": map[string]any{"connection": text, "device": text, "arm": text}})
	report(inPages, map[string]any{"page": "/account/" + text})
	report(inElements, map[string]any{"elements": map[string]any{"lcp": text, "inp": "pointer a#" + text,
		"cls": "div[" + text + "]"}})
	return out
}

// documented returns the kinds in the table of docs/privacy.md, with the places where they are
// kept.
func documented(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../docs/privacy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| kinds | stay in |\n|---|---|\n")
	if !ok {
		t.Fatal("docs/privacy.md has no table of kinds")
	}
	out := map[string]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 2 {
			break
		}
		for kind := range strings.SplitSeq(cells[0], ", ") {
			out[strings.Trim(kind, "`")] = cells[1]
		}
	}
	return out
}

// TestKindsAreDocumented checks that each kind of personal data and secrets is stored only in the
// places listed in docs/privacy.md.
func TestKindsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("redact/testdata/kinds.txt")
	if err != nil {
		t.Fatal(err)
	}
	want, got := documented(t), map[string]string{}
	for line := range strings.Lines(string(text)) {
		kind := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(kind) != 3 {
			continue
		}
		needle := strings.ToLower(kind[2])
		var stays []string
		stored := planted(t, kind[1])
		for _, place := range []string{inNames, inScripts, inPages, inElements} {
			if strings.Contains(strings.ToLower(redact.Unescape(stored[place])), needle) {
				stays = append(stays, place)
			}
		}
		got[kind[0]] = strings.Join(stays, ", ")
		if len(stays) == 0 {
			got[kind[0]] = "–"
		}
	}
	for kind, places := range got {
		if want[kind] != places {
			t.Errorf("%s: stored in %s, but docs/privacy.md lists %q", kind, places, want[kind])
		}
	}
	for kind := range want {
		if got[kind] == "" {
			t.Errorf("%s: in docs/privacy.md, but not in redact/testdata/kinds.txt", kind)
		}
	}
	if t.Failed() {
		rows := map[string][]string{}
		for _, kind := range slices.Sorted(maps.Keys(got)) {
			rows[got[kind]] = append(rows[got[kind]], kind)
		}
		for _, places := range slices.Sorted(maps.Keys(rows)) {
			t.Logf("| %s | %s |", strings.Join(rows[places], ", "), places)
		}
	}
}
