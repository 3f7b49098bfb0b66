package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/calls"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

type explainIn struct {
	Selection
	Change string `json:"change,omitempty" jsonschema:"the id of a change from changes; or"`
	Name   string `json:"name,omitempty" jsonschema:"a function, as top_functions lists it"`
	File   string `json:"file,omitempty" jsonschema:"its file, or the end of its path, if several functions have the name"`
	Line   uint32 `json:"line,omitempty" jsonschema:"its line, if needed"`
}

type explainOut struct {
	Function functionOut `json:"function"` // with its cost
	Views    int64       `json:"views"`    // profiled page views
	Page     string      `json:"page,omitempty"`
	// For has the label values with the most and the least self time of the function.
	For []valueOut `json:"for_whom,omitempty"`
	// from the function to the root: the heaviest caller at each step
	Stack   []stackLine `json:"heaviest_stack,omitempty"`
	Callees []callOut   `json:"callees,omitempty"` // called functions
	Change  *foundOut   `json:"change,omitempty"`  // the requested change, with its causes
	Unknown []string    `json:"not_known"`         // missing data
}

type valueOut struct {
	Label string  `json:"label"`
	Value string  `json:"value"`
	Self  float64 `json:"self_ms"` // per page view with the value
	Views int64   `json:"views"`
}

const (
	// labelViews is the minimum number of page views of a listed label value.
	labelViews = 100
	// explainCallees is the maximum number of listed callees.
	explainCallees = 5
)

// explain summarizes a function: its cost, the affected visitors, its callers and callees, and its
// change.
func (t tools) explain(ctx context.Context, in explainIn) (out explainOut, err error) {
	place := compare.Place{Name: in.Name, Resource: in.File, Line: in.Line}
	if in.Change != "" {
		c, err := t.change(ctx, in.Change)
		if err != nil {
			return out, err
		}
		f := foundOf(&c.Change)
		out.Change = &f
		if c.What.Function == nil {
			return out, fmt.Errorf(
				"change: %s is a change of %s, not of a function; use compare with release and compare_release",
				f.ID, f.What)
		}
		place = *c.What.Function
		if in.Page == "" {
			in.Page = c.Pages[0].Page
		}
		if in.Release == "" {
			in.Release = c.Release
		}
	}
	if place.Name == "" {
		return out, errors.New("change or name is missing: pass an id of changes, or a function of top_functions")
	}
	sel, err := t.selection(in.Selection)
	if err != nil {
		return out, err
	}
	sel.GroupBy = []string{rollup.KeyBrowser, rollup.KeyConnection, rollup.KeyDevice}
	result, err := t.Source.Profile(ctx, sel, nil)
	if err != nil {
		return out, err
	}
	p := result.Profile
	if p.Views == 0 {
		return out, t.nothing(ctx, sel)
	}
	is := func(f trie.Frame) bool {
		return (f.Name == place.Name || place.Name == "(anonymous)" && f.Name == "") && strings.HasSuffix(f.Resource,
			place.Resource) && (place.Line == 0 || f.Line == place.Line)
	}
	f, ok := oneFunction(p, is)
	if !ok {
		return out, fmt.Errorf(
			"no function %s%s was seen; take name, file and line from top_functions with the same selection",
			name(place.Name), name(sel.String()))
	}
	only := func(x trie.Frame) bool { return x == f.Frame }
	out.Views, out.Page, out.For = p.Views, name(sel.Page), valuesOf(p, only)
	out.Function, err = t.costOf(ctx, sel, f, p.Views)
	if err != nil {
		return out, err
	}
	out.Stack = heaviest(calls.Callers(p, only))
	out.Callees = callsAt(calls.Callees(p, only), func(depth uint32) bool { return depth == 2 }, explainCallees)
	out.Unknown = unknownOf(p, result.Stats)
	return out, nil
}

// oneFunction returns the heaviest function for which is returns true.
func oneFunction(p *trie.Profile, is func(trie.Frame) bool) (trie.Function, bool) {
	for _, f := range p.Functions() {
		if is(f.Frame) {
			return f, true
		}
	}
	return trie.Function{}, false
}

// costOf returns the cost of a function, with intervals if they are stored.
func (t tools) costOf(ctx context.Context, sel selection.Selection, f trie.Function, views int64) (functionOut, error) {
	out := functionOut{Name: name(f.Name), File: name(f.Resource), Line: f.Line, Column: f.Column, Reach: f.Reach,
		Self: Estimate{Value: perView(f.Self, views)}, Total: Estimate{Value: perView(f.Total, views)}}
	sel.GroupBy = nil
	top, err := t.Source.Top(ctx, query.TopQuery{Selection: sel, Limit: ofFunctions, Sort: "self"})
	if err != nil {
		return out, err
	}
	for _, x := range top.Functions {
		if x.Name == f.Name && x.Resource == f.Resource && x.Line == f.Line && x.Column == f.Column {
			out.Source, out.Reach = name(x.Link), x.Reach
			if x.SelfSpread != nil && x.TotalSpread != nil {
				out.Self, out.Total = estimateOf(x.SelfSpread.Mean), estimateOf(x.TotalSpread.Mean)
			}
		}
	}
	return out, nil
}

// valuesOf returns the values with the most and the least self time, for each group label of the
// profile, over the frames for which is returns true.
func valuesOf(p *trie.Profile, is func(trie.Frame) bool) (out []valueOut) {
	takes := make([]bool, len(p.Nodes))
	for n := range takes {
		takes[n] = n > 0 && is(p.Frame(trie.NodeID(n)))
	}
	type sum struct{ us, views int64 }
	of := map[trie.Label]*sum{}
	for i := range p.Groups {
		g := &p.Groups[i]
		var us int64
		for n, w := range g.Weights.All() {
			if takes[n] {
				us += w.Self
			}
		}
		for _, l := range g.Labels {
			if of[l] == nil {
				of[l] = &sum{}
			}
			of[l].us, of[l].views = of[l].us+us, of[l].views+g.Coverage.Views
		}
	}
	for _, key := range []string{rollup.KeyDevice, rollup.KeyBrowser, rollup.KeyConnection} {
		var values []valueOut
		for l, s := range of {
			if l.Key == key && s.views >= labelViews {
				values = append(values, valueOut{key, name(l.Value), perView(s.us, s.views), s.views})
			}
		}
		slices.SortFunc(values, func(a, b valueOut) int {
			if a.Self != b.Self {
				return map[bool]int{true: -1, false: 1}[a.Self > b.Self]
			}
			return strings.Compare(a.Value, b.Value)
		})
		if len(values) > 1 {
			out = append(out, values[0], values[len(values)-1])
		}
	}
	return out
}

// unknownOf lists the limits of a profile.
func unknownOf(p *trie.Profile, stats query.Stats) (out []string) {
	flat, c := p.Flat()
	var self int64
	for _, w := range flat {
		self += w.Self
	}
	if share := c.UnsampledShare(self); share >= 0.01 {
		out = append(out, fmt.Sprintf("%.0f %% of the time was not sampled by browsers; all numbers exclude it",
			100*share))
	}
	out = append(out, "how often it was called: a profiler samples, so many short calls and one long one look alike")
	for _, w := range stats.Warnings {
		out = append(out, name(w))
	}
	return out
}

func (o explainOut) text() string {
	var b strings.Builder
	f := &o.Function
	fmt.Fprintf(&b, "%s\n", function(f.Name, f.File, f.Line, f.Column))
	on := ""
	if o.Page != "" {
		on = " on " + o.Page
	}
	fmt.Fprintf(&b, "Cost%s: self %s, total %s, in %.0f %% of %d page views.\n", on, f.Self, f.Total,
		100*float64(f.Reach)/float64(max(o.Views, 1)), o.Views)
	if o.Change != nil {
		b.WriteString("Change: " + changesOut{Changes: []foundOut{*o.Change}, Evaluated: "now"}.text())
	}
	for i := 0; i+1 < len(o.For); i += 2 {
		most, least := o.For[i], o.For[i+1]
		fmt.Fprintf(&b, "By %s: most %g ms with %s (%d page views), least %g ms with %s (%d).\n", most.Label,
			most.Self, most.Value, most.Views, least.Self, least.Value, least.Views)
	}
	if len(o.Stack) > 1 {
		b.WriteString("Reached by the heaviest stack, from its caller up to the root:\n")
		inPackages := 0
		for i, s := range o.Stack[1:] {
			last := i+2 == len(o.Stack)
			if strings.Contains(s.File, "node_modules/") {
				if inPackages++; !last {
					continue
				}
			}
			if inPackages > 0 {
				fmt.Fprintf(&b, "  … %d of packages\n", inPackages)
				inPackages = 0
			}
			if !strings.Contains(s.File, "node_modules/") {
				fmt.Fprintf(&b, "  %s\n", function(s.Name, s.File, s.Line, s.Column))
			}
		}
	}
	if len(o.Callees) > 0 {
		b.WriteString("Calls:\n")
		for _, c := range o.Callees {
			fmt.Fprintf(&b, "  %g ms: %s\n", c.Time, function(c.Name, c.File, c.Line, c.Column))
		}
	}
	b.WriteString("Not known: " + strings.Join(o.Unknown, "; ") + ".\n")
	if o.Change != nil {
		fmt.Fprintf(&b, "After the fix: verify {\"change\": %q, \"release\": \"…\"}.\n", o.Change.ID)
	} else {
		b.WriteString("Next: its trend by day, or compare with the previous release.\n")
	}
	return b.String()
}
