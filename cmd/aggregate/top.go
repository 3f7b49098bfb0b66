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
	"github.com/fieldtrie/fieldtrie/trie"
)

// printsTop reports whether the functions of a store are printed, as of a page view.
func (c *command) printsTop() bool {
	return c.format.Name == "top" && len(c.files) == 0 && !c.comparing.given && c.callers == "" && c.callees == "" && c.perView()
}

// perView reports whether tables for people have times of a page view: recordings in files are none.
func (c *command) perView() bool { return len(c.files) == 0 && c.diff == "" && !c.total }

// printTop prints the functions with the most time of a page view.
func (c *command) printTop(ctx context.Context) (err error) {
	src, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	top, err := c.top(ctx, src)
	if err != nil {
		return err
	}
	c.warn(top.Stats.Warnings)
	c.tellNames(top.Stats.Names)
	if top.Traces == 0 && top.Self == 0 {
		return c.nothingFound(ctx, src)
	}
	whole, err := c.wholePoint(ctx, src)
	if err != nil { // which other labels than those of rollups have not
		whole = query.Point{}
	}
	err = c.emit(ctx, func(w io.Writer) error { return writeTop(w, &top, whole.People) })
	if err != nil || c.toStdout() {
		return err
	}
	c.wrote(counted(uint64(len(top.Functions)), "function") + " of " + counted(uint64(top.Views), "page view"))
	return nil
}

// top asks for the functions; where the modules of the command line name them, of a profile.
func (c *command) top(ctx context.Context, src query.Source) (query.Top, error) {
	q := query.TopQuery{Selection: c.selection, Limit: max(c.rows, 0)}
	if c.pick.Rename == nil {
		return src.Top(ctx, q)
	}
	p := c.progress()
	result, err := src.Profile(ctx, c.selection, p.traces)
	p.clear()
	if err != nil {
		return query.Top{}, err
	}
	top := query.TopOf(c.pick.Rewrite(result.Profile), q)
	top.Stats = result.Stats
	return top, nil
}

// writeTop writes functions as a table, in ms of a page view.
func writeTop(w io.Writer, top *query.Top, people *query.PeoplesTime) error {
	views := float64(max(top.Views, 1))
	ms := func(us int64) float64 { return float64(us) / 1000 / views }
	all := ms(top.Self - top.Own)
	c := trie.Coverage{Views: top.Views, Traces: top.Traces, Stackless: top.Stackless, Idle: top.Idle, Unsampled: top.Unsampled}
	fmt.Fprintf(w, "%s; per page view %.3f ms of JavaScript%s, %.3f ms without a stack (%.3f ms of that idle), %.1f %% not sampled\n",
		output.MadeOf(c), all, output.Script(top.Own, fmt.Sprintf("%.3f", ms(top.Own))), ms(top.Stackless), ms(top.Idle), 100*c.UnsampledShare(top.Self))
	if top.Truncated > 0 {
		fmt.Fprintf(w, "%d samples have a stack that the browser cut off at %d frames\n", top.Truncated, trie.MaxStackDepth)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	title := timeTitle([]pointRow{{Point: query.Point{People: people}}})
	fmt.Fprintf(t, "SELF MS\t\tTOTAL MS\t\tSHARE\tP75 WHERE SEEN\t\tREACH\t\t%s\tFUNCTION\n", title)
	for _, f := range top.Functions {
		self, total, p75 := "", "", "-\t"
		if f.SelfSpread != nil && f.TotalSpread != nil {
			self, total = f.SelfSpread.Mean.Bounds(3), f.TotalSpread.Mean.Bounds(3)
			p75 = number(f.SelfSpread.P75.Value) + "\t" + f.SelfSpread.P75.Bounds(2)
		}
		fmt.Fprintf(t, "%.3f\t%s\t%.3f\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", ms(f.Self), self, ms(f.Total), total, percent(ms(f.Self)/max(all, 1e-9)), p75,
			percent(min(float64(f.Reach)/views, 1)), f.Reach, peoplesTime(people, ms(f.Self), all), output.Printable(output.Location(trie.Frame{Name: f.Name, Resource: f.Resource, Line: f.Line, Column: f.Column})))
	}
	if o := top.Others; o.Count > 0 {
		fmt.Fprintf(t, "%.3f%s%s%s%d more functions\n", ms(o.Self), strings.Repeat("\t", 4), percent(ms(o.Self)/max(all, 1e-9)), strings.Repeat("\t", 6), o.Count)
	}
	return t.Flush()
}
