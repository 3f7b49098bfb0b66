package selection

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Selection selects parts of traces to merge.
type Selection struct {
	Page    string // "" for all pages
	Feature string // "" for all of the page
	// Where lists conditions that must all hold; time for which they do not is excluded. The keys
	// release and environment refer to the context. Other keys refer to a label span or, if no span
	// has the key, to the context.
	Where []Matcher
	// Since and Until limit the time at which traces were received, in [Since, Until). A zero time
	// means no limit.
	Since, Until time.Time
	// GroupBy lists the keys of labels by which to group. Time with several features is one group,
	// for the set of features. Without keys there is one group. It counts a page view once if all
	// its traces belong to one page and one partition of the store, because the store does not link
	// traces across pages and partitions.
	GroupBy []string
	// Lag is how much of the most recent data a response may lack, because updating it for every
	// request is expensive under load. 0 means that nothing may be missing.
	Lag time.Duration
	// Minified keeps the names of functions as reported by browsers, without uploaded symbols.
	Minified bool
	Parts
}

// Keys of labels that do not come from a label span.
const (
	KeyPage = "page"
)

// AllGroups returns the keys by which formats with labels group.
func AllGroups() []string { return []string{KeyPage, rollup.KeyRelease, rollup.KeyFeature} }

// String describes s for error messages.
func (s Selection) String() string {
	var b strings.Builder
	if s.Page != "" {
		fmt.Fprintf(&b, " for %s", s.Page)
	}
	if s.Feature != "" {
		fmt.Fprintf(&b, " with feature %s", s.Feature)
	}
	for _, m := range s.Where {
		fmt.Fprintf(&b, " with %s", m)
	}
	return b.String()
}

// Matches reports whether s can select any time of a trace with the context c.
func (s Selection) Matches(c *trie.Context) bool {
	for _, m := range s.Where {
		if m.Key == KeyPage || m.Key == rollup.KeyFeature {
			continue
		}
		takes := func(x trie.Span) bool {
			return x.Kind == trie.SpanLabel && x.Label().Key == m.Key && m.Takes(x.Label().Value)
		}
		if !m.Takes(labelOf(trie.Slice{}, c, m.Key)) && !slices.ContainsFunc(c.Spans, takes) {
			return false
		}
	}
	return true
}

// labelOf returns the value of a label in a slice of a trace with the context c, or "".
func labelOf(slice trie.Slice, c *trie.Context, key string) string {
	switch key {
	case KeyPage:
		return slice.Page
	case rollup.KeyRelease:
		return c.Release
	case rollup.KeyEnvironment:
		return c.Environment
	}
	return cmp.Or(slice.Labels.Value(key), c.Labels.Value(key))
}

// Takes reports whether s selects the slice, of a trace with the context c.
func (s Selection) Takes(slice trie.Slice, c *trie.Context) bool {
	for _, m := range s.Where {
		if m.Key == rollup.KeyFeature && !m.takesAny(slice.Features) || m.Key != rollup.KeyFeature &&
			!m.Takes(labelOf(slice, c, m.Key)) {
			return false
		}
	}
	return (s.Page == "" || slice.Page == s.Page) &&
		(s.Feature == "" || slices.Contains(slice.Features, s.Feature))
}

// labels returns the labels of the group for a slice of a trace.
func (s Selection) labels(slice trie.Slice, c *trie.Context) (l trie.Labels) {
	for _, key := range s.GroupBy {
		if key == rollup.KeyFeature {
			l = s.appendFeatures(l, slices.Values(slice.Features))
		} else if v := labelOf(slice, c, key); v != "" {
			l = append(l, trie.Label{Key: key, Value: v})
		}
	}
	return l.Sort()
}

// appendFeatures appends the features of a group: the selected feature, or all.
func (s Selection) appendFeatures(l trie.Labels, all iter.Seq[string]) trie.Labels {
	if s.Feature != "" {
		return append(l, trie.Label{Key: rollup.KeyFeature, Value: s.Feature})
	}
	for f := range all {
		l = append(l, trie.Label{Key: rollup.KeyFeature, Value: f})
	}
	return l
}

// Wanted describes the rollups that can answer s.
func (s Selection) Wanted() store.Wanted {
	w := store.Wanted{Level: rollup.Narrow}
	for _, key := range s.LabelKeys() {
		switch {
		case rollup.Narrow.Has(key):
		case rollup.Wide.Has(key):
			w.Level = rollup.Wide
		default:
			w.None = true
		}
	}
	return w
}

// LabelKeys returns the keys of the labels in conditions and groups of s. The page is not included,
// because each rollup belongs to one page.
func (s Selection) LabelKeys() (keys []string) {
	add := func(key string) {
		if key != KeyPage {
			keys = append(keys, key)
		}
	}
	if s.Feature != "" {
		add(rollup.KeyFeature)
	}
	for _, m := range s.Where {
		add(m.Key)
	}
	for _, key := range s.GroupBy {
		add(key)
	}
	return keys
}

// Query returns the query for a store: the pages and the time.
func (s Selection) Query() store.Query {
	q := store.Query{Page: s.Page, Since: s.Since, Until: s.Until}
	for _, m := range s.Where {
		if m.Key != KeyPage {
			continue
		}
		q.Pages = s.TakesPage
		if page, ok := m.only(); ok && page != "" && q.Page == "" && CheckPage(page) == nil {
			q.Page = page // faster; Grafana selects a single page by an expression
		}
	}
	return q
}

// TakesPage reports whether s can select any time on the page.
func (s Selection) TakesPage(page string) bool {
	for _, m := range s.Where {
		if m.Key == KeyPage && !m.Takes(page) {
			return false
		}
	}
	return s.Page == "" || s.Page == page
}

// OfPages reports whether s selects whole pages, without conditions on their time.
func (s Selection) OfPages() bool {
	return s.Feature == "" && !slices.ContainsFunc(s.Where, func(m Matcher) bool { return m.Key != KeyPage })
}

// TakesCell reports whether s selects the time under the labels of a rollup's cell, on a page that
// it selects.
func (s Selection) TakesCell(cell trie.Labels) bool {
	for _, m := range s.Where {
		switch m.Key {
		case KeyPage:
		case rollup.KeyFeature:
			if !m.takesAny(slices.Collect(ValuesOf(cell, rollup.KeyFeature))) {
				return false
			}
		default:
			if !m.Takes(cell.Value(m.Key)) {
				return false
			}
		}
	}
	return s.Feature == "" || slices.Contains(cell, trie.Label{Key: rollup.KeyFeature, Value: s.Feature})
}

// ValuesOf returns an iterator over the values of a key in labels.
func ValuesOf(l trie.Labels, key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, x := range l {
			if x.Key == key && !yield(x.Value) {
				return
			}
		}
	}
}

// CellLabels returns the labels of the group for the time of a cell, like labels for a slice of a
// trace.
func (s Selection) CellLabels(page string, cell trie.Labels) (l trie.Labels) {
	for _, key := range s.GroupBy {
		switch key {
		case KeyPage:
			l = append(l, trie.Label{Key: KeyPage, Value: page})
		case rollup.KeyFeature:
			l = s.appendFeatures(l, ValuesOf(cell, rollup.KeyFeature))
		default:
			if v := cell.Value(key); v != "" {
				l = append(l, trie.Label{Key: key, Value: v})
			}
		}
	}
	return l.Sort()
}

// CheckPage returns a [RefusedError] for a page that no trace can have. "" means all pages.
func CheckPage(page string) error {
	if len(page) > store.MaxPage {
		return Refuse("the page has %d bytes; the maximum is %d", len(page), store.MaxPage)
	}
	if strings.IndexByte(page, 0) >= 0 {
		return Refuse("page %q contains a NUL byte", page)
	}
	return nil
}

// Before returns s with another time range. If until is zero, the range ends where s begins,
// provided that it begins earlier.
func (s Selection) Before(since, until time.Time) Selection {
	if until.IsZero() && since.Before(s.Since) {
		until = s.Since
	}
	s.Since, s.Until = since, until
	return s
}

// Replace returns all, without matchers whose key occurs in by, followed by the matchers of by.
func Replace(all, by []Matcher) []Matcher {
	out := slices.DeleteFunc(slices.Clone(all), func(m Matcher) bool {
		return slices.ContainsFunc(by, func(x Matcher) bool { return x.Key == m.Key })
	})
	return append(out, by...)
}

// CheckTimes returns a [RefusedError] for an empty range, and for times outside the range that a
// store can hold, so that callers need not check times.
func CheckTimes(since, until time.Time) error {
	for _, t := range [...]time.Time{since, until} {
		if !t.IsZero() && !KnownTime(t) {
			return Refuse("%s is not from 1970 to 9999", t.UTC().Format(time.RFC3339))
		}
	}
	if !since.IsZero() && !until.IsZero() && !since.Before(until) {
		return Refuse("since (%s) must be before until (%s)", since.Format(time.RFC3339), until.Format(time.RFC3339))
	}
	return nil
}

// KnownTime reports whether t is in the range of queries: from 1970 to the year 9999, in UTC.
func KnownTime(t time.Time) bool { return t.Unix() >= 0 && t.UTC().Year() <= 9999 }

// KeyOwner groups time by the owner of the code, see [owner.Owner]. It is not a label of page
// views.
const KeyOwner = "owner"

// WithoutOwner returns s with [KeyOwner] removed from GroupBy, and whether it was there. It does
// not change s.
func (s Selection) WithoutOwner() (Selection, bool) {
	at := slices.Index(s.GroupBy, KeyOwner)
	if at < 0 {
		return s, false
	}
	s.GroupBy = slices.Delete(slices.Clone(s.GroupBy), at, at+1)
	return s, true
}
