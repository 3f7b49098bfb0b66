package query

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// scriptWith returns a table with one function. number is the first byte of the script's hash and
// the key of the function.
func scriptWith(number byte, name, debugID string) *symbols.Table {
	return &symbols.Table{Script: [32]byte{number}, DebugID: debugID,
		Sources: []symbols.Source{{Name: "src/" + name + ".ts"}},
		Functions: []symbols.Function{{Line: 1, Column: 10, Minified: "a", Name: name, SourceLine: 3, SourceColumn: 4,
			Key: uint64(number), Way: symbols.Start}}}
}

// A trace with debug IDs is collected, stored and queried. Its symbols are found by the IDs,
// although no URL matches an upload. Only frames without symbols keep their URLs.
func TestDebugIDs(t *testing.T) {
	const one, two = "11111111-2222-4333-8444-555555555555", "85314830-023f-4cf1-a267-535f4e37bb17"
	s := storetest.Open(t, storetest.Options{Now: func() time.Time { return fixture.Noon }})
	c := collect.New(collect.Options{Store: s, Now: func() time.Time { return fixture.Noon }})
	body := `{"page":"/a","interval":10,"trace":{"resources":["https://cdn.example/x.js?v=1#debugId=` + one +
		`","https://cdn.example/x.js?v=2#debugId=` + two +
		`","https://cdn.example/y.js#debugId=33333333-2222-4333-8444-555555555555",` +
		`"https://cdn.example/y.js#debugId=44444444-2222-4333-8444-555555555555"],
		"frames":[{"name":"a","resourceId":0,"line":1,"column":10},{"name":"a","resourceId":1,"line":1,"column":10},
			{"name":"b","resourceId":2,"line":1,"column":10},{"name":"b","resourceId":3,"line":1,"column":10}],
		"stacks":[{"frameId":0},{"frameId":1,"parentId":0},{"frameId":2,"parentId":1},{"frameId":3,"parentId":1}],
		"samples":[{"timestamp":0,"stackId":2},{"timestamp":10,"stackId":3},{"timestamp":20,"stackId":1}]}}`
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/traces", strings.NewReader(body)))
	if w.Code != http.StatusAccepted {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}

	uploaded := naming.New(naming.NewMemory("r", map[string]*symbols.Table{"app.js": scriptWith(1, "one", one),
		"lib.js": scriptWith(2, "two", two)}))
	named := []trie.Frame{
		{Name: "b", Resource: "https://cdn.example/y.js", Line: 1, Column: 10},
		{Name: "one", Resource: "src/one.ts", Line: 3, Column: 4},
		{Name: "two", Resource: "src/two.ts", Line: 3, Column: 4},
	}
	raw := []trie.Frame{
		{Name: "a", Resource: "https://cdn.example/x.js", Line: 1, Column: 10},
		{Name: "b", Resource: "https://cdn.example/y.js", Line: 1, Column: 10},
	}
	for _, c := range []struct {
		name     string
		symbols  *naming.Symbolizer
		minified bool
		want     []trie.Frame
	}{
		{"with symbols", uploaded, false, named},
		{"minified names", uploaded, true, raw},
		{"without symbols", nil, false, raw},
	} {
		l := Local{Reader: s, Symbols: c.symbols}
		sel := selection.Selection{Page: "/a", Minified: c.minified}
		got, err := l.Profile(t.Context(), sel, nil)
		if err != nil {
			t.Fatal(err)
		}
		var frames []trie.Frame
		for _, f := range got.Profile.Functions() {
			frames = append(frames, f.Frame)
		}
		if slices.SortFunc(frames, func(a, b trie.Frame) int {
			return strings.Compare(a.Name, b.Name)
		}); !reflect.DeepEqual(frames, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, frames, c.want)
		}
		top, err := l.Top(t.Context(), TopQuery{Selection: sel})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range top.Functions {
			if !slices.Contains(c.want, trie.Frame{Name: f.Name, Resource: f.Resource, Line: f.Line,
				Column: f.Column}) {
				t.Errorf("%s: %+v is at the top", c.name, f)
			}
		}
		if len(top.Functions) != len(c.want) {
			t.Errorf("%s: %d functions are at the top, want %d", c.name, len(top.Functions), len(c.want))
		}
	}
}
