package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/trie"
)

// printsTop reports whether the command prints stored functions with their time per page view.
func (c *command) printsTop() bool {
	return c.format.Name == "top" && len(c.files) == 0 && !c.comparing.given && c.callers == "" && c.callees == "" &&
		c.perView()
}

// perView reports whether tables for people have times per page view. Recordings are not page
// views.
func (c *command) perView() bool { return len(c.files) == 0 && c.diff == "" && !c.total }

// printTop prints the functions with the most time per page view.
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
	if err != nil { // missing if a label of the selection is not in rollups
		whole = query.Point{}
	}
	err = c.emitTable(ctx, func(w io.Writer, s terminal.Screen) error { return writeTop(w, s, &top, whole.People) })
	if err != nil || c.toStdout() {
		return err
	}
	c.wrote(counted(uint64(len(top.Functions)), "function") + " of " + counted(uint64(top.Views), "page view"))
	return nil
}

// top queries the functions; with --wasm, it takes them from a merged profile instead.
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

// writeTop writes functions as a table, in ms per page view.
func writeTop(w io.Writer, s terminal.Screen, top *query.Top, people *query.PeoplesTime) error {
	views := float64(max(top.Views, 1))
	ms := func(us int64) float64 { return float64(us) / 1000 / views }
	all := ms(top.Self - top.Own)
	c := trie.Coverage{Views: top.Views, Traces: top.Traces, Stackless: top.Stackless, Idle: top.Idle,
		Unsampled: top.Unsampled}
	fmt.Fprintf(w, "%s; per page view %s ms of JavaScript%s,\n%s ms without a stack (%s ms of that idle), %.1f %% "+
		"not sampled\n",
		output.MadeOf(c), terminal.Number(all), output.Script(top.Own, terminal.Number(ms(top.Own))),
		terminal.Number(ms(top.Stackless)), terminal.Number(ms(top.Idle)), 100*c.UnsampledShare(top.Self))
	if top.Truncated > 0 {
		fmt.Fprintf(w, "the browser truncated the stacks of %d samples at %d frames\n", top.Truncated,
			trie.MaxStackDepth)
	}
	fmt.Fprintln(w)
	right := func(title string, drop int) terminal.Column {
		return terminal.Column{Title: title, Right: true, Drop: drop}
	}
	t := terminal.Table{Screen: s, Columns: []terminal.Column{{Title: "FUNCTION", Least: 24}, right("SELF MS", 0),
		{Drop: 7}, right("SHARE", 1), right("TOTAL MS", 2), {Drop: 8},
		right("P75 WHERE SEEN", 4), {Drop: 9}, right("REACH", 3), right("VIEWS", 6),
		right(timeTitle([]pointRow{{Point: query.Point{People: people}}}), 5)}}
	for _, f := range top.Functions {
		name := output.Printable(output.Location(trie.Frame{Name: f.Name, Resource: f.Resource, Line: f.Line,
			Column: f.Column}))
		self, total, p75, p75Bounds := "", "", "", ""
		if f.SelfSpread != nil && f.TotalSpread != nil {
			self, total = bounds(s, &f.SelfSpread.Mean), bounds(s, &f.TotalSpread.Mean)
			p75, p75Bounds = terminal.Number(f.SelfSpread.P75.Value), bounds(s, &f.SelfSpread.P75)
		}
		t.Row(name, terminal.Number(ms(f.Self)), self, percent(ms(f.Self)/max(all, 1e-9)),
			terminal.Number(ms(f.Total)), total,
			p75, p75Bounds, percent(min(float64(f.Reach)/views, 1)), fmt.Sprint(f.Reach), peoplesTime(people,
				ms(f.Self), all))
	}
	if o := top.Others; o.Count > 0 {
		t.Row(fmt.Sprintf("%d more functions", o.Count), terminal.Number(ms(o.Self)), "",
			percent(ms(o.Self)/max(all, 1e-9)), "", "", "", "", "", "", "")
	}
	_, err := t.WriteTo(w)
	return err
}

// bounds formats the interval of an estimate; low and high are 0 if there is none.
func bounds(s terminal.Screen, e *query.Estimate) string {
	if e.Low == 0 && e.High == 0 {
		return ""
	}
	return s.Interval(e.Low, e.High, terminal.Number)
}
