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

// EditsQuery is a query for the functions edited from release A to release B.
type EditsQuery struct {
	A, B string
	// Page limits the response to scripts in the profiles of the page, and adds third-party
	// scripts. "" covers all uploaded scripts.
	Page         string
	Since, Until time.Time // of the profiles
	Lag          time.Duration
	Limit        int // maximum number of functions; 0 means no limit
}

// Edits is a response to an EditsQuery.
type Edits struct {
	Release        string `json:"release"`
	CompareRelease string `json:"compare_release"`
	// Functions lists the changed functions: the app's first, then by package, file and place.
	Functions []EditedFunction      `json:"functions"`
	More      int                   `json:"more_functions,omitempty"` // functions beyond the limit
	Counts    map[edits.Kind]int    `json:"counts"`                   // of all functions
	Packages  []edits.PackageChange `json:"packages"`                 // with a changed version, by name
	// Scripts are third-party scripts that only one release has. It is null without a page.
	Scripts []compare.ScriptChange `json:"scripts"`
	// Unknown is the number of functions in the new release without known source. Some of them may
	// be edited.
	Unknown int `json:"unknown_functions,omitempty"`
	// Missing lists missing symbols. If a release has none, there are no functions.
	Missing []naming.Missing `json:"missing,omitempty"`
	Age     fresh.Age        `json:"-"`

	result *edits.Result
}

// EditedFunction is a changed function.
type EditedFunction struct {
	Change  edits.Kind     `json:"change"`
	Place   compare.Place  `json:"function"`         // in the new release, or in the old one if it was removed
	Before  *compare.Place `json:"before,omitempty"` // in the old release, if it existed
	Owner   string         `json:"owner"`            // such as "app" or "package lodash"
	Package string         `json:"package,omitempty"`
	Link    string         `json:"source_url,omitempty"`
}

// All returns the change of every function, including unchanged ones. It returns nil if that is
// unknown, as in the response of a remote daemon.
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
		return out, selection.Refuse("edits: two releases are required")
	case l.only != "" && q.Page == "":
		return out, selection.Refuse("edits: a page is required")
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

// releaseTables returns the symbol tables of a release. It appends problems to out.Missing, such as
// a release without tables.
func (l Local) releaseTables(release string, out *Edits) []*symbols.Table {
	tables, missing := l.Symbols.Release(release)
	out.Missing = append(out.Missing, missing...)
	if len(tables) == 0 {
		out.Missing = append(out.Missing, naming.Missing{Release: release, Problem: naming.NoSymbols})
	}
	return tables
}

// scriptsOfPage has the scripts in the profiles of a page.
type scriptsOfPage struct {
	keys   map[uint64]bool // keys of all functions in the scripts
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

// listEdits lists the changed functions.
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

// builtEdits is the cached list of changes between two builds.
type builtEdits struct{ all []edits.Edit }

// size returns the approximate size of x in bytes, functions included.
func (x builtEdits) size() int { return 300 * len(x.all) }

// keptEdits is how long changes of functions are cached. They only depend on the symbols, which are
// in the key.
const keptEdits = time.Hour

// builds returns the changes of all functions from A's release to B's. It returns nil if a side has
// several releases, if both have the same release, or if one has no symbols.
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
