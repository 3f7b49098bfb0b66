package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/fresh"
	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/memory"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Source returns responses to queries.
type Source interface {
	// Profile merges the selected data. progress may be nil; otherwise it is called occasionally
	// with the number of traces read so far.
	Profile(ctx context.Context, sel selection.Selection, progress func(traces uint64)) (Result, error)
	// Report returns the distributions of the selected page views. Labels without distributions are
	// an error.
	Report(ctx context.Context, sel selection.Selection) (Report, error)
	// Vitals returns the Web Vitals of the selected page views. Labels without Web Vitals are an
	// error.
	Vitals(ctx context.Context, sel selection.Selection) (Vitals, error)
	// Cost returns the cost of profiling to visitors. Labels without Web Vitals are an error.
	Cost(ctx context.Context, sel selection.Selection) (Cost, error)
	// BrowserVersions lists the versions of browsers over time, with their effects.
	BrowserVersions(ctx context.Context, sel selection.Selection) (BrowserVersions, error)
	// Series returns page views and their distributions over time.
	Series(ctx context.Context, q SeriesQuery) (Series, error)
	// Top lists the functions with the most time.
	Top(ctx context.Context, q TopQuery) (Top, error)
	// Compare returns the changes from one selection to another.
	Compare(ctx context.Context, q CompareQuery) (Comparison, error)
	// Edits returns the functions that were edited between two releases.
	Edits(ctx context.Context, q EditsQuery) (Edits, error)
	// Labels lists the labels of the selected data by key, each with at most 1,000 values.
	Labels(ctx context.Context, sel selection.Selection) (Labels, error)
	// Values returns the values of a label in the selected data, sorted.
	Values(ctx context.Context, sel selection.Selection, key string) ([]string, error)
	// Views returns single page views at quantiles of their time.
	Views(ctx context.Context, q ViewsQuery) (Views, error)
	// View returns a single page view. It returns a [NotFoundError] if the view does not exist.
	View(ctx context.Context, q ViewQuery) (View, error)
	// Catalog returns a list of stored data, sorted by page; for each page the entry for the whole
	// page comes first, then the others by kind and name. It may lack the latest data, see
	// [selection.Selection.Lag].
	Catalog(ctx context.Context, since, until time.Time, lag time.Duration) (Catalog, error)
}

// Result is a merged profile with its stats.
type Result struct {
	Profile *trie.Profile
	Stats   Stats

	names *naming.Names // names of the frames; nil if browsers reported them
}

// Entry counts the traces with a property.
type Entry struct {
	Page   string    `json:"page"`
	Kind   string    `json:"kind"` // "page", "feature", "release", "environment"
	Name   string    `json:"name"` // the feature, release or environment; the page itself for pages
	Traces uint64    `json:"traces"`
	First  time.Time `json:"first"` // receive time
	Last   time.Time `json:"last"`
	// Uploaded is the time of the first upload of a release's symbols. It is zero if unknown, and
	// for other kinds.
	Uploaded time.Time `json:"uploaded,omitzero"`
}

// Catalog lists the stored data of a time range.
type Catalog struct {
	Entries  []Entry  `json:"entries"`
	Warnings []string `json:"warnings,omitempty"`
	Demo     string   `json:"demo,omitempty"` // description of demo data

	Age fresh.Age `json:"-"` // see [selection.Selection.Lag]
}

// size returns the approximate size of c in bytes.
func (c Catalog) size() int { return 200 * len(c.Entries) }

// Pages returns the pages of c, the most traces first.
func (c Catalog) Pages() []Entry {
	var pages []Entry
	for _, e := range c.Entries {
		if e.Kind == "page" {
			pages = append(pages, e)
		}
	}
	slices.SortStableFunc(pages, func(a, b Entry) int { return cmp.Compare(b.Traces, a.Traces) })
	return pages
}

// Local is a source that reads a store in the same process.
type Local struct {
	Reader store.Reader
	// MaxSize is the maximum memory of one merge, in bytes. A larger merge fails with a
	// [memory.TooLargeError]. 0 means 256 MiB.
	MaxSize int
	// Memory bounds the memory of all merges that share it.
	Memory *memory.Bound
	// Symbols names the functions of minified scripts. It may be nil.
	Symbols *naming.Symbolizer
	// Owners returns the rules for owners of code; nil means [owner.Default]. A daemon may change
	// its rules while it runs.
	Owners func() *owner.Rules
	// Links returns the links from functions to their sources. It may be nil.
	Links func() naming.Links
	// Browsers returns the measured effects of browser versions on the pages for which takes
	// returns true. It may be nil.
	Browsers func(ctx context.Context, takes func(page string) bool) browsers.Evidence
	// Responses caches responses within [selection.Selection.Lag]. Nil means no cache.
	Responses *ResponseCache
	// Steps caches the rollups of steps shorter than an hour. Nil means no cache.
	Steps *StepCache

	only string // [Pages.Key] of the pages of Reader
}

const (
	// progressEvery is the number of traces between two calls of progress.
	progressEvery = 256
	// sizedEvery is the number of traces between two checks of the size of a merge.
	sizedEvery = 16
)

// Rules returns the current rules for owners, or nil for [owner.Default].
func (l Local) Rules() *owner.Rules {
	if l.Owners == nil {
		return nil
	}
	return l.Owners()
}

// links returns the current links to sources.
func (l Local) links() naming.Links {
	if l.Links == nil {
		return naming.Links{}
	}
	return l.Links()
}

// size returns the approximate size of r in bytes.
func (r Result) size() int { return r.Profile.Size() }

// Profile implements [Source].
func (l Local) Profile(ctx context.Context, sel selection.Selection, progress func(uint64)) (Result, error) {
	if progress != nil { // progress needs a complete read
		return l.profile(ctx, sel, progress)
	}
	sel, key := recently(sel)
	key = fmt.Sprint("profile ", key, l.Symbols.Generation())
	got, kept, err := cached(ctx, l, key, sel.Lag, func(ctx context.Context) (Result, error) {
		return l.profile(ctx, sel, nil)
	})
	got.Stats.Age = got.Stats.Age.After(kept)
	return got, err
}

// profile merges the selected data and names its functions.
func (l Local) profile(ctx context.Context, sel selection.Selection, progress func(uint64)) (Result, error) {
	result, err := l.namedProfile(ctx, sel, progress)
	result.names = nil // large, and responses are cached
	return result, err
}

func (l Local) namedProfile(ctx context.Context, sel selection.Selection, progress func(uint64)) (Result, error) {
	sel, byOwner := sel.WithoutOwner()
	n := l.naming(sel)
	result, err := l.merged(ctx, forNaming(sel, n), progress)
	if err != nil {
		return result, err
	}
	result = named(sel, result, n)
	of := naming.Finder(l.Rules(), result.names)
	if byOwner {
		result.Profile = owner.Split(result.Profile, selection.KeyOwner, of.Of)
	}
	result.Profile = sel.Show(result.Profile, of)
	return result, nil
}

// merged merges the selected data, with the names that browsers reported.
func (l Local) merged(ctx context.Context, sel selection.Selection, progress func(uint64)) (Result, error) {
	if err := selection.CheckTimes(sel.Since, sel.Until); err != nil {
		return Result{}, err
	}
	room := l.Memory.Room(l.MaxSize)
	defer room.Release()
	m := merging{reading: reading{sel: sel}, room: room, merger: trie.NewMerger(), progress: progress}
	m.sum = rollup.NewSum(m.group)
	m.sum.Bound(room.Fits)
	stats, err := l.selectFrom(ctx, sel, sel.Wanted(), m.trace, m.rolled)
	if err != nil {
		return Result{}, err
	}
	summed := m.sum.Profile()
	if m.read == 0 { // rollups only
		return Result{Profile: summed, Stats: m.stats(stats)}, room.Fits(summed.Size())
	}
	if err := room.Fits(summed.Size() + m.merger.Profile().Size()); err != nil {
		return Result{}, err
	}
	m.merger.AddProfile(summed)
	return Result{Profile: m.merger.Profile(), Stats: m.stats(stats)}, nil
}

// merging is the state of merging a Selection.
type merging struct {
	reading
	room     *memory.Room
	merger   *trie.Merger // of traces
	sum      *rollup.Sum  // of rollups
	progress func(uint64)

	page string // of the rollup that is being added
	last string // partition and page of the previous trace
}

func (m *merging) group(cell trie.Labels) (trie.Labels, bool) {
	return m.sel.CellLabels(m.page, cell), m.sel.TakesCell(cell)
}

func (m *merging) rolled(r store.Rolled) error {
	m.page = r.Page
	m.countFolded(r.Record)
	return m.sum.Add(r.Record, r.Stacks)
}

func (m *merging) trace(rec store.Record) error {
	if m.read++; m.progress != nil && m.read%progressEvery == 0 {
		m.progress(m.read)
	}
	t := m.decode(rec)
	if t == nil {
		return nil
	}
	// A page view counts once per page and partition, as in rollups.
	if key := rec.Partition + "\x00" + rec.Page; key != m.last {
		m.merger.NextView()
		m.last = key
	}
	m.sel.Merge(m.merger, t, rec.Page)
	if m.read%sizedEvery == 0 {
		return m.room.Fits(m.merger.Profile().Size())
	}
	return nil
}

// Catalog implements [Source].
func (l Local) Catalog(ctx context.Context, since, until time.Time, lag time.Duration) (Catalog, error) {
	if err := selection.CheckTimes(since, until); err != nil {
		return Catalog{}, err
	}
	entries, stats, err := l.Reader.Catalog(ctx, since, until, lag)
	if err != nil {
		return Catalog{}, fmt.Errorf("read catalogue: %w", err)
	}
	out := Catalog{Entries: []Entry{}, Warnings: warnings(stats), Age: fresh.Age{Behind: stats.Behind}}
	uploads := map[string]map[string]time.Time{} // by site and release
	for _, e := range entries {
		x := Entry{Page: e.Page, Kind: e.Tag.Key, Name: e.Tag.Value, Traces: e.Traces, First: e.First.UTC(),
			Last: e.Last.UTC()}
		if e.Tag == (store.Tag{}) {
			x.Kind, x.Name = "page", e.Page
		}
		if x.Kind == rollup.KeyRelease {
			site := siteOf(x.Page)
			if uploads[site] == nil {
				uploads[site] = l.FirstUploads(x.Page)
			}
			x.Uploaded = uploads[site][x.Name]
		}
		out.Entries = append(out.Entries, x)
	}
	return out, nil
}

// FirstUploads returns the time of the first upload of symbols by release, for the site of a page.
func (l Local) FirstUploads(page string) map[string]time.Time {
	return l.OfPage(page).Symbols.FirstUploads()
}
