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
	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

// pointRow is a row of a table of page views: for a label value, for a time, or for both.
type pointRow struct {
	values []string
	query.Point
}

// printSeries prints page views and their JavaScript time over time, by labels, or by both.
func (c *command) printSeries(ctx context.Context) (err error) {
	src, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	sel := c.selection
	sel.GroupBy = c.groupBy
	series, err := src.Series(ctx, query.SeriesQuery{Selection: sel, Step: c.step, Limit: max(c.rows, 0)})
	if err != nil {
		return err
	}
	c.warn(series.Stats.Warnings)
	if c.formatName != "json" && len(series.Groups) == 0 {
		return c.nothingFound(ctx, src)
	}
	table := pointTable{keys: slices.Clone(c.groupBy), timed: c.step > 0}
	if by := sel.By; by != "" && !slices.Contains(table.keys, by) {
		table.keys = append(table.keys, by)
	}
	if !table.timed && len(table.keys) > 0 && sel.By == "" {
		if table.all, err = c.wholePoint(ctx, src); err != nil {
			return err
		}
	}
	for _, g := range series.Groups {
		var values []string
		for _, key := range table.keys {
			values = append(values, g.Labels[key])
		}
		for _, p := range g.Points {
			table.rows = append(table.rows, pointRow{values, p})
		}
	}
	return c.emitPoints(ctx, series, series.Spreads, table)
}

// checkSeries rejects flags that conflict with --series, and its own flags without it.
func (c *command) checkSeries(not refusing) error {
	if !c.series {
		return not("anything but --series", "step", "group-by")
	}
	return not("--series", "diff", "only", "wasm", "budgets")
}

// checkStep parses the time range of each row of a series.
func (c *command) checkStep(times selection.Selection) (err error) {
	switch c.stepText {
	case "":
		if c.series && c.by == "function" && len(c.groupBy) == 0 {
			c.step = query.DefaultStep(times.Since, times.Until, c.now)
		}
	case "all":
	default:
		if c.step, err = selection.ParseAge(c.stepText); err == nil && c.step <= 0 {
			err = errors.New("it must be positive")
		}
		if err != nil {
			return fmt.Errorf("--step: %w", err)
		}
	}
	return nil
}

// writeJSON writes a response in the format of the API.
func writeJSON(w io.Writer, response any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(response)
}

// wholePoint returns the totals of all page views of the selection.
func (c *command) wholePoint(ctx context.Context, src query.Source) (query.Point, error) {
	sel := c.selection
	sel.GroupBy, sel.Parts = nil, selection.Parts{}
	series, err := src.Series(ctx, query.SeriesQuery{Selection: sel})
	if err != nil || len(series.Groups) == 0 {
		return query.Point{}, err
	}
	return series.Groups[0].Points[0], nil
}

// emitPoints writes a response of the API as JSON or as a table.
func (c *command) emitPoints(ctx context.Context, response any, noSpread string, table pointTable) error {
	return c.emitResponse(ctx, response, func(w io.Writer, s terminal.Screen) error {
		if err := table.write(w, s); err != nil {
			return err
		}
		if noSpread != "" {
			fmt.Fprintf(w, "\nno percentiles: %s\n", output.PrintableLines(noSpread))
		}
		return nil
	})
}

// pointTable is a table of page views.
type pointTable struct {
	keys  []string // titles of the columns that identify a row
	timed bool     // rows have a time
	all   query.Point
	rows  []pointRow
}

// write writes the table, in ms per page view.
func (t *pointTable) write(w io.Writer, s terminal.Screen) error {
	out := terminal.Table{Screen: s}
	right := func(title string, drop int) {
		out.Columns = append(out.Columns, terminal.Column{Title: title, Right: true, Drop: drop})
	}
	for _, key := range t.keys {
		out.Columns = append(out.Columns, terminal.Column{Title: strings.ToUpper(key), Least: 12})
	}
	if t.timed {
		out.Columns = append(out.Columns, terminal.Column{Title: "FROM"})
	}
	right("VIEWS", 0)
	right("OF", 6)
	right("P50", 4)
	right("P75", 1)
	right("P95", 3)
	right("MEAN MS", 0)
	out.Columns = append(out.Columns, terminal.Column{Drop: 5})
	right("LONG TASKS P75", 8)
	if t.all.Views > 0 {
		right("OF VIEWS", 7)
		right("AGAINST ALL", 9)
	}
	if !t.timed {
		right(timeTitle(t.rows), 2)
	}
	for _, row := range t.rows {
		out.Row(t.cells(s, row)...)
	}
	if _, err := out.WriteTo(w); err != nil {
		return err
	}
	if !t.timed && len(t.keys) == 0 && len(t.rows) == 1 {
		return writeWhole(w, s, &t.rows[0].Point)
	}
	return nil
}

func (t *pointTable) cells(screen terminal.Screen, row pointRow) (cells []string) {
	for _, v := range row.values {
		cells = append(cells, cmp.Or(output.Printable(v), "(none)"))
	}
	if t.timed {
		cells = append(cells, row.Time.UTC().Format(time.DateTime))
	}
	cells = append(cells, fmt.Sprint(row.Views), fmt.Sprintf("%.0f", row.StandsFor()))
	if s := row.Spread; s != nil {
		cells = append(cells, terminal.Number(s.P50.Value), terminal.Number(s.P75.Value), terminal.Number(s.P95.Value),
			terminal.Number(row.Mean), bounds(screen, &s.Mean))
	} else {
		cells = append(cells, "-", "-", "-", terminal.Number(row.Mean), "")
	}
	if row.LongTasks == nil {
		cells = append(cells, "-")
	} else {
		cells = append(cells, terminal.Number(row.LongTasks.P75.Value))
	}
	if t.all.Views > 0 {
		cells = append(cells, percent(float64(row.Views)/float64(t.all.Views)), terminal.Signed(row.Mean-t.all.Mean))
	}
	if !t.timed {
		cells = append(cells, peoplesTime(row.People, 1, 1))
	}
	return cells
}

// writeWhole writes the details that accompany a table with a single row for all page views.
func writeWhole(w io.Writer, s terminal.Screen, p *query.Point) error {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if p.Spread != nil && p.LongTasks != nil {
		fmt.Fprintf(t, "P75\t%s\t%s\nP95\t%s\t%s\n", terminal.Number(p.Spread.P75.Value), bounds(s, &p.Spread.P75),
			terminal.Number(p.Spread.P95.Value), bounds(s, &p.Spread.P95))
		fmt.Fprintf(t, "long tasks, mean\t%s\t%s\n", terminal.Number(p.LongTasks.Mean.Value),
			bounds(s, &p.LongTasks.Mean))
	}
	all := max(p.Self+p.Stackless+p.Unsampled, 1)
	for _, x := range []struct {
		name string
		us   int64
	}{{"JavaScript", p.Self - p.Own}, {"profiling script", p.Own}, {"idle", p.Idle}, {"no stack, not idle",
		max(p.Stackless-p.Idle, 0)}, {"not sampled", p.Unsampled}} {
		fmt.Fprintf(t, "%s\t%s\t%s\n", x.name, terminal.Number(float64(x.us)/1000/float64(max(p.Views, 1))),
			percent(float64(x.us)/float64(all)))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if output.Lacks(p.Mean, p.Scaled, float64(p.Unsampled)/float64(all)) {
		fmt.Fprintln(w, s.Wrap("the browser dropped samples; the corrected mean is likely "+terminal.Number(p.Scaled)+
			" "+bounds(s, &query.Estimate{Low: p.ScaledLow, High: p.ScaledHigh}), 0))
	}
	if p.Spread != nil && p.Spread.Few != nil {
		fmt.Fprintln(w, s.Wrap(
			fmt.Sprintf("%d page views account for %s of the time and dominate the mean; use P50 and P75 instead",
				p.Spread.Few.Views, percent(p.Spread.Few.Share)), 0))
	}
	return nil
}

// timeTitle returns the title, with the unit, of the column with people's time.
func timeTitle(rows []pointRow) string {
	for _, row := range rows {
		if row.People != nil && row.People.PerDay {
			return "TIME/DAY"
		}
	}
	return "TIME"
}

// peoplesTime formats the share of people's time that part ms of all ms stand for.
func peoplesTime(p *query.PeoplesTime, part, all float64) string {
	if p == nil {
		return "-"
	}
	h := p.Of(part, all)
	switch {
	case h >= 1 || h == 0:
		return terminal.Number(h) + " h"
	case h*60 >= 1:
		return terminal.Number(h*60) + " min"
	}
	return fmt.Sprintf("%.3f s", h*3600)
}

// percent writes a share from 0 to 1.
func percent(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }
