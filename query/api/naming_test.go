package api

import (
	"encoding/hex"
	"fmt"
	"math"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// uploaded is a library with the builds r0 and r1 of app.js. The lines of functions differ between
// them, and row has another name in r1.
type uploaded struct {
	uploads []symbols.Upload
	tables  map[string]*symbols.Table
}

func (u *uploaded) Uploads() []symbols.Upload { return u.uploads }
func (u *uploaded) Generation() string        { return fmt.Sprint(len(u.uploads)) }
func (u *uploaded) Table(key string) (*symbols.Table, error) {
	return u.tables[key], nil
}

// sourceOf returns the source positions of the functions of app.js in the releases that have
// symbols.
func sourceOf(release, minified string) (name string, line uint32, key uint64) {
	lines := map[string]uint32{"main": 10, "render": 20, "row": 30, "fetch": 40, "idle": 50}
	names := map[string]string{"main": "start", "render": "Table.render", "row": "renderRow", "fetch": "load",
		"idle": "wait"}
	name, line = names[minified], lines[minified]
	key = uint64(line)
	if release == "r1" {
		if line++; minified == "row" {
			name, key = "renderCell", 99
		}
	}
	return name, line, key
}

func newUploaded() *uploaded {
	u := &uploaded{tables: map[string]*symbols.Table{}}
	for i, release := range []string{"r1", "r0"} { // the newest first
		t := &symbols.Table{Script: [32]byte{byte(i + 1)}, Sources: []symbols.Source{{Name: "src/table.ts"}}}
		for _, minified := range []string{"row", "idle", "main", "fetch", "render"} { // sorted by place
			name, line, key := sourceOf(release, minified)
			text := uint32(minified[0])
			if release == "r1" && minified == "fetch" {
				text++ // it was edited
			}
			t.Functions = append(t.Functions, symbols.Function{Text: text, Own: text, Line: uint32(len(minified)),
				Column: uint32(minified[0]), Minified: minified, Name: name,
				SourceLine: line, SourceColumn: 7, Key: key, Way: symbols.Start})
		}
		key := hex.EncodeToString(t.Script[:])
		u.tables[key] = t
		u.uploads = append(u.uploads, symbols.Upload{Release: release, Scripts: []symbols.Script{{Path: "app.js",
			SHA256: key}}})
	}
	return u
}

// expected returns the name that a frame of a release must have in a response over both builds: its
// place in the newest build that has the function.
func expected(release string, f trie.Frame) trie.Frame {
	if f.Resource != "https://x.example/app.js" || release != "r0" && release != "r1" {
		return f
	}
	name, line, key := sourceOf(release, f.Name)
	if key != 99 && f.Name != "row" {
		_, line, _ = sourceOf("r1", f.Name)
	}
	return trie.Frame{Name: name, Resource: "src/table.ts", Line: line, Column: 7}
}

func TestNamedProfile(t *testing.T) {
	f := fixture.New(t)
	raw := localOf(f)
	named := raw
	named.Symbols = naming.New(newUploaded())
	for _, groupBy := range [][]string{nil, {rollup.KeyRelease}, {selection.KeyPage, rollup.KeyFeature}} {
		sel := selection.Selection{Page: "/a", GroupBy: groupBy}
		got, err := named.Profile(t.Context(), sel, nil)
		if err != nil {
			t.Fatal(err)
		}
		// Merge each release separately, with the plain rule above.
		m := trie.NewMerger()
		views, traces := int64(0), int64(0)
		for _, release := range []string{"r0", "r1", "r2"} {
			of := sel
			of.Where = fixture.Having(trie.MakeLabels("release", release))
			part, err := raw.Profile(t.Context(), of, nil)
			if err != nil {
				t.Fatal(err)
			}
			views, traces = views+part.Profile.Views, traces+part.Profile.Traces
			m.AddProfile(part.Profile.Coalesce(func(f trie.Frame) trie.Frame { return expected(release, f) }))
		}
		want := m.Profile()
		want.Views, want.Traces = views, traces
		if !got.Profile.Equal(want) {
			t.Errorf("grouped by %v: got\n%+v\nnot\n%+v", groupBy, got.Profile.Functions(), want.Functions())
		}
		if c := got.Stats.Names; c == nil || c.Named == 0 || c.Named >= c.Self || c.Builds != 2 ||
			len(c.Missing) != 1 || c.Missing[0].Release != "r2" || c.Missing[0].Problem != naming.SeveralBuilds {
			t.Errorf("coverage %+v", c)
		}
	}
}

func TestMinifiedNames(t *testing.T) {
	f := fixture.New(t)
	named := localOf(f)
	named.Symbols = naming.New(newUploaded())
	sel := selection.Selection{Page: "/a", Minified: true}
	got, err := named.Profile(t.Context(), sel, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := localOf(f).Profile(t.Context(), selection.Selection{Page: "/a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Profile.Equal(want.Profile) || got.Stats.Names != nil {
		t.Errorf("got %+v with %+v", got.Profile.Functions(), got.Stats.Names)
	}
	srv := httptest.NewServer(Handler(named, Options{Now: fixture.Now}))
	defer srv.Close()
	r, err := NewRemote(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	remote, err := r.Profile(t.Context(), sel, nil)
	if err != nil || !remote.Profile.Equal(want.Profile) {
		t.Errorf("from a daemon: %v, %v", remote.Profile.Functions(), err)
	}
}

// Top, report and comparison use the same names. Functions that get the same name are merged: their
// sums, spreads and reach are added.
func TestNamedFunctions(t *testing.T) {
	f := fixture.New(t)
	raw := localOf(f)
	named := raw
	named.Symbols = naming.New(newUploaded())
	page := selection.Selection{Page: "/a"}
	want := map[trie.Frame]*rollup.Function{} // by the plain rule
	for _, release := range []string{"r0", "r1", "r2"} {
		sel := page
		sel.Where = fixture.Having(trie.MakeLabels("release", release))
		top, err := raw.Top(t.Context(), query.TopQuery{Selection: sel})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range top.Functions {
			frame := expected(release, trie.Frame{Name: x.Name, Resource: x.Resource, Line: x.Line, Column: x.Column})
			if want[frame] == nil {
				want[frame] = &rollup.Function{}
			}
			want[frame].Self.Sum += x.Self
			want[frame].Total.Sum += x.Total
			want[frame].Total.Count += x.Reach
		}
	}
	top, err := named.Top(t.Context(), query.TopQuery{Selection: page})
	if err != nil {
		t.Fatal(err)
	}
	report, err := named.Report(t.Context(), page)
	if err != nil {
		t.Fatal(err)
	}
	if len(top.Functions) != len(want) || len(report.Pages) != 1 || len(report.Pages[0].Functions) != len(want) {
		t.Fatalf("%d functions of %d; %+v", len(top.Functions), len(want), report)
	}
	for _, x := range top.Functions {
		w := want[trie.Frame{Name: x.Name, Resource: x.Resource, Line: x.Line, Column: x.Column}]
		if w == nil || x.Self != w.Self.Sum || x.Total != w.Total.Sum || x.Reach != w.Total.Count ||
			x.SelfSpread == nil {
			t.Errorf("top: %+v, not %+v", x, w)
		}
	}
	for _, x := range report.Pages[0].Functions {
		w := want[trie.Frame{Name: x.Name, Resource: x.Resource, Line: x.Line, Column: x.Column}]
		if w == nil || x.Reach != w.Total.Count ||
			math.Abs(x.Self.Mean.Value*float64(report.Pages[0].Views)-float64(w.Self.Sum)/1000) > 1e-6 {
			t.Errorf("report: %+v, not %+v", x, w)
		}
	}
	if !reflect.DeepEqual(top.Stats.Names, report.Stats.Names) {
		t.Errorf("naming of top: %+v, of the report: %+v", top.Stats.Names, report.Stats.Names)
	}
}

// Two builds in which all functions moved are compared by source names.
func TestNamedCompare(t *testing.T) {
	f := fixture.New(t)
	named := localOf(f)
	named.Symbols = naming.New(newUploaded())
	a, b := selection.Selection{Page: "/a", Where: fixture.Having(trie.MakeLabels("release", "r0"))},
		selection.Selection{Page: "/a", Where: fixture.Having(trie.MakeLabels("release", "r1"))}
	for _, method := range []query.Method{query.MethodViews, query.MethodSums} {
		c, err := named.Compare(t.Context(), query.CompareQuery{A: a, B: b, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]compare.FunctionChange{}
		for _, x := range c.Functions {
			names[x.Name] = x
			if x.From != nil {
				t.Errorf("%s: %+v is from %+v", method, x.Place, *x.From)
			}
		}
		for _, name := range []string{"start", "Table.render", "load"} {
			if x := names[name]; x.Mean.A == 0 || x.Mean.B == 0 || x.Resource != "src/table.ts" {
				t.Errorf("%s: %s is %+v", method, name, x)
			}
		}
		if names["renderRow"].Mean.B != 0 || names["renderCell"].Mean.A != 0 {
			t.Errorf("%s: two functions are merged: %+v", method, names)
		}
	}
}
