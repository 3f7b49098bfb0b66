package cause_test

import (
	"errors"
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/cause"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
)

// library has the symbols of one build of release b.
type library struct{}

func (library) Generation() string { return "1" }

func (library) Uploads() []symbols.Upload {
	return []symbols.Upload{{Release: "b", Owners: "/src/lib/ @shop/platform\n",
		Scripts: []symbols.Script{{Path: "app.js", SHA256: "1"}}}}
}

func (library) Table(sha256 string) (*symbols.Table, error) {
	if sha256 != "1" {
		return nil, errors.New("no such table")
	}
	return &symbols.Table{Sources: []symbols.Source{{Name: "src/lib/money.ts"}, {Name: "node_modules/fuse.js/fuse.js",
		Version: "7.0.0"}}}, nil
}

// A change has the owner of its function's source file, also if no release explains the change.
func TestOwner(t *testing.T) {
	of := func(symbols *naming.Symbolizer, release, file string) string {
		c := watch.Change{Release: release, What: watch.What{Kind: watch.OfFunction, Function: &compare.Place{Name: "f",
			Resource: file, Line: 7}},
			Pages: []watch.PageChange{{Page: "/"}}}
		name, team := cause.Owner(query.Local{Symbols: symbols})(&c)
		return name + ", " + team
	}
	symbols := naming.New(library{})
	for release, file := range map[string]string{"b": "src/lib/money.ts", "": "src/lib/money.ts"} {
		if got := of(symbols, release, file); got != "app, @shop/platform" {
			t.Errorf("release %q, %s: %s", release, file, got)
		}
	}
	if got := of(symbols, "b", "node_modules/fuse.js/fuse.js"); got != "package fuse.js, " {
		t.Errorf("a package: %s", got)
	}
	if a, b := of(symbols, "a", "src/lib/money.ts"), of(nil, "b", "src/lib/money.ts"); a != "unmapped, " || b != a {
		t.Errorf("without symbols: %s; %s", a, b)
	}
	page := watch.Change{What: watch.What{Kind: watch.OfPage}, Pages: []watch.PageChange{{Page: "/"}}}
	if name, team := cause.Owner(query.Local{})(&page); name+team != "" {
		t.Errorf("a page has the owner %s %s", name, team)
	}
}
