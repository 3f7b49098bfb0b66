package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/fresh"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/sums"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// EditsQuery asks which functions were edited from release A to release B.
type EditsQuery struct {
	A, B string
	// Page limits the response to scripts that its profiles have seen, and adds third-party
	// scripts; "" is all that was uploaded.
	Page         string
	Since, Until time.Time // of the profiles
	Lag          time.Duration
	Limit        int // of functions; 0 is no limit
}

// Edits is a response to an EditsQuery.
type Edits struct {
	Release        string `json:"release"`
	CompareRelease string `json:"compare_release"`
	// Functions are those that are not unchanged: the app's first, then by package, file and place.
	Functions []EditedFunction      `json:"functions"`
	More      int                   `json:"more_functions,omitempty"` // that are over the limit
	Counts    map[edits.Kind]int    `json:"counts"`                   // of all kinds
	Packages  []edits.PackageChange `json:"packages"`                 // whose version changed, by name
	// Scripts are third-party scripts that only one release has. It is null without a page.
	Scripts []compare.ScriptChange `json:"scripts"`
	// Unknown is how many functions of the new release have no known text, so that they may be
	// edited.
	Unknown int `json:"unknown_functions,omitempty"`
	// Missing lists missing symbols. If a release has none, there are no functions.
	Missing []naming.Missing `json:"missing,omitempty"`
	Age     fresh.Age        `json:"-"`

	result *edits.Result
}

// EditedFunction is a function that is not as it was.
type EditedFunction struct {
	Change  edits.Kind     `json:"change"`
	Place   compare.Place  `json:"function"`         // in the new release, or in the old one if it was removed
	Before  *compare.Place `json:"before,omitempty"` // in the old one, if it was there
	Owner   string         `json:"owner"`            // such as "app" or "package lodash"
	Package string         `json:"package,omitempty"`
	Link    string         `json:"source_url,omitempty"`
}

// All returns what became of all functions, also unchanged ones; nil if that is not known here, as
// in the response of a daemon elsewhere.
func (e *Edits) All() []edits.Edit {
	if e.result == nil {
		return nil
	}
	return e.result.Edits
}

// Edits implements [Source].
func (l Local) Edits(ctx context.Context, q EditsQuery) (Edits, error) {
	out := Edits{Release: q.B, CompareRelease: q.A, Functions: []EditedFunction{}, Packages: []edits.PackageChange{},
		Counts: map[edits.Kind]int{}}
	switch {
	case q.A == "" || q.B == "":
		return out, selection.Refuse("edits: two releases are needed")
	case l.only != "" && q.Page == "":
		return out, selection.Refuse("edits: a page is needed")
	}
	l = l.OfPage(q.Page)
	before, after := l.releaseTables(q.A, &out), l.releaseTables(q.B, &out)
	takes := func(*edits.Function, bool) bool { return true }
	if q.Page != "" {
		a, err := l.pageScripts(ctx, q, q.A, &out)
		if err != nil {
			return out, err
		}
		b, err := l.pageScripts(ctx, q, q.B, &out)
		if err != nil {
			return out, err
		}
		out.Scripts = compare.Scripts(a.others, b.others)
		takes = func(f *edits.Function, old bool) bool { return old && a.keys[f.Key] || !old && b.keys[f.Key] }
	}
	if len(before) > 0 && len(after) > 0 {
		result := edits.Between(before, after)
		out.Unknown, out.result = result.Unknown, &result
		l.listEdits(&out, q, takes)
	}
	out.Packages = append(out.Packages, edits.Packages(before, after)...)
	return out, nil
}

// releaseTables returns the tables of a release that edits can be found by.
func (l Local) releaseTables(release string, out *Edits) []*symbols.Table {
	tables, missing := l.Symbols.Release(release)
	out.Missing = append(out.Missing, missing...)
	if len(tables) == 0 {
		out.Missing = append(out.Missing, naming.Missing{Release: release, Problem: naming.NoSymbols})
	}
	return tables
}

// scriptsOfPage are the scripts that the profiles of a page have seen.
type scriptsOfPage struct {
	keys   map[uint64]bool // of all functions in the scripts
	others []string        // URLs without symbols
}

func (l Local) pageScripts(ctx context.Context, q EditsQuery, release string, out *Edits) (x scriptsOfPage, err error) {
	sel := selection.Selection{Page: q.Page, Since: q.Since, Until: q.Until, Lag: q.Lag,
		Where: []selection.Matcher{{Key: rollup.KeyRelease, Op: selection.Equal, Value: release}}}
	x.keys = map[uint64]bool{}
	n := l.naming(sel)
	result, err := l.merged(ctx, forNaming(sel, n), nil)
	if err != nil || n == nil {
		return x, err
	}
	out.Age = out.Age.With(result.Stats.Age)
	n.SeeProfile(result.Profile)
	names := n.Names()
	for _, t := range names.Tables() {
		for i := range t.Functions {
			x.keys[t.Functions[i].Key] = true
		}
	}
	for _, url := range names.Unnamed() {
		if url, _ = scripturl.CutDebugID(url); strings.HasPrefix(url, "http") {
			x.others = append(x.others, url)
		}
	}
	return x, nil
}

// listEdits lists the functions that are not unchanged.
func (l Local) listEdits(out *Edits, q EditsQuery, takes func(f *edits.Function, old bool) bool) {
	rules := l.Rules()
	if rules == nil {
		rules = owner.Default()
	}
	for i := range out.result.Edits {
		e := &out.result.Edits[i]
		if !(e.Before != nil && takes(e.Before, true)) && !(e.After != nil && takes(e.After, false)) {
			continue
		}
		if out.Counts[e.Kind]++; e.Kind == edits.Unchanged {
			continue
		}
		f, release := e.Newest(), q.B
		if e.After == nil {
			release = q.A
		}
		of := rules.Of(f.Frame(), owner.Origin{Source: f.Source.Name, Version: f.Source.Version,
			Ignored: f.Source.Ignored})
		x := EditedFunction{Change: e.Kind, Place: editPlace(f), Owner: of.String(), Link: l.Symbols.Link(l.links(),
			release, f.Source.Name, f.SourceLine)}
		if of.Kind == owner.Package || of.Kind == owner.Framework {
			x.Package = of.Name
		}
		if e.Before != nil && e.After != nil {
			before := editPlace(e.Before)
			x.Before = &before
		}
		out.Functions = append(out.Functions, x)
	}
	slices.SortStableFunc(out.Functions, func(a, b EditedFunction) int { return cmp.Compare(a.Package, b.Package) })
	if q.Limit > 0 && len(out.Functions) > q.Limit {
		out.More = len(out.Functions) - q.Limit
		out.Functions = out.Functions[:q.Limit]
	}
}

func editPlace(f *edits.Function) compare.Place {
	return compare.Place{Name: f.Name, Resource: f.Source.Name, Line: f.SourceLine, Column: f.SourceColumn}
}

// builtEdits is what became of the functions of a build, to be kept.
type builtEdits struct{ all []edits.Edit }

// size returns about how many bytes x takes, with the functions.
func (x builtEdits) size() int { return 300 * len(x.all) }

// keptEdits is how long what became of functions is kept. It does not change until symbols do.
const keptEdits = time.Hour

// builds returns what became of the functions of A's release in that of B, or nil if a side has
// page views of several releases, both have the same one, or one release has no symbols.
func (l Local) builds(ctx context.Context, both selection.Selection, a, b *sums.Side) ([]edits.Edit, error) {
	before, oneA := a.Release()
	after, oneB := b.Release()
	if !oneA || !oneB || before == after || both.Minified {
		return nil, nil
	}
	l = l.OfPage(both.Page)
	key := fmt.Sprintf("builds %q %q %q", before, after, l.Symbols.Generation())
	got, _, err := cached(ctx, l, key, keptEdits, func(context.Context) (builtEdits, error) {
		old, missing := l.Symbols.Release(before)
		young, more := l.Symbols.Release(after)
		if len(old) == 0 || len(young) == 0 || len(missing)+len(more) > 0 {
			return builtEdits{}, nil
		}
		return builtEdits{edits.Between(old, young).Edits}, nil
	})
	return got.all, err
}
