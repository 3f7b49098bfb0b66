package file

import (
	"context"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/encode/columns"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Merged is a [query.Source] of an existing profile, such as the profile of files. It has no times:
// it ignores time ranges and does not answer queries over time.
type Merged struct {
	Result query.Result
	// Threads describes the groups of the profile that are one thread each, the main thread of each
	// recording first. It is empty unless [Pick.Apart] is set.
	Threads output.Threads
	// Owners assigns code to owners; nil is [owner.Default].
	Owners *owner.Rules
	// Lines returns the threads in time order, which take the place of page views. It is nil if the
	// order is unknown. Lines must be safe for concurrent use, and may be called several times.
	Lines func(context.Context) ([]*trie.Timeline, error)

	names []*naming.Names // of functions, possibly one per file
}

// labelFile distinguishes the two files of [Versus].
const labelFile = "file"

// Values of the label that distinguishes the sides of [Versus].
const (
	Before = "before"
	After  = "after"
)

// Versus merges two profiles into one, in groups labelled file=[Before] and file=[After]. Functions
// whose place changed have the place of after.
func Versus(before, after *trie.Profile) *trie.Profile {
	m := trie.NewMerger()
	for value, p := range map[string]*trie.Profile{Before: compare.Align(before, after), After: after} {
		m.AddProfile(columns.OneGroup(p, trie.MakeLabels(labelFile, value)))
	}
	return m.Profile()
}

// Profile implements [query.Source].
func (s Merged) Profile(_ context.Context, sel selection.Selection, _ func(uint64)) (query.Result, error) {
	if err := sel.Parts.Check(); err != nil {
		return query.Result{}, selection.Refuse("%w", err)
	}
	all := func(trie.Labels) bool { return true }
	sel, byOwner := sel.WithoutOwner()
	of := naming.Finder(s.Owners, s.names...)
	r := s.Result
	r.Profile = sel.Regroup(r.Profile, all)
	if byOwner {
		r.Profile = owner.Split(r.Profile, selection.KeyOwner, of.Of)
	}
	r.Profile = sel.Show(r.Profile, of)
	return r, nil
}

// Top implements [query.Source].
func (s Merged) Top(ctx context.Context, q query.TopQuery) (query.Top, error) {
	q.GroupBy = nil
	r, err := s.Profile(ctx, q.Selection, nil)
	if err != nil {
		return query.Top{}, err
	}
	top := query.TopOf(r.Profile, q)
	top.Stats, top.Spreads = r.Stats, "times of files are totals"
	return top, nil
}

// Labels implements [query.Source].
func (s Merged) Labels(_ context.Context, sel selection.Selection) (query.Labels, error) {
	sel.GroupBy = []string{labelFile}
	views := map[trie.Label]int64{}
	p := sel.Regroup(s.Result.Profile, func(trie.Labels) bool { return true })
	for i := range p.Groups {
		for _, l := range p.Groups[i].Labels {
			views[l] += p.Groups[i].Coverage.Views
		}
	}
	return query.Labels{Labels: query.ListLabels(views), Stats: s.Result.Stats}, nil
}

// Values implements [query.Source].
func (s Merged) Values(ctx context.Context, sel selection.Selection, key string) ([]string, error) {
	l, err := s.Labels(ctx, sel)
	return l.Names(key), err
}

// Catalog implements [query.Source]. Files have no pages.
func (s Merged) Catalog(context.Context, time.Time, time.Time, time.Duration) (query.Catalog, error) {
	return query.Catalog{Entries: []query.Entry{}, Warnings: slices.Clone(s.Result.Stats.Warnings)}, nil
}

// notOfFiles returns the error for queries that need a store.
func notOfFiles(what string) error {
	return selection.Refuse("files have no %s, because they do not contain page views and times; query a store instead",
		what)
}

// Report implements [query.Source].
func (s Merged) Report(context.Context, selection.Selection) (query.Report, error) {
	return query.Report{}, notOfFiles("distributions")
}

// Vitals implements [query.Source].
func (s Merged) Vitals(context.Context, selection.Selection) (query.Vitals, error) {
	return query.Vitals{}, notOfFiles("web vitals")
}

// Cost implements [query.Source].
func (s Merged) Cost(context.Context, selection.Selection) (query.Cost, error) {
	return query.Cost{}, notOfFiles("web vitals")
}

// Series implements [query.Source].
func (s Merged) Series(context.Context, query.SeriesQuery) (query.Series, error) {
	return query.Series{}, notOfFiles("series over time")
}

// BrowserVersions implements [query.Source].
func (s Merged) BrowserVersions(context.Context, selection.Selection) (query.BrowserVersions, error) {
	return query.BrowserVersions{}, notOfFiles("browser versions over time")
}

// Compare implements [query.Source].
func (s Merged) Compare(context.Context, query.CompareQuery) (query.Comparison, error) {
	return query.Comparison{}, notOfFiles("comparisons with intervals")
}

// Edits implements [query.Source].
func (s Merged) Edits(context.Context, query.EditsQuery) (query.Edits, error) {
	return query.Edits{}, notOfFiles("releases")
}
