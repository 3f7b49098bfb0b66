package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/budget"
	"github.com/fieldtrie/fieldtrie/query/compare"
)

type compareIn struct {
	Selection
	CompareRelease string `json:"compare_release,omitempty" jsonschema:"the release to compare with, the earlier one"`
	CompareSince   string `json:"compare_since,omitempty" jsonschema:"or the start of the time to compare with; it ends at compare_until, by default at since"`
	CompareUntil   string `json:"compare_until,omitempty"`
	MinViews       int    `json:"min_views,omitempty" jsonschema:"page views that each side needs; 100 by default, at least 2"`
	Limit          int    `json:"limit,omitempty" jsonschema:"how many functions, up to 200; 20 by default"`
}

type compareOut struct {
	ViewsBefore float64 `json:"views_before"` // page views of the other side
	Views       float64 `json:"views"`
	// Enough reports whether there are enough page views to tell changes from noise. Without them,
	// changes are differences as measured, whatever their cause.
	Enough    bool        `json:"enough"`
	Total     changeOut   `json:"total"` // of all JavaScript of a page view
	Features  []changeOut `json:"features,omitempty"`
	Functions []changeOut `json:"functions"`      // by self time; significant changes first
	More      int         `json:"more,omitempty"` // functions that are not listed
	Warnings  []string    `json:"warnings,omitempty"`
}

type changeOut struct {
	Name   string  `json:"name,omitempty"`
	File   string  `json:"file,omitempty"`
	Line   uint32  `json:"line,omitempty"`
	Column uint32  `json:"column,omitempty"`
	Status string  `json:"status"`         // a [compare.Status]
	Code   string  `json:"code,omitempty"` // a [compare.Code]; empty if unknown
	Before float64 `json:"before_ms"`      // per page view
	After  float64 `json:"after_ms"`       // before_ms plus change_ms, so adjusted to the devices and browsers before
	// After minus Before, adjusted to the devices and browsers before if there are enough
	Change Estimate `json:"change_ms"`
}

func changeOf(c compare.Change) changeOut {
	out := changeOut{Status: string(c.Status), Before: rounded(c.Mean.A), After: rounded(c.Mean.B),
		Change: roundedEstimate(c.Shown)}
	return out
}

func roundedEstimate(e compare.Estimate) (out Estimate) {
	out.Value = rounded(e.Value)
	if e.Low != nil && e.High != nil {
		out.Low, out.High = new(rounded(*e.Low)), new(rounded(*e.High))
	}
	return out
}

func (t tools) compare(ctx context.Context, in compareIn) (out compareOut, err error) {
	limit, err := rows(in.Limit, 20)
	if err != nil {
		return out, err
	}
	if in.CompareRelease == "" && in.CompareSince == "" && in.CompareUntil == "" {
		return out, errors.New("compare_release or compare_since is missing: one of them selects the other side")
	}
	b, err := t.selection(in.Selection)
	if err != nil {
		return out, err
	}
	before := in.Selection
	before.Release = cmp.Or(in.CompareRelease, in.Release)
	a, err := t.selection(before)
	if err != nil {
		return out, err
	}
	if in.CompareSince != "" || in.CompareUntil != "" {
		times, err := t.selection(Selection{Since: cmp.Or(in.CompareSince, in.Since), Until: in.CompareUntil})
		if err != nil {
			return out, fmt.Errorf("compare_since and compare_until: %w", err)
		}
		if a.Since, a.Until = times.Since, times.Until; a.Until.IsZero() {
			a.Until = b.Since
		}
	}
	if in.MinViews < 0 || in.MinViews == 1 {
		return out, fmt.Errorf("min_views %d: use at least 2", in.MinViews)
	}
	got, err := t.Source.Compare(ctx, query.CompareQuery{A: a, B: b, Options: compare.Options{MinViews: in.MinViews}})
	if err != nil {
		return out, err
	}
	switch {
	case got.Views.B == 0:
		return out, t.nothing(ctx, b)
	case got.Views.A == 0:
		return out, fmt.Errorf("nothing to compare with: %w", t.nothing(ctx, a))
	}
	out = compareOut{ViewsBefore: got.Views.A, Views: got.Views.B, Enough: got.Enough, Total: changeOf(got.Total),
		Functions: []changeOut{}}
	for _, w := range slices.Concat(got.Warnings, got.StatsA.Warnings, got.StatsB.Warnings) {
		out.Warnings = append(out.Warnings, name(w))
	}
	for _, f := range got.Features[:min(len(got.Features), limit)] {
		c := changeOf(f.Change)
		c.Name = name(f.Name)
		out.Features = append(out.Features, c)
	}
	if !got.Enough {
		return out, nil
	}
	for _, f := range got.Functions[:min(len(got.Functions), limit)] {
		c := changeOf(f.Change)
		c.Name, c.File, c.Line, c.Column = name(f.Name), name(f.Resource), f.Line, f.Column
		c.Code = string(f.Code)
		out.Functions = append(out.Functions, c)
	}
	out.More = len(got.Functions) - len(out.Functions) + got.Rest.Functions
	return out, nil
}

func (o compareOut) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "JavaScript of a page view: %s, %s, from %g to %g ms (%.0f page views before, %.0f after)\n",
		o.Total.Status, o.Total.Change.signed(), o.Total.Before, o.Total.After, o.ViewsBefore, o.Views)
	for _, w := range o.Warnings {
		b.WriteString("Warning: " + w + "\n")
	}
	for _, f := range o.Features {
		fmt.Fprintf(&b, "feature %s: %s, %s, from %g to %g ms\n", f.Name, f.Status, f.Change.signed(),
			f.Before, f.After)
	}
	if !o.Enough {
		b.WriteString("The change is as it was measured: there are too few page views to tell code from traffic, or " +
			"either from noise. Select a longer time, or set min_views.\n")
		return b.String()
	}
	b.WriteString("Self time of functions, per page view:\n")
	for _, f := range o.Functions {
		fmt.Fprintf(&b, "%s, %s, from %g to %g ms: %s", f.Status, f.Change.signed(), f.Before, f.After,
			function(f.Name, f.File, f.Line, f.Column))
		if f.Code != "" {
			fmt.Fprintf(&b, " (%s)", f.Code)
		}
		b.WriteByte('\n')
	}
	if o.More > 0 {
		fmt.Fprintf(&b, "… and %d more functions, which changed less or within noise; raise limit to see them\n",
			o.More)
	}
	return b.String()
}

type budgetsIn struct{}

type budgetsOut struct {
	Budgets []budgetOut `json:"budgets"` // blown ones first
}

type budgetOut struct {
	Name   string    `json:"name"`
	Owner  string    `json:"owner,omitempty"`
	What   string    `json:"what"`   // the bounded value
	Status string    `json:"status"` // ok, blown, too few views, no data or error
	Unit   string    `json:"unit"`
	Limit  float64   `json:"limit"`
	Value  *Estimate `json:"value,omitempty"`
	Views  int64     `json:"views"`
	Note   string    `json:"note,omitempty"`
}

// ErrNoBudgets is returned if there is no file of budgets.
var ErrNoBudgets = errors.New("there are no budgets: give a file with --budgets, to ingest or to aggregate mcp")

func (t tools) budgets(ctx context.Context, _ budgetsIn) (out budgetsOut, err error) {
	if t.Budgets == nil {
		return out, ErrNoBudgets
	}
	all, err := t.Budgets(ctx, t.Source)
	if err != nil {
		return out, err
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b budget.Status) int {
		rank := []budget.Verdict{budget.Blown, budget.Failed}
		at := func(v budget.Verdict) int {
			if i := slices.Index(rank, v); i >= 0 {
				return i
			}
			return len(rank)
		}
		return cmp.Compare(at(a.Verdict), at(b.Verdict))
	})
	out.Budgets = []budgetOut{}
	for i := range all {
		s := &all[i]
		x := budgetOut{Name: name(s.Name), Owner: name(s.Owner), What: name(s.What()), Status: string(s.Verdict),
			Unit: s.Unit, Limit: rounded(s.Limit), Views: s.Views, Note: name(s.Text)}
		if s.Value != nil {
			v := estimateOf(*s.Value)
			x.Value = &v
		}
		out.Budgets = append(out.Budgets, x)
	}
	return out, nil
}

func (o budgetsOut) text() string {
	var b strings.Builder
	for _, s := range o.Budgets {
		fmt.Fprintf(&b, "%s: %s, %s", s.Status, s.Name, s.What)
		if s.Value != nil {
			fmt.Fprintf(&b, " is %s", strings.ReplaceAll(s.Value.String(), "ms", s.Unit))
		}
		fmt.Fprintf(&b, ", limit %g %s, %d page views", s.Limit, s.Unit, s.Views)
		if s.Owner != "" {
			b.WriteString(", owner " + s.Owner)
		}
		if s.Note != "" {
			b.WriteString("; " + s.Note)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
