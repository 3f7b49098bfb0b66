package deletion

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/rules/site"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Matcher matches data against a request. It must not be used concurrently.
type Matcher struct {
	request *Request
	views   [][16]byte // empty for any
	since   int64      // µs
	until   int64
	decoder encode.BinaryDecoder
}

// Matcher returns a Matcher for r, whose selection must have passed [Selection.Check].
func (r *Request) Matcher() *Matcher {
	m := &Matcher{request: r, until: math.MaxInt64}
	for _, id := range r.Selection.Views {
		var view [16]byte
		_, _ = hex.Decode(view[:], []byte(id)) // Check has validated it
		m.views = append(m.views, view)
	}
	if t := r.Selection.Since; !t.IsZero() {
		m.since = t.UnixMicro()
	}
	if t := r.Selection.Until; !t.IsZero() {
		m.until = t.UnixMicro()
	}
	return m
}

// OfViews reports whether the request selects page views by id.
func (m *Matcher) OfViews() bool { return len(m.views) > 0 }

// AnyView reports whether has is true for a page view of the request. It returns true if the
// request does not select page views by id.
func (m *Matcher) AnyView(has func(id [16]byte) bool) bool {
	return len(m.views) == 0 || slices.ContainsFunc(m.views, has)
}

// Page reports whether the request selects traces of a page.
func (m *Matcher) Page(page string) bool {
	s := &m.request.Selection
	switch {
	case s.Page != "":
		return page == s.Page
	case s.Site != "":
		of, _ := site.Cut(page)
		return of == s.Site
	}
	return true
}

// Overlaps reports whether the selected time overlaps the time from first to last, in µs.
func (m *Matcher) Overlaps(first, last int64) bool { return last >= m.since && first < m.until }

// Covers reports whether the request selects everything on its pages that was received from first
// to last, in µs. That includes page views without a trace, and Web Vitals.
func (m *Matcher) Covers(first, last int64) bool {
	return !m.request.Selection.OfTraces() && m.since <= first && last < m.until
}

// OfVitals reports whether the request selects Web Vitals by label, and covers the time from first
// to last, in µs. Web Vitals have no id and no time of their own.
func (m *Matcher) OfVitals(first, last int64) bool {
	s := &m.request.Selection
	return len(s.Views) == 0 && len(s.Labels) > 0 && m.since <= first && last < m.until
}

// Row reports whether the request selects all of a row, or only the time on some of its other
// pages.
func (m *Matcher) Row(r *layout.Row) (all, part bool, err error) {
	if r.Received < m.since || r.Received >= m.until {
		return false, false, nil
	}
	all, part = m.Page(r.Page), slices.ContainsFunc(r.Others, m.Page)
	if !all && !part || !m.AnyView(func(id [16]byte) bool { return id == r.ID.View }) {
		return false, false, nil
	}
	if len(m.request.Selection.Labels) > 0 {
		t, err := r.Decode(&m.decoder)
		if err != nil {
			return false, false, fmt.Errorf("trace %s of %q, received %s: %w", r.ID, r.Page,
				time.UnixMicro(r.Received).UTC().Format(time.RFC3339), err)
		}
		if !m.labels(t) {
			return false, false, nil
		}
	}
	return all, part && !all, nil
}

// labels reports whether a trace has all selected labels.
func (m *Matcher) labels(t *trie.Trace) bool {
	for key, value := range m.request.Selection.Labels {
		of := t.Context.Labels.Value(key)
		switch key {
		case rollup.KeyRelease:
			of = t.Context.Release
		case rollup.KeyEnvironment:
			of = t.Context.Environment
		}
		isLabel := func(s trie.Span) bool {
			return s.Kind == trie.SpanLabel && s.Label() == trie.Label{Key: key, Value: value}
		}
		if of != value && !slices.ContainsFunc(t.Context.Spans, isLabel) {
			return false
		}
	}
	return true
}

// Vital reports whether the request selects Web Vitals with these labels. The caller has checked
// the page and the time.
func (m *Matcher) Vital(l trie.Labels) bool {
	if len(m.views) > 0 {
		return false // Web Vitals have no page view id
	}
	for key, value := range m.request.Selection.Labels {
		if l.Value(key) != value {
			return false
		}
	}
	return true
}
