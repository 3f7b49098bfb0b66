package query

import (
	"cmp"
	"fmt"
	"iter"
	"net/url"
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
	// Lag is how much of what came in last may be missing from an answer of a [Local]: under
	// load, to sum it up again for everybody who asks is expensive. 0: nothing.
	Lag time.Duration
	// Minified has functions named as browsers said them, and not by the symbols that were
	// uploaded.
	Minified bool
	Parts
}

// The keys of labels that are not those of a label span.
const (
	keyPage        = "page"
	keyFeature     = rollup.KeyFeature
	keyRelease     = rollup.KeyRelease
	keyEnvironment = rollup.KeyEnvironment
)

// AllGroups returns the keys that formats with labels are grouped by.
func AllGroups() []string { return []string{keyPage, keyRelease, keyFeature} }

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

// matches reports whether s can ask for some time of a trace with the context c.
func (s Selection) matches(c *trie.Context) bool {
	for _, m := range s.Where {
		if m.Key == keyPage || m.Key == keyFeature {
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
	case keyPage:
		return slice.Page
	case keyRelease:
		return c.Release
	case keyEnvironment:
		return c.Environment
	}
	return cmp.Or(slice.Labels.Value(key), c.Labels.Value(key))
}

// takes reports whether s asks for the slice, of a trace with the context c.
func (s Selection) takes(slice trie.Slice, c *trie.Context) bool {
	for _, m := range s.Where {
		if m.Key == keyFeature && !m.takesAny(slice.Features) || m.Key != keyFeature && !m.Takes(labelOf(slice, c, m.Key)) {
			return false
		}
	}
	return (s.Page == "" || slice.Page == s.Page) &&
		(s.Feature == "" || slices.Contains(slice.Features, s.Feature))
}

// labels returns the labels of the group that a slice of a trace goes to.
func (s Selection) labels(slice trie.Slice, c *trie.Context) (l trie.Labels) {
	for _, key := range s.GroupBy {
		if key == keyFeature {
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
		return append(l, trie.Label{Key: keyFeature, Value: s.Feature})
	}
	for f := range all {
		l = append(l, trie.Label{Key: keyFeature, Value: f})
	}
	return l
}

// wanted says which rollups can answer s.
func (s Selection) wanted() store.Wanted {
	w := store.Wanted{Level: rollup.Narrow}
	for _, key := range s.labelKeys() {
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

// labelKeys returns the keys of the labels that s is about. The page is none: each rollup is
// of one.
func (s Selection) labelKeys() (keys []string) {
	add := func(key string) {
		if key != keyPage {
			keys = append(keys, key)
		}
	}
	if s.Feature != "" {
		add(keyFeature)
	}
	for _, m := range s.Where {
		add(m.Key)
	}
	for _, key := range s.GroupBy {
		add(key)
	}
	return keys
}

func (s Selection) query() store.Query {
	q := store.Query{Page: s.Page, Since: s.Since, Until: s.Until}
	for _, m := range s.Where {
		if m.Key != keyPage {
			continue
		}
		q.Pages = s.takesPage
		if page, ok := m.only(); ok && page != "" && q.Page == "" && CheckPage(page) == nil {
			q.Page = page // which finds it faster: Grafana asks for one page by an expression
		}
	}
	return q
}

// takesPage reports whether s asks for some time on page.
func (s Selection) takesPage(page string) bool {
	for _, m := range s.Where {
		if m.Key == keyPage && !m.Takes(page) {
			return false
		}
	}
	return s.Page == "" || s.Page == page
}

// ofPages reports whether s asks for whole pages, and says nothing of their time.
func (s Selection) ofPages() bool {
	return s.Feature == "" && !slices.ContainsFunc(s.Where, func(m Matcher) bool { return m.Key != keyPage })
}

// takesCell reports whether s asks for the time under the labels of a rollup's cell, on a
// page that it asks for.
func (s Selection) takesCell(cell trie.Labels) bool {
	for _, m := range s.Where {
		switch m.Key {
		case keyPage:
		case keyFeature:
			if !m.takesAny(slices.Collect(valuesOf(cell, keyFeature))) {
				return false
			}
		default:
			if !m.Takes(cell.Value(m.Key)) {
				return false
			}
		}
	}
	return s.Feature == "" || slices.Contains(cell, trie.Label{Key: keyFeature, Value: s.Feature})
}

// valuesOf yields the values that labels have for a key.
func valuesOf(l trie.Labels, key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, x := range l {
			if x.Key == key && !yield(x.Value) {
				return
			}
		}
	}
}

// cellLabels returns the labels of the group that the time of a cell goes to, as labels
// does for a slice of a trace.
func (s Selection) cellLabels(page string, cell trie.Labels) (l trie.Labels) {
	for _, key := range s.GroupBy {
		switch key {
		case keyPage:
			l = append(l, trie.Label{Key: keyPage, Value: page})
		case keyFeature:
			l = s.appendFeatures(l, valuesOf(cell, keyFeature))
		default:
			if v := cell.Value(key); v != "" {
				l = append(l, trie.Label{Key: key, Value: v})
			}
		}
	}
	return l.Sort()
}

// values returns s as the query parameters that parseSelection reads.
func (s Selection) values() url.Values {
	v := url.Values{}
	set := func(k, x string) {
		if x != "" {
			v.Set(k, x)
		}
	}
	set("page", s.Page)
	set("feature", s.Feature)
	for _, m := range s.Where {
		v.Add("label", m.String())
	}
	setTimes(v, "", s.Since, s.Until)
	set("group_by", strings.Join(s.GroupBy, ","))
	if s.Minified {
		v.Set("names", namesMinified)
	}
	set("by", s.By)
	set("only", s.Only)
	return v
}

// setTimes sets the parameters since and until, with a prefix.
func setTimes(v url.Values, prefix string, since, until time.Time) {
	if !since.IsZero() {
		v.Set(prefix+"since", since.UTC().Format(time.RFC3339Nano))
	}
	if !until.IsZero() {
		v.Set(prefix+"until", until.UTC().Format(time.RFC3339Nano))
	}
}

// parseSelection reads the query parameters of a request.
func parseSelection(v url.Values, now time.Time) (s Selection, err error) {
	s.Page, s.Feature = v.Get("page"), v.Get("feature")
	if err := CheckPage(s.Page); err != nil {
		return s, fmt.Errorf("parameter page: %w", err)
	}
	if s.Where, err = parseWhere(v, ""); err != nil {
		return s, err
	}
	if s.GroupBy, err = ParseGroupBy(v.Get("group_by")); err != nil {
		return s, fmt.Errorf("parameter group_by: %w", err)
	}
	switch names := v.Get("names"); names {
	case "", namesReadable:
	case namesMinified:
		s.Minified = true
	default:
		return s, fmt.Errorf("parameter names: %q is neither %s nor %s", names, namesReadable, namesMinified)
	}
	s.Parts = Parts{By: v.Get("by"), Only: v.Get("only")}
	if err := s.Parts.check(); err != nil {
		return s, fmt.Errorf("parameter %w", err)
	}
	s.Since, s.Until, err = parseTimes(v, "", now)
	return s, err
}

// What the parameter names may be.
const (
	namesReadable = "readable" // by the symbols that were uploaded
	namesMinified = "minified" // as browsers said them
)

// CheckPage refuses a page that no trace can be of; "" is all pages.
func CheckPage(page string) error {
	if len(page) > store.MaxPage {
		return refuse("a page of %d bytes, the most is %d", len(page), store.MaxPage)
	}
	if strings.IndexByte(page, 0) >= 0 {
		return refuse("%q holds a NUL byte", page)
	}
	return nil
}

// compareSelection reads the parameters of a selection that another is compared with, which
// begin with compare_. Those that are not there are as in the other. If there is a label,
// or a release, it stands instead of those with its key.
func compareSelection(s Selection, v url.Values, now time.Time) (Selection, error) {
	if v.Has("compare_page") {
		s.Page = v.Get("compare_page")
		if err := CheckPage(s.Page); err != nil {
			return s, fmt.Errorf("parameter compare_page: %w", err)
		}
	}
	if v.Has("compare_feature") {
		s.Feature = v.Get("compare_feature")
	}
	where, err := parseWhere(v, "compare_")
	if err != nil {
		return s, err
	}
	s.Where = Replace(s.Where, where)
	if v.Has("compare_since") || v.Has("compare_until") {
		since, until, err := parseTimes(v, "compare_", now)
		if err != nil {
			return s, err
		}
		s = s.Before(since, until)
	}
	return s, nil
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

// parseWhere reads the parameters release and label, with a prefix.
func parseWhere(v url.Values, prefix string) (where []Matcher, err error) {
	if release := v.Get(prefix + "release"); release != "" {
		where = append(where, Matcher{Key: keyRelease, Op: Equal, Value: release})
	}
	for _, text := range v[prefix+"label"] {
		m, err := ParseMatcher(text)
		if err != nil {
			return nil, fmt.Errorf("parameter %slabel: %w", prefix, err)
		}
		where = append(where, m)
	}
	if len(where) > maxMatchers {
		return nil, fmt.Errorf("parameter %slabel: %d conditions, the most is %d", prefix, len(where), maxMatchers)
	}
	return where, nil
}

// maxMatchers bounds the conditions of a request.
const maxMatchers = 20

// ParseGroupBy reads keys of labels, separated by commas.
func ParseGroupBy(s string) (keys []string, err error) {
	if s == "" {
		return nil, nil
	}
	for key := range strings.SplitSeq(s, ",") {
		if key = strings.TrimSpace(key); key == "" || slices.Contains(keys, key) {
			return nil, fmt.Errorf("%q: name each label once, as in release,device", s)
		}
		keys = append(keys, key)
	}
	if len(keys) > maxMatchers {
		return nil, fmt.Errorf("%d labels, the most is %d", len(keys), maxMatchers)
	}
	return keys, nil
}

// parseTimes reads the parameters since and until, with a prefix.
func parseTimes(v url.Values, prefix string, now time.Time) (since, until time.Time, err error) {
	if since, err = ParseSince(v.Get(prefix+"since"), now); err != nil {
		return since, until, fmt.Errorf("parameter %ssince: %w", prefix, err)
	}
	if until, err = ParseTime(v.Get(prefix+"until"), now); err != nil {
		return since, until, fmt.Errorf("parameter %suntil: %w", prefix, err)
	}
	return since, until, checkTimes(since, until)
}

// checkTimes refuses a time that is over before it begins, and times of which nothing can be
// stored, with which nobody needs to reckon then.
func checkTimes(since, until time.Time) error {
	for _, t := range [...]time.Time{since, until} {
		if !t.IsZero() && !KnownTime(t) {
			return refuse("%s is not from 1970 to 9999", t.UTC().Format(time.RFC3339))
		}
	}
	if !since.IsZero() && !until.IsZero() && !since.Before(until) {
		return refuse("since (%s) must be before until (%s)", since.Format(time.RFC3339), until.Format(time.RFC3339))
	}
	return nil
}

// KnownTime reports whether a question can be about t: one from 1970 to the year 9999, in UTC.
func KnownTime(t time.Time) bool { return t.Unix() >= 0 && t.UTC().Year() <= 9999 }
