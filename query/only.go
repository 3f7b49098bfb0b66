package query

import (
	"context"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/rules/site"
	"github.com/fieldtrie/fieldtrie/store"
)

// Pages are some of the pages that there are. The zero value is all of them.
type Pages struct {
	Key   string                 // tells them from others
	Takes func(page string) bool // nil: all
}

// OfSite returns the pages of a site.
func OfSite(name string) Pages {
	return Pages{"site " + name, func(page string) bool { is, _ := site.Cut(page); return is == name }}
}

// Both returns the pages that are in p and in q.
func (p Pages) Both(q Pages) Pages {
	switch {
	case p.Takes == nil:
		return q
	case q.Takes == nil:
		return p
	}
	return Pages{p.Key + " " + q.Key, func(page string) bool { return p.Takes(page) && q.Takes(page) }}
}

// Only returns a source that knows of some pages alone: all others might as well not be there. A page
// view that went through several pages is one of each of them.
func (l Local) Only(p Pages) Local {
	if p.Takes != nil {
		l.Reader, l.only = onlyReader{l.Reader, p.Takes}, p.Key
	}
	return l
}

// key returns what tells a response to a query from others, and from that of who knows other pages.
func (l Local) key(query string) string { return l.only + "\x00" + query }

// onlyReader reads what is stored of some pages. All that is answered comes through it, so nothing
// that reads can forget whom it is for.
type onlyReader struct {
	store.Reader
	takes func(page string) bool
}

// Select implements [store.Reader].
func (r onlyReader) Select(ctx context.Context, q store.Query, want store.Wanted, trace func(store.Record) error, rolled func(store.Rolled) error) (store.ScanStats, error) {
	asked := q.Pages
	q.Pages = func(page string) bool { return r.takes(page) && (asked == nil || asked(page)) }
	if q.Page != "" && !q.Pages(q.Page) {
		return store.ScanStats{}, nil
	}
	return r.Reader.Select(ctx, q, want, trace, rolled)
}

// Catalog implements [store.Reader].
func (r onlyReader) Catalog(ctx context.Context, since, until time.Time, lag time.Duration) ([]store.CatalogEntry, store.ScanStats, error) {
	entries, stats, err := r.Reader.Catalog(ctx, since, until, lag)
	entries = slices.DeleteFunc(slices.Clone(entries), func(e store.CatalogEntry) bool { return !r.takes(e.Page) })
	return entries, stats, err
}

// Version returns a text that changes whenever the responses about [since, until) do.
func (l Local) Version(since, until time.Time) string {
	return l.key(l.Reader.Version(since, until) + l.Symbols.Generation())
}
