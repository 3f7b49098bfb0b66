package api

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Edits are the same locally and over HTTP: one function was edited and one renamed.
func TestEdits(t *testing.T) {
	l := localOf(fixture.New(t))
	l.Symbols = naming.New(newUploaded())
	links, err := naming.ParseLinks("https://git.example/{release}/{file}#L{line}")
	if err != nil {
		t.Fatal(err)
	}
	l.Links = func() naming.Links { return links }
	server := httptest.NewServer(Handler(l, Options{Now: fixture.Now}))
	defer server.Close()
	r, err := NewRemote(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []query.EditsQuery{{A: "r0", B: "r1"}, {A: "r0", B: "r1", Page: "/a"}, {A: "r1", B: "r0",
		Limit: 1}, {A: "r0", B: "r2"}, {A: "r0", B: "r1", Page: "/nowhere"}} {
		got, err := l.Edits(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		over, err := r.Edits(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		a, errA := json.Marshal(got)
		b, errB := json.Marshal(over)
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%+v: over HTTP:\n%s\nlocally:\n%s", q, b, a)
		}
		var changed []string
		for _, f := range got.Functions {
			changed = append(changed, string(f.Change)+" "+f.Place.Name)
		}
		want := map[string][]string{"r0 r1 ": {"moved renderCell", "edited load"}, "r0 r1 /a": {"moved renderCell",
			"edited load"}, "r1 r0 ": {"moved renderRow"}}[q.A+" "+q.B+" "+q.Page]
		if !reflect.DeepEqual(changed, want) {
			t.Errorf("%+v: %v, not %v", q, changed, want)
		}
		if missing := len(got.Missing) > 0; missing != (q.B == "r2") {
			t.Errorf("%+v: missing %+v", q, got.Missing)
		}
		if len(want) == 2 && got.Functions[1].Link != "https://git.example/r1/src/table.ts#L41" {
			t.Errorf("%+v: link %s", q, got.Functions[1].Link)
		}
	}
	c, err := l.Compare(t.Context(), query.CompareQuery{A: ofRelease("r0"), B: ofRelease("r1"),
		Options: compare.Options{MinViews: 2}})
	if err != nil {
		t.Fatal(err)
	}
	code := map[string]compare.Code{}
	for _, f := range c.Functions {
		code[f.Name] = f.Code
	}
	if code["load"] != compare.CodeEdited || code["renderCell"] == compare.CodeUnknown ||
		code["renderCell"] == compare.CodeEdited || c.NotEdited == nil {
		t.Errorf("the comparison of r0 and r1 has %v, not edited %+v", code, c.NotEdited)
	}
	both := query.CompareQuery{A: ofRelease("r0"), Options: compare.Options{MinViews: 2}}
	if c, err = l.Compare(t.Context(), both); err != nil || c.NotEdited != nil {
		t.Errorf("a side with several releases: %+v, %v", c.NotEdited, err)
	}
	_, err = l.Only(query.OfSite("x")).Edits(t.Context(), query.EditsQuery{A: "r0", B: "r1"})
	if _, ok := errors.AsType[*selection.RefusedError](err); !ok {
		t.Errorf("a client limited to one site gets the functions of all: %v", err)
	}
}

func ofRelease(name string) selection.Selection {
	return selection.Selection{Where: []selection.Matcher{{Key: rollup.KeyRelease, Op: selection.Equal, Value: name}}}
}
