package collect

import (
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/collect/quota"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/rules/site"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Kinds of names that are folded, in the metrics and in the budgets.
const (
	kindPage        = "page"
	kindFeature     = "feature"
	kindRelease     = "release"
	kindEnvironment = "environment"
	kindLabel       = "label"
)

// nameFolded returns the pages that t has time on. Pages without a place, in this hour or in one
// record, become PageOther.
func (c *Collector) nameFolded(t *trie.Trace, who client, now time.Time) []string {
	room := store.MaxPages - 2 // PageOther and PageUnknown always have a place
	folded := map[string]bool{}
	var kept []string
	for _, p := range t.Pages() {
		if isPlaceholder(p) {
			kept = append(kept, p)
			continue
		}
		ok, news := false, false
		if room > 0 {
			ok, news = c.pages.Take(kindPage, p, who.Sender, now)
		}
		if news {
			c.opts.Logger.Warn("too many distinct pages this hour, further ones are counted as "+PageOther,
				"most", c.bounds.Load().Pages, "page", logged(p), "from", who)
		}
		if !ok {
			folded[p] = true
			continue
		}
		kept = append(kept, p)
		room--
	}
	if len(folded) == 0 {
		return kept
	}
	c.metrics.folded.WithLabelValues(kindPage).Inc()
	x := &t.Context
	other := c.sites.page(who, PageOther)
	if folded[x.Page] {
		x.Page = other
	}
	for i, s := range x.Spans {
		if s.Kind == trie.SpanPage && folded[s.Name] {
			x.Spans[i].Name = other
		}
	}
	trie.SortSpans(x.Spans)
	kept = append(kept, other)
	slices.Sort(kept)
	return slices.Compact(kept)
}

// isPlaceholder reports whether a page, with or without a site, is one of the names that no path
// has.
func isPlaceholder(page string) bool {
	_, path := site.Cut(page)
	return path == PageOther || path == PageUnknown
}

// foldNames replaces the names in t that have no place this hour by (other). Each distinct name is
// stored many times, as a key of the catalogue and of rollups, and is a row of every response.
func (c *Collector) foldNames(t *trie.Trace, who client, now time.Time) {
	folded := map[string]bool{}
	fold := func(b *quota.Budget, what, kind, name string) string {
		if name == "" || name == PageOther {
			return name
		}
		ok, news := b.Take(kind, name, who.Sender, now)
		if news {
			c.opts.Logger.Warn("too many distinct names this hour, further ones are counted as "+PageOther,
				"of", what, "most", b.Most(), "key", logged(kind), "name", logged(name), "from", who)
		}
		if ok {
			return name
		}
		folded[what] = true
		return PageOther
	}
	label := func(l trie.Label) trie.Label {
		l.Value = fold(c.labels, kindLabel, l.Key, l.Value)
		if l.Value == PageOther && !c.labels.Knows(l.Key) {
			l.Key = PageOther
		}
		return l
	}
	x := &t.Context
	x.Release = fold(c.tags, kindRelease, kindRelease, x.Release)
	x.Environment = fold(c.tags, kindEnvironment, kindEnvironment, x.Environment)
	for i := range x.Labels {
		x.Labels[i] = label(x.Labels[i])
	}
	x.Labels = slices.CompactFunc(x.Labels.Sort(), sameKey) // several may have become (other)
	for i, s := range x.Spans {
		switch s.Kind {
		case trie.SpanFeature:
			x.Spans[i].Name = fold(c.tags, kindFeature, kindFeature, s.Name)
		case trie.SpanLabel:
			l := label(s.Label())
			x.Spans[i].Name = l.Key + "=" + l.Value
		}
	}
	trie.SortSpans(x.Spans)
	for what := range folded {
		c.metrics.folded.WithLabelValues(what).Inc()
	}
}

// logged makes a name chosen by a browser short and printable for the log.
func logged(name string) string { return output.Printable(shortened(name)) }

// sameKey reports whether two labels have the same key. A trace may have only one of them.
// Different keys may have become the same.
func sameKey(a, b trie.Label) bool { return a.Key == b.Key }
