package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/sums"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Top lists the functions of a Selection.
type Top struct {
	Views  int64 `json:"views"`
	Traces int64 `json:"traces"`
	Self   int64 `json:"self_us"` // of all functions
	// part of Self in the profiling script, where that has its own row
	Own       int64         `json:"own_us"`
	Stackless int64         `json:"stackless_us"`
	Idle      int64         `json:"idle_us"` // known to be idle
	Unsampled int64         `json:"unsampled_us"`
	Truncated int64         `json:"truncated"` // samples with a truncated stack
	Functions []TopFunction `json:"functions"`
	Others    TopOthers     `json:"other_functions"`
	// Spreads is the reason for missing intervals and percentiles.
	Spreads string `json:"no_spread,omitempty"`
	Stats   Stats  `json:"stats"`
}

// TopFunction is a function with its time over all page views. Sums are exact, and equal to
// aggregate --format top.
type TopFunction struct {
	Name     string `json:"name"`
	Resource string `json:"resource,omitempty"`
	Line     uint32 `json:"line,omitempty"`
	Column   uint32 `json:"column,omitempty"`
	Link     string `json:"source_url,omitempty"` // link to the source
	Self     int64  `json:"self_us"`
	Total    int64  `json:"total_us"` // including callees
	Samples  int64  `json:"samples"`
	// Reach is the number of page views in which the function was seen. It is exact if there is a
	// spread, otherwise a lower bound.
	Reach int64 `json:"reach"`
	// SelfSpread and TotalSpread are in ms per page view. The mean and its interval are over all
	// page views, the percentiles over the page views in which the function was seen.
	SelfSpread  *Spread `json:"self,omitempty"`
	TotalSpread *Spread `json:"total,omitempty"`
}

// TopOthers is the sum of unlisted functions.
type TopOthers struct {
	Count int   `json:"count"`
	Self  int64 `json:"self_us"`
}

// TopQuery is a query for functions.
type TopQuery struct {
	selection.Selection
	Limit int    // maximum number of listed functions; 0 means all
	Sort  string // "self", "total" or "reach"; "" is self
}

// size returns the approximate size of t in bytes.
func (t Top) size() (n int) {
	for i := range t.Functions {
		n += 800 + len(t.Functions[i].Name) + len(t.Functions[i].Resource) // mostly spreads
	}
	return n
}

// Top implements [Source].
func (l Local) Top(ctx context.Context, q TopQuery) (Top, error) {
	q.GroupBy = nil
	sel, key := recently(q.Selection)
	q.Selection = sel
	key = fmt.Sprint("top ", key, q.Limit, q.Sort, l.Symbols.Generation())
	got, kept, err := cached(ctx, l, key, sel.Lag, func(ctx context.Context) (Top, error) { return l.top(ctx, q) })
	got.Stats.Age = got.Stats.Age.After(kept)
	return got, err
}

func (l Local) top(ctx context.Context, q TopQuery) (Top, error) {
	facet, err := sums.FacetOf(q.Selection)
	if err != nil || !facet.TakesAnyFunctions() || q.Parts.Given() {
		result, profileErr := l.namedProfile(ctx, q.Selection, nil)
		if profileErr != nil {
			return Top{}, profileErr
		}
		top := TopOf(result.Profile, q)
		top.link(l.links(), result.names)
		top.Stats, top.Spreads = result.Stats, "distributions of functions are stored by page and release only"
		if q.Parts.Given() {
			top.Spreads = "distributions are stored by function, not by part of the code"
		}
		return top, nil
	}
	room := l.Memory.Room(l.MaxSize)
	defer room.Release()
	functions := sums.NewFunctions()
	page := ""
	n := l.naming(q.Selection)
	sel := forNaming(q.Selection, n)
	sum := rollup.NewSum(func(cell trie.Labels) (trie.Labels, bool) {
		return sel.CellLabels(page, cell), sel.TakesCell(cell)
	})
	sum.Bound(func(size int) error { return room.Fits(size + functions.Size()) })
	want := q.Wanted()
	want.Details = true
	stats, err := l.eachRecord(ctx, q.Selection, want, func(x store.Rolled) error {
		page = x.Page
		if err := sum.Add(x.Record, x.Stacks); err != nil {
			return err
		}
		for i := range x.Record.Functions {
			if of := &x.Record.Functions[i]; facet.TakesFunctions(of.Release) {
				functions.Add(of, x.Stacks, n.ByRelease())
			}
		}
		return room.Fits(sum.Size() + functions.Size())
	})
	if err != nil {
		return Top{}, err
	}
	functions.See(n, true)
	result := named(q.Selection, Result{Profile: sum.Profile(), Stats: stats}, n)
	top := topOf(result.Profile, functions.Named(result.names), q)
	top.link(l.links(), result.names)
	top.Stats = result.Stats
	return top, nil
}

// link adds links to the sources.
func (t *Top) link(links naming.Links, names *naming.Names) {
	for i := range t.Functions {
		f := &t.Functions[i]
		f.Link = links.Of(names, trie.Frame{Name: f.Name, Resource: f.Resource, Line: f.Line, Column: f.Column})
	}
}

// TopOf lists the functions of a profile, without spreads.
func TopOf(p *trie.Profile, q TopQuery) Top { return topOf(p, nil, q) }

// topOf lists the functions of a profile, with the known spreads by frame.
func topOf(p *trie.Profile, spread sums.Spreads, q TopQuery) Top {
	all := p.Functions()
	for i, f := range all {
		if s := spread[f.Frame]; s != nil {
			all[i].Reach = max(f.Reach, s.Total.Count)
		}
	}
	if key := map[string]func(trie.Function) int64{
		"total": func(f trie.Function) int64 {
			return f.Total
		}, "reach": func(f trie.Function) int64 { return f.Reach },
	}[q.Sort]; key != nil {
		slices.SortStableFunc(all, func(a, b trie.Function) int { return cmp.Compare(key(b), key(a)) })
	}
	_, c := p.Flat()
	top := Top{Views: p.Views, Traces: p.Traces, Stackless: c.Stackless, Idle: c.Idle, Unsampled: c.Unsampled,
		Truncated: c.Truncated, Functions: []TopFunction{}}
	for i, f := range all {
		if top.Self += f.Self; f.Own() || f.Frame == owner.Script().Frame() {
			top.Own += f.Self
		}
		if q.Limit > 0 && i >= q.Limit {
			top.Others.Count++
			top.Others.Self += f.Self
			continue
		}
		x := TopFunction{Name: f.Name, Resource: f.Resource, Line: f.Line, Column: f.Column,
			Self: f.Self, Total: f.Total, Samples: f.Samples, Reach: f.Reach}
		// Hours in which the function was not among the heaviest only have its sum.
		if s := spread[f.Frame]; s != nil && s.Self.Sum == f.Self {
			self, total := spreadOf(&s.Self, p.Views), spreadOf(&s.Total, p.Views)
			x.SelfSpread, x.TotalSpread = &self, &total
		}
		top.Functions = append(top.Functions, x)
	}
	return top
}
