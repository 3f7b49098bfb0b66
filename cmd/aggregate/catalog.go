package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/spelling"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

// printCatalog prints the list of --list.
func (c *command) printCatalog(ctx context.Context) (err error) {
	src, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	catalog, err := src.Catalog(ctx, c.selection.Since, c.selection.Until, 0)
	if err != nil {
		return err
	}
	c.warn(catalog.Warnings)
	kind := strings.TrimSuffix(c.list, "s")
	entries := catalog.Pages()
	if kind != "page" {
		entries = slices.DeleteFunc(catalog.Entries, func(e query.Entry) bool { return e.Kind != kind })
	}
	entries = slices.DeleteFunc(entries, func(e query.Entry) bool { return c.page != "" && e.Page != c.page })
	if c.formatName != "json" && len(entries) == 0 {
		return fmt.Errorf("no %s%s %s", c.list, selection.Selection{Page: c.page}, c.period())
	}
	print := func(w io.Writer) error { return c.writeTable(w, entries) }
	if c.formatName == "json" {
		print = func(w io.Writer) error {
			if entries == nil {
				entries = []query.Entry{}
			}
			return json.NewEncoder(w).Encode(entries)
		}
	}
	return c.emit(ctx, print)
}

func (c *command) writeTable(w io.Writer, entries []query.Entry) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	name := strings.ToUpper(strings.TrimSuffix(c.list, "s"))
	if c.list == "pages" {
		fmt.Fprintln(t, "TRACES\tLAST RECEIVED\tPAGE")
	} else {
		fmt.Fprintf(t, "TRACES\tLAST RECEIVED\tPAGE\t%s\n", name)
	}
	for _, e := range entries {
		fmt.Fprintf(t, "%d\t%s\t%s", e.Traces, e.Last.UTC().Format(time.DateTime), output.Printable(e.Page))
		if c.list != "pages" {
			fmt.Fprintf(t, "\t%s", output.Printable(e.Name))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// period describes the selected time range.
func (c *command) period() string {
	since := "ever"
	if c.since != "" {
		since = "since " + c.since
		if _, err := selection.ParseAge(c.since); err == nil {
			since = "in the last " + c.since
		}
	}
	if c.until != "" {
		since += ", before " + c.until
	}
	return since
}

// shownPages is how many pages the error names.
const shownPages = 5

// nothingFound returns an error that names the selection and the available data.
func (c *command) nothingFound(ctx context.Context, src query.Source) error {
	what := fmt.Sprintf("no traces%s %s", c.selection, c.period())
	catalog, err := src.Catalog(ctx, c.selection.Since, c.selection.Until, 0)
	if err != nil {
		return fmt.Errorf("%s; reading what there is: %w", what, err)
	}
	pages := catalog.Pages()
	if len(pages) == 0 {
		if all, err := src.Catalog(ctx, time.Time{}, time.Time{}, 0); err == nil && len(all.Pages()) > 0 {
			last := slices.MaxFunc(all.Pages(), func(a, b query.Entry) int { return a.Last.Compare(b.Last) })
			return fmt.Errorf("%s; the last trace was received %s, so try an earlier --since", what, last.Last.UTC().Format(time.RFC3339))
		}
		return fmt.Errorf("%s; %s has no traces at all", what, cmp.Or(c.addr, c.data))
	}
	for _, e := range pages {
		if e.Page == c.page && c.selection.Feature == "" && len(c.selection.Where) == 0 {
			return fmt.Errorf("%s that say how a whole page view was; %s has %d of page views that were not profiled to their end (see --label stopped=cost)", what, e.Page, e.Traces)
		}
		if e.Page == c.page {
			return fmt.Errorf("%s; %s has %d traces without these conditions (see --list features, --list releases)", what, e.Page, e.Traces)
		}
	}
	if c.page != "" {
		spelling.Sort(pages, c.page, func(e query.Entry) string { return e.Page })
	}
	var names []string
	for _, e := range pages[:min(shownPages, len(pages))] {
		names = append(names, fmt.Sprintf("%s (%d)", e.Page, e.Traces))
	}
	if more := len(pages) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more (see --list pages)", more))
	}
	return fmt.Errorf("%s; pages with data: %s", what, strings.Join(names, ", "))
}
