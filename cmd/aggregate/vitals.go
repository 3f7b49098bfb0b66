package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/vital"
)

// printVitals prints the Web Vitals of pages.
func (c *command) printVitals(ctx context.Context) (err error) {
	src, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	vitals, err := src.Vitals(ctx, c.selection)
	if err != nil {
		return err
	}
	c.warn(vitals.Stats.Warnings)
	if len(vitals.Pages) == 0 && c.formatName != "json" {
		return fmt.Errorf("no Web Vitals%s %s: page views report them when they are hidden or end, and the daemon adds what was reported within a minute (see --list pages)", c.selection, c.period())
	}
	err = c.emit(ctx, func(w io.Writer) error {
		if c.formatName == "json" {
			return writeJSON(w, vitals)
		}
		return vital.WriteText(w, vitals.Pages)
	})
	if err != nil || c.toStdout() {
		return err
	}
	c.wrote(counted(uint64(len(vitals.Pages)), "page"))
	return nil
}

// writeVitalChanges writes the changes of Web Vitals, and of the functions in slow
// interactions, if the comparison has them.
func writeVitalChanges(w io.Writer, r *query.Comparison) error {
	if len(r.Vitals) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "STATUS\tCHANGE\t\tA\tB\tWEB VITAL, P75")
	for _, v := range r.Vitals {
		digits, unit := 0, " ms"
		if v.Unit == "score" {
			digits, unit = 3, ""
		}
		between := ""
		if v.Difference.Low != 0 || v.Difference.High != 0 {
			between = fmt.Sprintf("(%+.*f to %+.*f)", digits, v.Difference.Low, digits, v.Difference.High)
		}
		fmt.Fprintf(t, "%s\t%+.*f%s\t%s\t%.*f\t%.*f\t%s\n", v.Status, digits, v.Difference.Value, unit, between, digits, v.A.Value, digits, v.B.Value, strings.ToUpper(v.Name))
	}
	if err := t.Flush(); err != nil || r.Slow == nil {
		return err
	}
	s := r.Slow
	fmt.Fprintf(w, "\nOf 1,000 page views %.0f had a slow interaction in A, %.0f in B. JavaScript in these took %.0f ms in A, %.0f ms in B:\n\n", s.Views.A, s.Views.B, s.Time.A, s.Time.B)
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CHANGE MS\tA\tB\tSELF MS IN SLOW INTERACTIONS OF 1,000 PAGE VIEWS")
	for _, f := range s.Functions {
		fmt.Fprintf(t, "%+.0f\t%.0f\t%.0f\t%s\n", f.Time.B-f.Time.A, f.Time.A, f.Time.B, output.Printable(placeName(f.Place)))
	}
	return t.Flush()
}
