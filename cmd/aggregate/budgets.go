package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query/budget"
	"github.com/fieldtrie/fieldtrie/query/budget/ci"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

// blownError reports the names of exceeded budgets.
type blownError struct{ names []string }

func (e blownError) Error() string {
	if len(e.names) == 1 {
		return "a budget is blown: " + e.names[0]
	}
	return fmt.Sprintf("%d budgets are blown: %s", len(e.names), strings.Join(e.names, ", "))
}

// checkBudgets rejects flags that do not go with --budgets.
func (c *command) checkBudgets(not refusing) error {
	if c.budgets == "" {
		return nil
	}
	if len(c.files) > 0 {
		return errors.New("--budgets: budgets apply to stored data, not to files")
	}
	if known := append([]string{"", "json", "table"}, ci.Formats()...); !slices.Contains(known, c.formatName) {
		return fmt.Errorf("--budgets writes a table, json, %s, not %s", strings.Join(ci.Formats(), ", "), c.formatName)
	}
	return not("--budgets", append([]string{"feature", "until", "rows", "list", "stats", "diff", "by", "wasm"},
		selectionFlags[:]...)...)
}

// readBudgets returns the budgets of the file, narrowed to the selection of the command line.
func (c *command) readBudgets() (*budget.File, error) {
	f, err := os.Open(c.budgets)
	if err != nil {
		return nil, fmt.Errorf("--budgets: %w", err)
	}
	defer func() { _ = f.Close() }()
	file, err := budget.Parse(f)
	if err != nil {
		return nil, fmt.Errorf("--budgets %s: %w", c.budgets, err)
	}
	if len(file.Budgets) == 0 {
		return nil, fmt.Errorf("--budgets %s: the file only has rules for features", c.budgets)
	}
	if c.page != "" {
		file.Budgets = slices.DeleteFunc(file.Budgets, func(b budget.Budget) bool { return !b.Covers(c.page) })
		if len(file.Budgets) == 0 {
			return nil, fmt.Errorf("--budgets %s: no budget applies to page %s", c.budgets, c.page)
		}
	}
	for i := range file.Budgets {
		b := &file.Budgets[i]
		b.Where = selection.Replace(b.Where, c.selection.Where)
		if c.sinceGiven {
			if b.Since, err = sinceOfBudgets(c.since); err != nil {
				return nil, err
			}
		}
	}
	return file, nil
}

// sinceOfBudgets rejects points in time, because the time range of a budget is a duration that
// ends now.
func sinceOfBudgets(since string) (string, error) {
	if _, err := selection.ParseAge(since); err != nil {
		return "", usageError{fmt.Errorf("--since %s: with --budgets it is a duration such as 24h or 7d", since)}
	}
	return since, nil
}

// printBudgets prints the status of budgets. It fails if one is exceeded, or otherwise if one
// cannot be evaluated.
func (c *command) printBudgets(ctx context.Context) (err error) {
	file, err := c.readBudgets()
	if err != nil {
		return err
	}
	src, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	all, err := budget.Evaluate(ctx, src, file, c.now)
	if err != nil {
		return err
	}
	rank := []budget.Verdict{budget.Blown, budget.Failed, budget.TooFew, budget.NoData, budget.OK}
	slices.SortStableFunc(all, func(a, b budget.Status) int {
		return cmp.Compare(slices.Index(rank, a.Verdict), slices.Index(rank, b.Verdict))
	})
	var warnings, blown, failed []string
	for _, s := range all {
		for _, w := range s.Warnings {
			if !slices.Contains(warnings, w) {
				warnings = append(warnings, w)
			}
		}
		switch s.Verdict {
		case budget.Blown:
			blown = append(blown, s.Name)
		case budget.Failed:
			failed = append(failed, s.Name)
		}
	}
	c.warn(warnings)
	if slices.Contains(ci.Formats(), c.formatName) {
		err = c.emit(ctx, func(w io.Writer) error {
			return ci.Write(w, c.formatName, ci.Evaluation{File: c.budgets, Version: commandline.ReadVersion().Version,
				Budgets: all})
		})
	} else {
		response := budget.Evaluation{Evaluated: c.now.UTC(), Budgets: all}
		err = c.emitResponse(ctx, response, func(w io.Writer, s terminal.Screen) error {
			return writeBudgets(w, s, all)
		})
	}
	switch {
	case err != nil:
		return err
	case len(blown) > 0:
		return blownError{blown}
	case len(failed) > 0:
		return fmt.Errorf("budgets could not be evaluated: %s", strings.Join(failed, ", "))
	}
	return nil
}

// writeBudgets writes budgets as a table, followed by notes about individual budgets.
func writeBudgets(w io.Writer, screen terminal.Screen, all []budget.Status) error {
	t := terminal.Table{Screen: screen, Columns: []terminal.Column{{Title: "BUDGET", Least: 16},
		{Title: "STATUS", Color: verdictColor},
		{Title: "VALUE", Right: true}, {Drop: 2}, {Title: "LIMIT", Right: true}, {Title: "METRIC", Least: 12, Drop: 3},
		{Title: "VIEWS", Right: true, Drop: 1}, {Title: "OWNER", Drop: 4}}}
	var notes []string
	for i := range all {
		s := &all[i]
		unit := s.Unit
		if unit == "percent" {
			unit = "%"
		}
		value, between := "", ""
		if s.Value != nil {
			value, between = terminal.Number(s.Value.Value)+" "+unit, bounds(screen, s.Value)
		}
		name := output.Printable(s.Name)
		t.Row(name, string(s.Verdict), value, between, terminal.Number(s.Limit)+" "+unit, output.Printable(s.What()),
			fmt.Sprint(s.Views), output.Printable(s.Owner))
		note := s.Text
		if s.Verdict == budget.Blown && !s.Sure && note == "" {
			note = "the limit lies within the confidence interval, or there is no interval: this may be chance"
		}
		if note != "" {
			notes = append(notes, screen.Wrap(name+": "+output.Printable(note), 2)+"\n")
		}
	}
	if _, err := t.WriteTo(w); err != nil || len(notes) == 0 {
		return err
	}
	_, err := io.WriteString(w, "\n"+strings.Join(notes, ""))
	return err
}

func verdictColor(verdict string) terminal.Color {
	switch budget.Verdict(verdict) {
	case budget.Blown, budget.Failed:
		return terminal.Red
	case budget.OK:
		return terminal.Green
	}
	return terminal.Plain
}
