package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/trie"
)

// printReport prints the distributions of page views.
func (c *command) printReport(ctx context.Context) (err error) {
	src, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	report, err := src.Report(ctx, c.selection)
	if err != nil {
		return err
	}
	c.warn(report.Stats.Warnings)
	c.tellNames(report.Stats.Names)
	if len(report.Pages) == 0 && c.formatName != "json" {
		return c.nothingFound(ctx, src)
	}
	err = c.emitResponse(ctx, report, func(w io.Writer, s terminal.Screen) error {
		for i := range report.Pages {
			if i > 0 {
				fmt.Fprintln(w)
			}
			if err := c.writePage(w, s, &report.Pages[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || c.toStdout() {
		return err
	}
	c.wrote(counted(uint64(len(report.Pages)), "page"))
	return nil
}

// writePage writes the report of one page as a table.
func (c *command) writePage(w io.Writer, screen terminal.Screen, p *query.PageReport) error {
	fmt.Fprintln(w, screen.Wrap(fmt.Sprintf("%s: %d page views profiled, representing %.0f (%.0f to %.0f)",
		output.Printable(p.Page), p.Views, p.Population.Value, p.Population.Low, p.Population.High), 0))
	if len(p.Coverage) > 0 {
		var parts []string
		for _, reason := range reasonsOf(p.Coverage) {
			parts = append(parts, fmt.Sprintf("%s %d", reason, p.Coverage[reason]))
		}
		fmt.Fprintln(w, screen.Wrap("not profiled: "+output.Printable(strings.Join(parts, ", ")), 0))
	}
	if p.Folded > 0 {
		fmt.Fprintf(w, "%d page views exceeded the label limit and are counted as (other)\n", p.Folded)
	}
	fmt.Fprintln(w)
	t := terminal.Table{Screen: screen, Columns: []terminal.Column{{Title: "MS PER PAGE VIEW", Least: 16},
		{Title: "VIEWS", Right: true}, {Title: "MEAN", Right: true}, {Drop: 1},
		{Title: "P50", Right: true}, {Title: "P75", Right: true}, {Drop: 2}, {Title: "P95", Right: true}, {Drop: 3}}}
	row := func(name string, views int64, s query.Spread) {
		t.Row(output.Printable(name), fmt.Sprint(views), terminal.Number(s.Mean.Value), bounds(screen, &s.Mean),
			terminal.Number(s.P50.Value), terminal.Number(s.P75.Value), bounds(screen, &s.P75),
			terminal.Number(s.P95.Value), bounds(screen, &s.P95))
	}
	row("JavaScript", p.Views, p.Time)
	row("long tasks", p.Views, p.LongTasks)
	for _, x := range p.Phases {
		row("phase "+x.Name, x.Views, x.Time)
	}
	for _, x := range p.Features {
		row("feature "+x.Name, x.Views, x.Time)
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	if p.Own > 0 {
		fmt.Fprintf(w, "profiling took %s ms per page view (not included above)\n", terminal.Number(p.Own))
	}
	if output.Lacks(p.Time.Mean.Value, p.Scaled, p.Unsampled) {
		fmt.Fprintln(w, screen.Wrap(
			fmt.Sprintf("the browser dropped %.1f %% of the samples; the corrected mean is likely %s %s",
				100*p.Unsampled, terminal.Number(p.Scaled), bounds(screen, &query.Estimate{Low: p.ScaledLow,
					High: p.ScaledHigh})), 0))
	}
	if f := p.Time.Few; f != nil {
		fmt.Fprintln(w, screen.Wrap(
			fmt.Sprintf("%d page views account for %.0f %% of the time and dominate the mean; use P50 and P75 instead",
				f.Views, 100*f.Share), 0))
	}
	fmt.Fprintln(w)
	if len(p.Functions) == 0 {
		_, err := fmt.Fprintln(w, "functions are only available for a whole page or one of its releases")
		return err
	}
	return c.writeFunctions(w, screen, p)
}

func (c *command) writeFunctions(w io.Writer, s terminal.Screen, p *query.PageReport) error {
	t := terminal.Table{Screen: s, Columns: []terminal.Column{{Title: "FUNCTION", Least: 24}, {Title: "SELF MS",
		Right: true}, {Drop: 3}, {Title: "TOTAL MS", Right: true, Drop: 1},
		{Title: "P75 WHERE SEEN", Right: true, Drop: 4}, {Title: "REACH", Right: true, Drop: 2}}}
	shown := p.Functions
	if c.rows > 0 && len(shown) > c.rows {
		shown = shown[:c.rows]
	}
	for _, f := range shown {
		t.Row(output.Printable(output.Location(trie.Frame{Name: f.Name, Resource: f.Resource, Line: f.Line,
			Column: f.Column})), terminal.Number(f.Self.Mean.Value), bounds(s, &f.Self.Mean),
			terminal.Number(f.Total.Mean.Value),
			terminal.Number(f.Self.P75.Value), fmt.Sprintf("%.1f %%", 100*float64(f.Reach)/float64(max(p.Views, 1))))
	}
	if more := int64(len(p.Functions)-len(shown)) + p.Others.Count; more > 0 {
		rest := p.Others.Self
		for _, f := range p.Functions[len(shown):] {
			rest += f.Self.Mean.Value * float64(p.Views)
		}
		t.Row(fmt.Sprintf("%d more", more), terminal.Number(rest/float64(max(p.Views, 1))), "", "", "", "")
	}
	_, err := t.WriteTo(w)
	return err
}
