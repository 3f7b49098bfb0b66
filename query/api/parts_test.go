package api

import (
	"math"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"

	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Grouping functions into parts of the code changes no totals.
func TestParts(t *testing.T) {
	f := fixture.New(t)
	l := localOf(f)
	l.Symbols = naming.New(newUploaded())
	rules, err := owner.Parse(strings.NewReader("teams:\n  - path: src/\n    team: \"@tables\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	l.Owners = func() *owner.Rules { return rules }
	sel := selection.Selection{Page: "/a", Where: fixture.Having(trie.MakeLabels("release", "r1"))}
	whole, err := l.Top(t.Context(), query.TopQuery{Selection: sel})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(Handler(l, Options{Now: fixture.Now}))
	defer srv.Close()
	remote, err := NewRemote(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	for by, want := range map[string]string{"file": "src/table.ts", "team": "@tables", "owner": "(app)",
		"package": "(app)"} {
		q := query.TopQuery{Selection: sel}
		q.By = by
		got, err := l.Top(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Functions) != 2 || got.Functions[0].Name != want || got.Functions[0].Self != whole.Self-whole.Own ||
			whole.Own == 0 || got.Functions[1].Self != whole.Own || got.Functions[0].Total != whole.Self ||
			got.Spreads == "" {
			t.Errorf("by %s: %+v, not %d of %s", by, got, whole.Self, want)
		}
		asked, err := remote.Top(t.Context(), q)
		if err != nil || !reflect.DeepEqual(asked.Functions, got.Functions) {
			t.Errorf("by %s, from a daemon: %+v, %v", by, asked.Functions, err)
		}
	}
	// the profiling script is a package, which the page calls
	for only, rest := range map[string]int{"app": 0, "mine": 1} {
		q := query.TopQuery{Selection: sel}
		q.Only = only
		got, err := l.Top(t.Context(), q)
		if err != nil || got.Self != whole.Self || len(got.Functions) != len(whole.Functions)-1+rest {
			t.Errorf("only %s: %+v, %v", only, got, err)
		}
	}
}

// Changes of parts add up to the changes of functions. If a part is the whole page, its interval is
// at least as wide as the interval of the page.
func TestCompareParts(t *testing.T) {
	l, _ := rolledField(t, 600)
	a, b := releases("r1", "r2")
	for _, m := range []query.Method{query.MethodViews, query.MethodSums} {
		functions, err := l.Compare(t.Context(), query.CompareQuery{A: a, B: b, Method: m})
		if err != nil {
			t.Fatal(err)
		}
		a, b := a, b
		a.By, b.By = "owner", "owner"
		got, err := l.Compare(t.Context(), query.CompareQuery{A: a, B: b, Method: m})
		if err != nil {
			t.Fatal(err)
		}
		var want, sum float64
		for _, f := range functions.Functions {
			want += f.Adjusted.Value
		}
		for _, f := range got.Functions {
			sum += f.Adjusted.Value
			if x, y := deviationOf(&f.Change), deviationOf(&got.Total); len(got.Functions) == 1 && x < y*(1-1e-9) {
				t.Errorf("%s: %s has ± %g, the page ± %g", m, f.Name, x, y)
			}
		}
		if len(got.Functions) >= len(functions.Functions) || sum-want > 1e-6 || want-sum > 1e-6 {
			t.Errorf("%s: %d parts change by %g, %d functions by %g", m, len(got.Functions), sum,
				len(functions.Functions), want)
		}
	}
}

// deviationOf returns the standard error behind the interval of an estimate over many page views.
func deviationOf(c *compare.Change) float64 {
	if c.Adjusted.High == nil {
		return math.Inf(1)
	}
	return (*c.Adjusted.High - c.Adjusted.Value) / math.Erfcinv(1-c.Level)
}

func TestPartsRefused(t *testing.T) {
	f := fixture.New(t)
	srv := httptest.NewServer(Handler(localOf(f), Options{Now: fixture.Now}))
	defer srv.Close()
	remote, err := NewRemote(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	for what, ask := range map[string]func() error{
		`by: "colour" is none of function, file`: func() error {
			_, err := remote.Profile(t.Context(), selection.Selection{Parts: selection.Parts{By: "colour"}}, nil)
			return err
		},
		`only: "you" is neither app nor mine`: func() error {
			_, err := remote.Profile(t.Context(), selection.Selection{Parts: selection.Parts{Only: "you"}}, nil)
			return err
		},
		"a comparison covers all functions": func() error {
			sel := selection.Selection{Parts: selection.Parts{Only: "app"}}
			_, err := remote.Compare(t.Context(), query.CompareQuery{A: sel, B: sel})
			return err
		},
		"distributions are stored by function": func() error {
			_, err := localOf(f).Report(t.Context(), selection.Selection{Parts: selection.Parts{By: "team"}})
			return err
		},
	} {
		if err := ask(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, not %s", err, what)
		}
	}
}
