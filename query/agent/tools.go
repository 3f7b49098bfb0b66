package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

// tools query a source.
type tools struct {
	Options
	Source query.Source
}

type pagesIn struct {
	Since string `json:"since,omitempty" jsonschema:"start of the time range: an age such as 24h or 7d, a date, or RFC 3339; 24h by default"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many pages, up to 200; 30 by default"`
}

type pagesOut struct {
	Pages []pageOut `json:"pages"`          // the most time first
	More  int       `json:"more,omitempty"` // pages that are not listed
}

type pageOut struct {
	Page      string    `json:"page"`
	Views     int64     `json:"views"`   // profiled page views
	Mean      Estimate  `json:"mean_ms"` // JavaScript per page view
	P75       *Estimate `json:"p75_ms,omitempty"`
	LongTasks *Estimate `json:"long_tasks_p75_ms,omitempty"` // part in stretches of 50 ms or more
}

func (t tools) pages(ctx context.Context, in pagesIn) (out pagesOut, err error) {
	limit, err := rows(in.Limit, 30)
	if err != nil {
		return out, err
	}
	sel, err := t.selection(Selection{Since: in.Since})
	if err != nil {
		return out, err
	}
	sel.GroupBy = []string{"page"}
	series, err := t.Source.Series(ctx, query.SeriesQuery{Selection: sel})
	if err != nil {
		return out, err
	}
	if len(series.Groups) == 0 {
		return out, t.nothing(ctx, sel)
	}
	out.Pages = []pageOut{}
	for i, g := range series.Groups {
		if i == limit {
			out.More = len(series.Groups) - limit
			break
		}
		p := g.Points[0]
		x := pageOut{Page: name(g.Labels["page"]), Views: p.Views, Mean: Estimate{Value: rounded(p.Mean)}}
		if p.Spread != nil {
			x.Mean = estimateOf(p.Spread.Mean)
			p75 := estimateOf(p.Spread.P75)
			x.P75 = &p75
		}
		if p.LongTasks != nil {
			long := estimateOf(p.LongTasks.P75)
			x.LongTasks = &long
		}
		out.Pages = append(out.Pages, x)
	}
	return out, nil
}

func (o pagesOut) text() string {
	var b strings.Builder
	b.WriteString("JavaScript on the main thread, in ms per page view:\n")
	for _, p := range o.Pages {
		fmt.Fprintf(&b, "%s: mean %s", p.Page, p.Mean)
		if p.P75 != nil {
			fmt.Fprintf(&b, ", p75 %s", p.P75)
		}
		if p.LongTasks != nil {
			fmt.Fprintf(&b, ", long tasks p75 %s", p.LongTasks)
		}
		fmt.Fprintf(&b, ", %d page views\n", p.Views)
	}
	if o.More > 0 {
		fmt.Fprintf(&b, "… and %d more pages, with less time; raise limit to see them\n", o.More)
	}
	return b.String()
}

type topIn struct {
	Selection
	By    string `json:"by,omitempty" jsonschema:"what to list: function (the default), file, package, team or owner"`
	Sort  string `json:"sort,omitempty" jsonschema:"self (time without callees, the default), total (with callees) or reach (page views in which it was seen)"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many functions, up to 200; 20 by default"`
}

type topOut struct {
	Views     int64         `json:"views"`            // profiled page views
	Self      float64       `json:"self_ms"`          // of all functions except the profiling script, per page view
	Own       float64       `json:"own_ms,omitempty"` // of the profiling script, per page view
	Functions []functionOut `json:"functions"`
	More      int           `json:"more,omitempty"`         // functions that are not listed
	MoreSelf  float64       `json:"more_self_ms,omitempty"` // their self time, per page view
}

type functionOut struct {
	Name   string   `json:"name"`
	File   string   `json:"file,omitempty"`
	Line   uint32   `json:"line,omitempty"`
	Column uint32   `json:"column,omitempty"`
	Source string   `json:"source_url,omitempty"`
	Self   Estimate `json:"self_ms"`  // mean over all page views
	Total  Estimate `json:"total_ms"` // including callees
	Reach  int64    `json:"reach"`    // page views in which it was seen
}

func (t tools) top(ctx context.Context, in topIn) (out topOut, err error) {
	limit, err := rows(in.Limit, 20)
	if err != nil {
		return out, err
	}
	sel, err := t.selection(in.Selection)
	if err != nil {
		return out, err
	}
	if sel.By, err = oneOf("by", in.By, selection.PartsBy()...); err != nil {
		return out, err
	}
	sort, err := oneOf("sort", in.Sort, "self", "total", "reach")
	if err != nil {
		return out, err
	}
	top, err := t.Source.Top(ctx, query.TopQuery{Selection: sel, Limit: limit, Sort: sort})
	if err != nil {
		return out, err
	}
	if top.Views == 0 {
		return out, t.nothing(ctx, sel)
	}
	out = topOut{Views: top.Views, Self: perView(top.Self-top.Own, top.Views), Own: perView(top.Own, top.Views),
		Functions: []functionOut{}, More: top.Others.Count, MoreSelf: perView(top.Others.Self, top.Views)}
	for _, f := range top.Functions {
		x := functionOut{Name: name(f.Name), File: name(f.Resource), Line: f.Line, Column: f.Column,
			Source: name(f.Link), Reach: f.Reach,
			Self: Estimate{Value: perView(f.Self, top.Views)}, Total: Estimate{Value: perView(f.Total, top.Views)}}
		if f.SelfSpread != nil && f.TotalSpread != nil {
			x.Self, x.Total = estimateOf(f.SelfSpread.Mean), estimateOf(f.TotalSpread.Mean)
		}
		out.Functions = append(out.Functions, x)
	}
	return out, nil
}

// oneOf checks that a word is known or empty.
func oneOf(parameter, word string, known ...string) (string, error) {
	if word == "" {
		return "", nil
	}
	for _, k := range known {
		if word == k {
			return word, nil
		}
	}
	return "", fmt.Errorf("%s: %.40q is none of %s", parameter, word, strings.Join(known, ", "))
}

func (o topOut) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d page views, %g ms of JavaScript each", o.Views, o.Self)
	if o.Own > 0 {
		fmt.Fprintf(&b, " and %g ms of the profiling script", o.Own)
	}
	b.WriteString(". Per page view:\n")
	for _, f := range o.Functions {
		fmt.Fprintf(&b, "self %s, total %s, in %.0f %% of page views: %s\n", f.Self, f.Total,
			100*float64(f.Reach)/float64(max(o.Views, 1)),
			function(f.Name, f.File, f.Line, f.Column))
	}
	if o.More > 0 {
		fmt.Fprintf(&b, "… and %d more functions, with %g ms of self time together; raise limit to see them\n",
			o.More, o.MoreSelf)
	}
	return b.String()
}
