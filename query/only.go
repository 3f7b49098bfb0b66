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
	Sites []string               // of the pages; nil: any
}

// OfSite returns the pages of a site.
func OfSite(name string) Pages {
	return OfSites("site "+name, name)
}

// OfSites returns the pages of some sites.
func OfSites(key string, names ...string) Pages {
	return Pages{key, func(page string) bool { return slices.Contains(names, siteOf(page)) }, names}
}

// siteOf returns the site of a page, "" if it has none.
func siteOf(page string) string {
	of, _ := site.Cut(page)
	return of
}

// OfPage returns a source that names functions by symbols of the page's site and by shared symbols,
// because two sites may have scripts and releases with the same name. For all pages, "", the
// symbols of all sites are used.
func (l Local) OfPage(page string) Local {
	if page != "" {
		l.Symbols = l.Symbols.OfSites(siteOf(page))
	}
	return l
}

// Both returns the pages that are in p and in q.
func (p Pages) Both(q Pages) Pages {
	switch {
	case p.Takes == nil:
		return q
	case q.Takes == nil:
		return p
	}
	both := Pages{p.Key + " " + q.Key, func(page string) bool { return p.Takes(page) && q.Takes(page) }, p.Sites}
	switch {
	case p.Sites == nil:
		both.Sites = q.Sites
	case q.Sites != nil:
		both.Sites = slices.DeleteFunc(slices.Clone(p.Sites), func(name string) bool {
			return !slices.Contains(q.Sites, name)
		})
	}
	return both
}

// Only returns a source that knows of some pages alone: all others might as well not be there. A
// page view that went through several pages is one of each of them. Nor does it know the symbols of
// other sites.
func (l Local) Only(p Pages) Local {
	if p.Takes != nil {
		l.Reader, l.only = onlyReader{l.Reader, p.Takes}, p.Key
	}
	if p.Sites != nil {
		l.Symbols = l.Symbols.OfSites(p.Sites...)
	}
	return l
}

// key returns what tells a response to a query from others, from that of who knows other pages, and
// from that before a deletion.
func (l Local) key(query string) string { return l.only + "\x00" + l.Reader.Deleted() + query }

// onlyReader reads what is stored of some pages. All that is answered comes through it, so nothing
// that reads can forget whom it is for.
type onlyReader struct {
	store.Reader
	takes func(page string) bool
}

// Select implements [store.Reader].
func (r onlyReader) Select(ctx context.Context, q store.Query, want store.Wanted, trace func(store.Record) error,
	rolled func(store.Rolled) error) (store.ScanStats, error) {
	asked := q.Pages
	q.Pages = func(page string) bool { return r.takes(page) && (asked == nil || asked(page)) }
	if q.Page != "" && !q.Pages(q.Page) {
		return store.ScanStats{}, nil
	}
	return r.Reader.Select(ctx, q, want, trace, rolled)
}

// Catalog implements [store.Reader].
func (r onlyReader) Catalog(ctx context.Context, since, until time.Time, lag time.Duration) ([]store.CatalogEntry,
	store.ScanStats, error) {
	entries, stats, err := r.Reader.Catalog(ctx, since, until, lag)
	entries = slices.DeleteFunc(slices.Clone(entries), func(e store.CatalogEntry) bool { return !r.takes(e.Page) })
	return entries, stats, err
}

// Version returns a text that changes whenever the responses about [since, until) do. It is "" for
// some of the pages: it would change with others, too, and so tell when these have visitors.
func (l Local) Version(since, until time.Time) string {
	if l.only != "" {
		return ""
	}
	return l.key(l.Reader.Version(since, until) + l.Symbols.Generation())
}
