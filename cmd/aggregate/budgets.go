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
	"text/tabwriter"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
	"github.com/fieldtrie/fieldtrie/query/budget"
	"github.com/fieldtrie/fieldtrie/query/budget/ci"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

// blownError says that budgets are exceeded.
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
		return errors.New("--budgets: budgets are of what is stored, and not of files")
	}
	if known := append([]string{"", "json", "table"}, ci.Formats()...); !slices.Contains(known, c.formatName) {
		return fmt.Errorf("--budgets writes a table, json, %s, not %s", strings.Join(ci.Formats(), ", "), c.formatName)
	}
	return not("--budgets", append([]string{"feature", "until", "rows", "list", "stats", "diff", "by", "wasm"}, selectionFlags[:]...)...)
}

// readBudgets returns the budgets of the file, with the selection of the command line.
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
		return nil, fmt.Errorf("--budgets %s: there are rules for features alone", c.budgets)
	}
	if c.page != "" {
		file.Budgets = slices.DeleteFunc(file.Budgets, func(b budget.Budget) bool { return !b.Covers(c.page) })
		if len(file.Budgets) == 0 {
			return nil, fmt.Errorf("--budgets %s: none is about page %s", c.budgets, c.page)
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

// sinceOfBudgets rejects points in time: the time range of a budget has a length and ends
// now.
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
	err = c.emit(ctx, func(w io.Writer) error {
		switch {
		case slices.Contains(ci.Formats(), c.formatName):
			return ci.Write(w, c.formatName, ci.Evaluation{File: c.budgets, Version: commandline.ReadVersion().Version, Budgets: all})
		case c.formatName == "json":
			return writeJSON(w, budget.Evaluation{Evaluated: c.now.UTC(), Budgets: all})
		}
		return writeBudgets(w, all)
	})
	switch {
	case err != nil:
		return err
	case len(blown) > 0:
		return blownError{blown}
	case len(failed) > 0:
		return fmt.Errorf("budgets that can not be answered: %s", strings.Join(failed, ", "))
	}
	return nil
}

func writeBudgets(w io.Writer, all []budget.Status) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "STATUS\tBUDGET\tOWNER\tMETRIC\tVALUE\t\tLIMIT\tVIEWS\tNOTE")
	for _, s := range all {
		unit := s.Unit
		if unit == "percent" {
			unit = "%"
		}
		value, between := "", ""
		if s.Value != nil {
			value, between = fmt.Sprintf("%.2f %s", s.Value.Value, unit), s.Value.Bounds(2)
		}
		note := s.Text
		if s.Verdict == budget.Blown && !s.Sure && note == "" {
			note = "the limit is within the interval, or there is none: it may be chance"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%.4g %s\t%d\t%s\n", s.Verdict, output.Printable(s.Name), output.Printable(s.Owner),
			output.Printable(s.What()), value, between, s.Limit, unit, s.Views, output.Printable(note))
	}
	return t.Flush()
}
