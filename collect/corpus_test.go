package collect

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// A redactCase is a line of redact/testdata/redact.txt: the place of a text in a trace, the text,
// and its stored form, separated by tabs. "=" means unchanged.
type redactCase struct{ place, text, want string }

func redactCases(t testing.TB) (out []redactCase) {
	t.Helper()
	f, err := os.Open("redact/testdata/redact.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			t.Fatalf("%q has %d fields, want 3", line, len(fields))
		}
		c := redactCase{fields[0], fields[1], fields[2]}
		if c.want == "=" {
			c.want = c.text
		}
		out = append(out, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// stored sends a trace with one text in each place, and returns their stored forms.
func stored(t testing.TB, texts map[string]string) map[string]string {
	t.Helper()
	at := func(place, other string) string {
		if s, ok := texts[place]; ok {
			return s
		}
		return other
	}
	body, err := json.Marshal(map[string]any{
		"page": at("page", "/"), "release": at("release", "1"), "interval": 10,
		"labels": map[string]string{"x": at("label", "y")},
		"spans":  []map[string]any{{"feature": at("feature", "f"), "start": 0, "end": 10}},
		"trace": map[string]any{
			"resources": []string{at("resource", "https://www.example.com/app.js")},
			"frames":    []map[string]any{{"name": at("name", "f"), "resourceId": 0, "line": 1, "column": 1}},
			"stacks":    []map[string]any{{"frameId": 0}},
			"samples":   []map[string]any{{"timestamp": 0, "stackId": 0}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	col, s := newCollector(Options{})
	if got := post(t, col, string(body)); got.status != 202 {
		t.Fatalf("%q: got %d %q", texts, got.status, got.Error)
	}
	tr := traceOf(t, s.only(t))
	f := tr.Frame(tr.Samples[0].Node)
	x := tr.Context
	out := map[string]string{"name": f.Name, "resource": f.Resource, "page": x.Page, "release": x.Release,
		"label": x.Labels.Value("x")}
	for _, s := range x.Spans {
		if s.Kind == trie.SpanFeature {
			out["feature"] = s.Name
		}
	}
	return out
}

// TestRedactCorpus sends each text of the corpus separately, in its place.
func TestRedactCorpus(t *testing.T) {
	cases := redactCases(t)
	kept := 0
	for _, c := range cases {
		got, ok := stored(t, map[string]string{c.place: c.text})[c.place]
		if !ok {
			t.Fatalf("there is no place %q", c.place)
		}
		if got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.place, c.text, got, c.want)
		}
		if c.text == c.want {
			kept++
		}
	}
	if gone := len(cases) - kept; kept < 250 || gone < 250 {
		t.Errorf("%d cases are kept and %d are not, want 250 of each", kept, gone)
	}
}

// TestRedactTogether sends traces with a text of the corpus in every place.
func TestRedactTogether(t *testing.T) {
	in, want := map[string][]string{}, map[string][]string{}
	most := 0
	for _, c := range redactCases(t) {
		in[c.place], want[c.place] = append(in[c.place], c.text), append(want[c.place], c.want)
		most = max(most, len(in[c.place]))
	}
	for i := range most {
		texts := map[string]string{}
		for place, all := range in {
			if place != "page" || i < len(all) { // an inline script is named after its page
				texts[place] = all[i%len(all)]
			}
		}
		got := stored(t, texts)
		for place := range texts {
			if w := want[place][i%len(want[place])]; got[place] != w {
				t.Errorf("%s %q: got %q, want %q", place, texts[place], got[place], w)
			}
		}
	}
}
