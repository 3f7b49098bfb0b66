package query

import (
	"context"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/encode/columns"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Merged is a [Source] of a profile that is there already, as that of files is. It has no times, so
// that nothing can be asked over time and all that was received at any time is the answer.
type Merged struct {
	Result Result
	// Owners say whose code is whose; nil is [owner.Default].
	Owners *owner.Rules
	// Lines are the threads in the order of time, which take the place of page views; nil if they are
	// not known. It may be called several times, and at the same time.
	Lines func(context.Context) ([]*trie.Timeline, error)
}

// labelFile tells the two files of [Versus] apart.
const labelFile = "file"

// The values of the label that tells the sides of [Versus] apart.
const (
	FileBefore = "before"
	FileAfter  = "after"
)

// Versus returns a profile of two, in groups with the label file of [FileBefore] and [FileAfter].
// Functions that only stand somewhere else are where they are after.
func Versus(before, after *trie.Profile) *trie.Profile {
	m := trie.NewMerger()
	for value, p := range map[string]*trie.Profile{FileBefore: Align(before, after), FileAfter: after} {
		m.AddProfile(columns.OneGroup(p, trie.MakeLabels(labelFile, value)))
	}
	return m.Profile()
}

// Profile implements [Source].
func (s Merged) Profile(_ context.Context, sel Selection, _ func(uint64)) (Result, error) {
	if err := sel.Parts.check(); err != nil {
		return Result{}, refuse("%w", err)
	}
	all := func(trie.Labels) bool { return true }
	sel, byOwner := sel.withoutOwner()
	of := finder(s.Owners, s.Result.files...)
	r := s.Result
	r.Profile = sel.regroup(r.Profile, all)
	if byOwner {
		r.Profile = owner.Split(r.Profile, keyOwner, of.Of)
	}
	r.Profile = sel.show(r.Profile, of)
	return r, nil
}

// Top implements [Source].
func (s Merged) Top(ctx context.Context, q TopQuery) (Top, error) {
	q.GroupBy = nil
	r, err := s.Profile(ctx, q.Selection, nil)
	if err != nil {
		return Top{}, err
	}
	top := topOf(r.Profile, nil, q)
	top.Stats, top.Spreads = r.Stats, "files do not say how page views differ"
	return top, nil
}

// Labels implements [Source].
func (s Merged) Labels(_ context.Context, sel Selection) (Labels, error) {
	sel.GroupBy = []string{labelFile}
	views := map[trie.Label]int64{}
	p := sel.regroup(s.Result.Profile, func(trie.Labels) bool { return true })
	for i := range p.Groups {
		for _, l := range p.Groups[i].Labels {
			views[l] += p.Groups[i].Coverage.Views
		}
	}
	return Labels{labelValues(views), s.Result.Stats}, nil
}

// Values implements [Source].
func (s Merged) Values(ctx context.Context, sel Selection, key string) ([]string, error) {
	l, err := s.Labels(ctx, sel)
	return l.names(key), err
}

// Catalog implements [Source]. Files are of no pages that are known apart.
func (s Merged) Catalog(context.Context, time.Time, time.Time, time.Duration) (Catalog, error) {
	return Catalog{Entries: []Entry{}, Warnings: slices.Clone(s.Result.Stats.Warnings)}, nil
}

// notOfFiles is the error of questions that only a store answers.
func notOfFiles(what string) error {
	return refuse("%s: files have none, as they do not tell page views and times apart; ask a store", what)
}

// Report implements [Source].
func (s Merged) Report(context.Context, Selection) (Report, error) {
	return Report{}, notOfFiles("distributions")
}

// Vitals implements [Source].
func (s Merged) Vitals(context.Context, Selection) (Vitals, error) {
	return Vitals{}, notOfFiles("web vitals")
}

// Series implements [Source].
func (s Merged) Series(context.Context, SeriesQuery) (Series, error) {
	return Series{}, notOfFiles("series over time")
}

// Compare implements [Source].
func (s Merged) Compare(context.Context, CompareQuery) (Comparison, error) {
	return Comparison{}, notOfFiles("comparisons with intervals")
}
