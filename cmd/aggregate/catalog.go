package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/spelling"
	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

func (c *command) printList(ctx context.Context) (err error) {
	src, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	key, coverage := strings.TrimSuffix(c.list, "s"), c.list == listCoverage
	if coverage {
		key = selection.KeyPage
	}
	sel := c.selection
	sel.GroupBy = []string{key}
	series, err := src.Series(ctx, query.SeriesQuery{Selection: sel, Coverage: coverage})
	if err != nil {
		return err
	}
	list := query.ListOf(key, series, 0, coverage)
	c.warn(list.Stats.Warnings)
	if c.formatName == "json" {
		return c.emit(ctx, func(w io.Writer) error { return writeJSON(w, list) })
	}
	if len(list.Values) == 0 {
		return fmt.Errorf("no %s%s %s", c.list, c.selection, c.period())
	}
	if coverage {
		return c.emitTable(ctx, func(w io.Writer, s terminal.Screen) error { return writeCoverage(w, s, list) })
	}
	table := pointTable{keys: []string{key}}
	if table.all, err = c.wholePoint(ctx, src); err != nil {
		return err
	}
	for _, x := range list.Values {
		table.rows = append(table.rows, pointRow{[]string{x.Value}, x.Point})
	}
	return c.emitPoints(ctx, list, list.Spreads, table)
}

// reasonsOf returns why page views have no profile, the most frequent reason first.
func reasonsOf(missing map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(missing), func(a, b string) int {
		return cmp.Or(cmp.Compare(missing[b], missing[a]), cmp.Compare(a, b))
	})
}

// writeCoverage writes how many page views of each page were profiled, and why others were not.
func writeCoverage(w io.Writer, s terminal.Screen, list query.List) error {
	reasons := reasonsOf(list.All.Missing)
	t := terminal.Table{Screen: s, Columns: []terminal.Column{{Title: "PAGE", Least: 20}, {Title: "PROFILED",
		Right: true}, {Title: "OF", Right: true}, {Title: "%", Right: true}}}
	for i, reason := range reasons {
		t.Columns = append(t.Columns, terminal.Column{Title: strings.ToUpper(output.Printable(reason)), Right: true,
			Drop: i + 1})
	}
	row := func(views int64, of float64, missing map[string]int64, page string) {
		cells := []string{output.Printable(page), fmt.Sprint(views), fmt.Sprintf("%.0f", of),
			terminal.Number(100 * float64(views) / max(of, 1))}
		for _, reason := range reasons {
			cells = append(cells, fmt.Sprint(missing[reason]))
		}
		t.Row(cells...)
	}
	for _, x := range list.Values {
		row(x.Views, x.All(), x.Coverage, x.Value)
	}
	row(list.All.Views, list.All.Population, list.All.Missing, "all")
	_, err := t.WriteTo(w)
	return err
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
		return fmt.Errorf("%s; list the stored pages: %w", what, err)
	}
	pages := catalog.Pages()
	if len(pages) == 0 {
		if all, err := src.Catalog(ctx, time.Time{}, time.Time{}, 0); err == nil && len(all.Pages()) > 0 {
			last := slices.MaxFunc(all.Pages(), func(a, b query.Entry) int { return a.Last.Compare(b.Last) })
			return fmt.Errorf("%s; the last trace was received %s, so try an earlier --since", what,
				last.Last.UTC().Format(time.RFC3339))
		}
		return fmt.Errorf("%s; %s has no traces at all", what, cmp.Or(c.daemon.Addr, c.data))
	}
	for _, e := range pages {
		if e.Page == c.page && c.selection.Feature == "" && len(c.selection.Where) == 0 {
			return fmt.Errorf(
				"%s that cover a complete page view; %s has %d traces of page views whose profiling stopped early "+
					"(see --label stopped=cost)", what, e.Page, e.Traces)
		}
		if e.Page == c.page {
			return fmt.Errorf("%s; %s has %d traces without these conditions (see --list features, --list releases)",
				what, e.Page, e.Traces)
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
