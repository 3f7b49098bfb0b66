package query

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/rollup"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Selection says which part of which traces is merged.
type Selection struct {
	Page    string // "" for all pages
	Feature string // "" for all of the page
	// Labels must all hold, for the time in which they do; "" is a label that is missing.
	// The keys release and environment are those of the context, others of a label span
	// or, where there is none with the key, of the context.
	Labels trie.Labels
	// Since and Until bound the time at which the traces were received, half-open. A
	// zero time is an open end.
	Since, Until time.Time
	// Grouped keeps the weights apart by page, features and release; else all are one
	// group, in which each page view counts once, if its traces are of one page and were
	// received in one partition of the store: no more is remembered of a view.
	Grouped bool
}

// String describes s as an error message does.
func (s Selection) String() string {
	var b strings.Builder
	if s.Page != "" {
		fmt.Fprintf(&b, " for %s", s.Page)
	}
	if s.Feature != "" {
		fmt.Fprintf(&b, " with feature %s", s.Feature)
	}
	for _, l := range s.Labels {
		fmt.Fprintf(&b, " with %s=%s", l.Key, l.Value)
	}
	return b.String()
}

// matches reports whether s can ask for some time of a trace with the context c.
func (s Selection) matches(c *trie.Context) bool {
	for _, l := range s.Labels {
		names := func(x trie.Span) bool { return x.Kind == trie.SpanLabel && x.Label() == l }
		if labelOf(trie.Slice{}, c, l.Key) != l.Value && !slices.ContainsFunc(c.Spans, names) {
			return false
		}
	}
	return true
}

// labelOf returns the value of a label in a slice of a trace with the context c, or "".
func labelOf(slice trie.Slice, c *trie.Context, key string) string {
	switch key {
	case "release":
		return c.Release
	case "environment":
		return c.Environment
	}
	return cmp.Or(slice.Labels.Value(key), c.Labels.Value(key))
}

// takes reports whether s asks for the slice, of a trace with the context c.
func (s Selection) takes(slice trie.Slice, c *trie.Context) bool {
	for _, l := range s.Labels {
		if labelOf(slice, c, l.Key) != l.Value {
			return false
		}
	}
	return (s.Page == "" || slice.Page == s.Page) &&
		(s.Feature == "" || slices.Contains(slice.Features, s.Feature))
}

// labels returns the labels of the group that a slice of a trace goes to.
func (s Selection) labels(slice trie.Slice, c *trie.Context) trie.Labels {
	if !s.Grouped {
		return nil
	}
	l := trie.Labels{{Key: "page", Value: slice.Page}}
	if c.Release != "" {
		l = append(l, trie.Label{Key: "release", Value: c.Release})
	}
	if s.Feature != "" {
		l = append(l, trie.Label{Key: "feature", Value: s.Feature})
	} else {
		for _, f := range slice.Features {
			l = append(l, trie.Label{Key: "feature", Value: f})
		}
	}
	return l.Sort()
}

// wanted says which rollups can answer s.
func (s Selection) wanted() store.Wanted {
	w := store.Wanted{Level: rollup.Narrow}
	for _, l := range s.Labels {
		switch {
		case l.Key == rollup.KeyFeature: // a label of that name; features are asked for by Feature
			w.None = true
		case rollup.Narrow.Has(l.Key):
		case rollup.Wide.Has(l.Key):
			w.Level = rollup.Wide
		default:
			w.None = true
		}
	}
	return w
}

func (s Selection) query() store.Query {
	return store.Query{Page: s.Page, Since: s.Since, Until: s.Until}
}

// takesCell reports whether s asks for the time under the labels of a rollup's cell.
func (s Selection) takesCell(cell trie.Labels) bool {
	for _, l := range s.Labels {
		if cell.Value(l.Key) != l.Value {
			return false
		}
	}
	return s.Feature == "" || slices.Contains(cell, trie.Label{Key: rollup.KeyFeature, Value: s.Feature})
}

// cellLabels returns the labels of the group that the time of a cell goes to, as labels
// does for a slice of a trace.
func (s Selection) cellLabels(page string, cell trie.Labels) trie.Labels {
	if !s.Grouped {
		return nil
	}
	l := trie.Labels{{Key: "page", Value: page}}
	for _, x := range cell {
		switch {
		case x.Key == rollup.KeyRelease, x.Key == rollup.KeyFeature && s.Feature == "":
			l = append(l, x)
		}
	}
	if s.Feature != "" {
		l = append(l, trie.Label{Key: rollup.KeyFeature, Value: s.Feature})
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
	for _, l := range s.Labels {
		v.Add("label", l.Key+"="+l.Value)
	}
	setTimes(v, s.Since, s.Until)
	if s.Grouped {
		v.Set("grouped", "true")
	}
	return v
}

func setTimes(v url.Values, since, until time.Time) {
	if !since.IsZero() {
		v.Set("since", since.UTC().Format(time.RFC3339Nano))
	}
	if !until.IsZero() {
		v.Set("until", until.UTC().Format(time.RFC3339Nano))
	}
}

// parseSelection reads the query parameters of a request.
func parseSelection(v url.Values, now time.Time) (s Selection, err error) {
	s.Page, s.Feature = v.Get("page"), v.Get("feature")
	if text := v.Get("grouped"); text != "" {
		if s.Grouped, err = strconv.ParseBool(text); err != nil {
			return s, fmt.Errorf("parameter grouped: %q is neither true nor false", text)
		}
	}
	for _, text := range v["label"] {
		l, err := ParseLabel(text)
		if err != nil {
			return s, fmt.Errorf("parameter label: %w", err)
		}
		s.Labels = append(s.Labels, l)
	}
	s.Labels = s.Labels.Sort()
	s.Since, s.Until, err = parseTimes(v, now)
	return s, err
}

func parseTimes(v url.Values, now time.Time) (since, until time.Time, err error) {
	if since, err = ParseSince(v.Get("since"), now); err != nil {
		return since, until, fmt.Errorf("parameter since: %w", err)
	}
	if until, err = ParseTime(v.Get("until"), now); err != nil {
		return since, until, fmt.Errorf("parameter until: %w", err)
	}
	return since, until, checkTimes(since, until)
}

// checkTimes refuses a time that is over before it begins.
func checkTimes(since, until time.Time) error {
	if !since.IsZero() && !until.IsZero() && !since.Before(until) {
		return fmt.Errorf("since (%s) must be before until (%s)", since.Format(time.RFC3339), until.Format(time.RFC3339))
	}
	return nil
}

// ParseLabel reads KEY=VALUE. An empty value asks for the time without the label.
func ParseLabel(s string) (trie.Label, error) {
	k, v, ok := strings.Cut(s, "=")
	if !ok || k == "" {
		return trie.Label{}, fmt.Errorf("label %q is not KEY=VALUE", s)
	}
	return trie.Label{Key: k, Value: v}, nil
}
