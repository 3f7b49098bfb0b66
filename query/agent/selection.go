package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/spelling"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

// Selection is the selection of most tools.
type Selection struct {
	Page    string   `json:"page,omitempty" jsonschema:"a page from the tool pages, such as /feed; without it all pages together"`
	Feature string   `json:"feature,omitempty" jsonschema:"only time of this feature"`
	Release string   `json:"release,omitempty" jsonschema:"only this release"`
	Labels  []string `json:"labels,omitempty" jsonschema:"conditions such as device=mobile-low or phase=load; also KEY!=VALUE, KEY=~EXPRESSION and KEY!~EXPRESSION; all must hold"`
	Since   string   `json:"since,omitempty" jsonschema:"start of the time range: an age such as 24h or 7d, a date, or RFC 3339; 24h by default"`
	Until   string   `json:"until,omitempty" jsonschema:"end of the time range, in the same forms; now by default"`
}

const defaultSince = "24h"

// selection returns the selection of a call. Errors describe valid values.
func (t tools) selection(s Selection) (sel selection.Selection, err error) {
	now := t.Now()
	sel.Page, sel.Feature, sel.Lag = s.Page, s.Feature, t.Lag
	if err := selection.CheckPage(s.Page); err != nil {
		return sel, fmt.Errorf("page: %w", err)
	}
	if s.Release != "" {
		sel.Where = append(sel.Where, selection.Matcher{Key: "release", Op: selection.Equal, Value: s.Release})
	}
	if len(s.Labels) > mostLabels {
		return sel, fmt.Errorf("labels: %d conditions; the most are %d", len(s.Labels), mostLabels)
	}
	for _, text := range s.Labels {
		m, err := selection.ParseMatcher(text)
		if err != nil {
			return sel, fmt.Errorf("labels: %w", err)
		}
		sel.Where = append(sel.Where, m)
	}
	if sel.Since, err = selection.ParseSince(cmp.Or(s.Since, defaultSince), now); err != nil {
		return sel, fmt.Errorf("since: %w", err)
	}
	if s.Until != "" {
		if sel.Until, err = selection.ParseTime(s.Until, now); err != nil {
			return sel, fmt.Errorf("until: %w", err)
		}
	}
	return sel, nil
}

const (
	mostLabels = 10
	mostRows   = 200
)

// rows returns the number of rows to return.
func rows(limit, usual int) (int, error) {
	switch {
	case limit == 0:
		return usual, nil
	case limit < 0 || limit > mostRows:
		return 0, fmt.Errorf("limit: %d is not from 1 to %d", limit, mostRows)
	}
	return limit, nil
}

// nothing returns an error for an empty result, with the pages that have data.
func (t tools) nothing(ctx context.Context, sel selection.Selection) error {
	what := fmt.Sprintf("no page views%s since %s", name(sel.String()), sel.Since.UTC().Format("2006-01-02 15:04 MST"))
	catalog, err := t.Source.Catalog(ctx, sel.Since, sel.Until, sel.Lag)
	if err != nil {
		return fmt.Errorf("%s; and the available data cannot be listed: %w", what, err)
	}
	var pages []string
	all := catalog.Pages()
	if sel.Page != "" {
		spelling.Sort(all, sel.Page, func(e query.Entry) string { return e.Page })
	}
	for _, e := range all {
		if len(pages) == 10 {
			break
		}
		pages = append(pages, name(e.Page))
	}
	switch {
	case len(pages) == 0:
		return fmt.Errorf("%s: no page views at all; select more time with since, such as 30d", what)
	case sel.Page == "" || slices.Contains(pages, name(sel.Page)):
		return fmt.Errorf("%s: leave out feature, release or labels, or select more time with since", what)
	}
	return fmt.Errorf("%s; pages with page views are %s", what, strings.Join(pages, ", "))
}

// maxName bounds a name in a result, in bytes.
const maxName = 200

// maxSentence bounds a sentence with names in it.
const maxSentence = 3 * maxName

// name makes a name from a browser printable: on one line and of bounded length.
func name(s string) string { return printable(s, maxName) }

// sentence makes one of our sentences printable, because names may be part of it.
func sentence(s string) string { return printable(s, maxSentence) }

func printable(s string, most int) string {
	s = output.Printable(s)
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// function formats a function with its place.
func function(fn, resource string, line, column uint32) string {
	fn = name(cmp.Or(fn, "(anonymous)"))
	switch {
	case resource == "":
		return fn
	case line == 0:
		return fn + " " + name(resource)
	}
	return fmt.Sprintf("%s %s:%d:%d", fn, name(resource), line, column)
}
