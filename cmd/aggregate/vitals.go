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
func writeVitalChanges(w io.Writer, s terminal.Screen, r *query.Comparison) error {
	if len(r.Vitals) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t := terminal.Table{Screen: s, Columns: []terminal.Column{{Title: "WEB VITAL, P75"}, {Title: "STATUS", Color: changeColor},
		{Title: "CHANGE", Right: true}, {Title: "", Drop: 1}, {Title: "A", Right: true}, {Title: "B", Right: true}}}
	for _, v := range r.Vitals {
		name := strings.ToUpper(v.Name)
		if v.Unit == "ms" {
			name += ", ms"
		}
		var low, high *float64
		if d := &v.Difference; d.Low != 0 || d.High != 0 {
			low, high = &d.Low, &d.High
		}
		t.Row(name, string(v.Status), terminal.Signed(v.Difference.Value), interval(s, low, high), terminal.Number(v.A.Value), terminal.Number(v.B.Value))
	}
	if _, err := t.WriteTo(w); err != nil || r.Slow == nil {
		return err
	}
	slow := r.Slow
	fmt.Fprintf(w, "\nSlow interactions: %.0f in 1,000 page views of A, %.0f of B. Their JavaScript, ms in 1,000 page views:\n\n", slow.Views.A, slow.Views.B)
	t = terminal.Table{Screen: s, Columns: []terminal.Column{{Title: "SELF MS", Least: 20}, {Title: "CHANGE", Right: true}, {Title: "A", Right: true}, {Title: "B", Right: true}}}
	t.Row("JavaScript", terminal.Signed(slow.Time.B-slow.Time.A), terminal.Number(slow.Time.A), terminal.Number(slow.Time.B))
	for _, f := range slow.Functions {
		t.Row(output.Printable(placeName(f.Place)), terminal.Signed(f.Time.B-f.Time.A), terminal.Number(f.Time.A), terminal.Number(f.Time.B))
	}
	_, err := t.WriteTo(w)
	return err
}
