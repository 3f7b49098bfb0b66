package query

import (
	"context"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/rules/site"
	"github.com/fieldtrie/fieldtrie/store"
)

// Pages is a set of pages. The zero value has all pages.
type Pages struct {
	Key   string                 // identifies the set
	Takes func(page string) bool // nil for all pages
	Sites []string               // sites of the pages; nil for all sites
}

// OfSite returns the pages of a site, or the pages without a site for "".
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

// Both returns the intersection of p and q.
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

// Only returns a source limited to some pages: its responses are as if no other pages existed. A
// page view of several pages counts as one page view of each. The source has no symbols of other
// sites.
func (l Local) Only(p Pages) Local {
	if p.Takes != nil {
		l.Reader, l.only = onlyReader{l.Reader, p.Takes}, p.Key
	}
	if p.Sites != nil {
		l.Symbols = l.Symbols.OfSites(p.Sites...)
	}
	return l
}

// key returns the cache key of a query. It differs for sources with other pages, and after a
// deletion.
func (l Local) key(query string) string { return l.only + "\x00" + l.Reader.Deleted() + query }

// onlyReader is a reader limited to some pages. The source reads everything through it, so no query
// can bypass the limit.
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

// Version returns a string that changes whenever responses about [since, until) change. It returns
// "" if the source is limited to some pages: the version would also change with other pages, and so
// reveal when they have visitors.
func (l Local) Version(since, until time.Time) string {
	if l.only != "" {
		return ""
	}
	return l.key(l.Reader.Version(since, until) + l.Symbols.Generation())
}
