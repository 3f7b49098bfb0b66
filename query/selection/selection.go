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

// Selection says which part of which traces is merged.
type Selection struct {
	Page    string // "" for all pages
	Feature string // "" for all of the page
	// Where must all hold, for the time in which they do. The keys release and environment
	// are those of the context, others of a label span or, where there is none with the
	// key, of the context.
	Where []Matcher
	// Since and Until bound the time at which the traces were received, half-open. A
	// zero time is an open end.
	Since, Until time.Time
	// GroupBy are the keys of labels whose values are kept apart. Time with several
	// features is one group, of their set. Without keys all is one group, in which each
	// page view counts once, if its traces are of one page and were received in one
	// partition of the store: no more is remembered of a view.
	GroupBy []string
	// Lag is how much of what came in last may be missing from a response: under
	// load, to sum it up again for everybody who asks is expensive. 0: nothing.
	Lag time.Duration
	// Minified has functions named as browsers said them, and not by the symbols that were
	// uploaded.
	Minified bool
	Parts
}

// The keys of labels that are not those of a label span.
const (
	KeyPage = "page"
)

// AllGroups returns the keys that formats with labels are grouped by.
func AllGroups() []string { return []string{KeyPage, rollup.KeyRelease, rollup.KeyFeature} }

// String describes s as an error message does.
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

// Matches reports whether s can ask for some time of a trace with the context c.
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

// Takes reports whether s asks for the slice, of a trace with the context c.
func (s Selection) Takes(slice trie.Slice, c *trie.Context) bool {
	for _, m := range s.Where {
		if m.Key == rollup.KeyFeature && !m.takesAny(slice.Features) || m.Key != rollup.KeyFeature && !m.Takes(labelOf(slice, c, m.Key)) {
			return false
		}
	}
	return (s.Page == "" || slice.Page == s.Page) &&
		(s.Feature == "" || slices.Contains(slice.Features, s.Feature))
}

// labels returns the labels of the group that a slice of a trace goes to.
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

// appendFeatures appends the features of a group: that which is asked for, or all.
func (s Selection) appendFeatures(l trie.Labels, all iter.Seq[string]) trie.Labels {
	if s.Feature != "" {
		return append(l, trie.Label{Key: rollup.KeyFeature, Value: s.Feature})
	}
	for f := range all {
		l = append(l, trie.Label{Key: rollup.KeyFeature, Value: f})
	}
	return l
}

// Wanted says which rollups can answer s.
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

// LabelKeys returns the keys of the labels that s is about. The page is none: each rollup is
// of one.
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

// Query returns what a store is asked for: the pages and the time.
func (s Selection) Query() store.Query {
	q := store.Query{Page: s.Page, Since: s.Since, Until: s.Until}
	for _, m := range s.Where {
		if m.Key != KeyPage {
			continue
		}
		q.Pages = s.TakesPage
		if page, ok := m.only(); ok && page != "" && q.Page == "" && CheckPage(page) == nil {
			q.Page = page // which finds it faster: Grafana asks for one page by an expression
		}
	}
	return q
}

// TakesPage reports whether s asks for some time on page.
func (s Selection) TakesPage(page string) bool {
	for _, m := range s.Where {
		if m.Key == KeyPage && !m.Takes(page) {
			return false
		}
	}
	return s.Page == "" || s.Page == page
}

// OfPages reports whether s asks for whole pages, and says nothing of their time.
func (s Selection) OfPages() bool {
	return s.Feature == "" && !slices.ContainsFunc(s.Where, func(m Matcher) bool { return m.Key != KeyPage })
}

// TakesCell reports whether s asks for the time under the labels of a rollup's cell, on a
// page that it asks for.
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

// ValuesOf yields the values that labels have for a key.
func ValuesOf(l trie.Labels, key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, x := range l {
			if x.Key == key && !yield(x.Value) {
				return
			}
		}
	}
}

// CellLabels returns the labels of the group that the time of a cell goes to, as labels
// does for a slice of a trace.
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

// CheckPage refuses a page that no trace can be of; "" is all pages.
func CheckPage(page string) error {
	if len(page) > store.MaxPage {
		return Refuse("a page of %d bytes, the most is %d", len(page), store.MaxPage)
	}
	if strings.IndexByte(page, 0) >= 0 {
		return Refuse("%q holds a NUL byte", page)
	}
	return nil
}

// Before returns s with another time. Without an end it ends where s begins, if it begins
// before that.
func (s Selection) Before(since, until time.Time) Selection {
	if until.IsZero() && since.Before(s.Since) {
		until = s.Since
	}
	s.Since, s.Until = since, until
	return s
}

// Replace returns all with those whose key is that of one of by replaced by these.
func Replace(all, by []Matcher) []Matcher {
	out := slices.DeleteFunc(slices.Clone(all), func(m Matcher) bool {
		return slices.ContainsFunc(by, func(x Matcher) bool { return x.Key == m.Key })
	})
	return append(out, by...)
}

// CheckTimes refuses a time that is over before it begins, and times of which nothing can be
// stored, with which nobody needs to reckon then.
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

// KnownTime reports whether a query can be about t: one from 1970 to the year 9999, in UTC.
func KnownTime(t time.Time) bool { return t.Unix() >= 0 && t.UTC().Year() <= 9999 }

// KeyOwner groups by whose code time was in: see [owner.Owner]. It is no label of a page view.
const KeyOwner = "owner"

// WithoutOwner returns s without the key owner, and whether it had it.
func (s Selection) WithoutOwner() (Selection, bool) {
	at := slices.Index(s.GroupBy, KeyOwner)
	if at < 0 {
		return s, false
	}
	s.GroupBy = slices.Delete(slices.Clone(s.GroupBy), at, at+1)
	return s, true
}
