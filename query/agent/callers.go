package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/calls"
)

type callersIn struct {
	Selection
	Name  string `json:"name" jsonschema:"the function, as top_functions lists it"`
	File  string `json:"file,omitempty" jsonschema:"its file, or the end of its path, if several functions have the name"`
	Line  uint32 `json:"line,omitempty" jsonschema:"its line, if needed"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many callers, and as many callees, up to 200; 15 by default"`
}

type callersOut struct {
	Views   int64     `json:"views"`     // profiled page views
	Found   []callOut `json:"functions"` // functions that match the name, with their total time
	Callers []callOut `json:"callers"`   // with the time of the function below them
	Callees []callOut `json:"callees"`   // with their time below the function
	// from the function to the root: the heaviest caller at each step
	Stacks []stackLine `json:"heaviest_stack,omitempty"`
}

type callOut struct {
	Name   string  `json:"name"`
	File   string  `json:"file,omitempty"`
	Line   uint32  `json:"line,omitempty"`
	Column uint32  `json:"column,omitempty"`
	Time   float64 `json:"ms"` // per page view
}

type stackLine = callOut

func (t tools) callers(ctx context.Context, in callersIn) (out callersOut, err error) {
	limit, err := rows(in.Limit, 15)
	if err != nil {
		return out, err
	}
	if in.Name == "" {
		return out, errors.New("name is missing; take a function of top_functions")
	}
	sel, err := t.selection(in.Selection)
	if err != nil {
		return out, err
	}
	result, err := t.Source.Profile(ctx, sel, nil)
	if err != nil {
		return out, err
	}
	p := result.Profile
	if p.Views == 0 {
		return out, t.nothing(ctx, sel)
	}
	is := func(f trie.Frame) bool {
		return (f.Name == in.Name || in.Name == "(anonymous)" && f.Name == "") && strings.HasSuffix(f.Resource,
			in.File) && (in.Line == 0 || f.Line == in.Line)
	}
	callers, callees := calls.Callers(p, is), calls.Callees(p, is)
	out = callersOut{Views: p.Views, Found: callsAt(callers, func(depth uint32) bool { return depth == 1 }, limit),
		Callers: callsAt(callers, func(depth uint32) bool {
			return depth == 2
		}, limit), Callees: callsAt(callees, func(depth uint32) bool { return depth == 2 }, limit),
		Stacks: heaviest(callers)}
	if len(out.Found) == 0 {
		return out, fmt.Errorf(
			"no function %s%s was seen; take name, file and line from top_functions with the same selection",
			name(in.Name), name(sel.String()))
	}
	return out, nil
}

// callsAt returns the functions at the selected depths of a profile with their time, heaviest
// first.
func callsAt(p *trie.Profile, at func(depth uint32) bool, limit int) []callOut {
	flat, _ := p.Flat()
	total := p.Totals(flat)
	time := map[trie.Frame]int64{}
	for n, depth := range p.Depths() {
		if at(depth) && total[n].Self > 0 {
			time[p.Frame(trie.NodeID(n))] += total[n].Self
		}
	}
	var all []callOut
	frames := make([]trie.Frame, 0, len(time))
	for f := range time {
		frames = append(frames, f)
	}
	slices.SortFunc(frames, func(a, b trie.Frame) int {
		return cmp.Or(cmp.Compare(time[b], time[a]), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Resource, b.Resource),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	for _, f := range frames[:min(len(frames), limit)] {
		all = append(all, callOf(f, time[f], p.Views))
	}
	return all
}

func callOf(f trie.Frame, us, views int64) callOut {
	return callOut{name(f.Name), name(f.Resource), f.Line, f.Column, perView(us, views)}
}

// mostStack bounds the length of a stack.
const mostStack = 30

// heaviest returns the stack from the function with the most time to the root, with the heaviest
// caller at each step.
func heaviest(p *trie.Profile) (stack []stackLine) {
	flat, _ := p.Flat()
	total := p.Totals(flat)
	below := make([]trie.NodeID, len(p.Nodes)) // the heaviest child, or 0
	for n := len(p.Nodes) - 1; n > 0; n-- {
		up := p.Nodes[n].Parent
		if best := below[up]; total[n].Self > 0 && (best == 0 || total[n].Self > total[best].Self) {
			below[up] = trie.NodeID(n)
		}
	}
	for n := below[trie.Root]; n != 0 && len(stack) < mostStack; n = below[n] {
		stack = append(stack, callOf(p.Frame(n), total[n].Self, p.Views))
	}
	return stack
}

func (o callersOut) text() string {
	var b strings.Builder
	list := func(title string, calls []callOut) {
		b.WriteString(title + "\n")
		for _, c := range calls {
			fmt.Fprintf(&b, "%g ms: %s\n", c.Time, function(c.Name, c.File, c.Line, c.Column))
		}
		if len(calls) == 0 {
			b.WriteString("nobody\n")
		}
	}
	fmt.Fprintf(&b, "Per page view (%d profiled):\n", o.Views)
	list("The function, including callees:", o.Found)
	list("Called by:", o.Callers)
	list("It calls:", o.Callees)
	list("The heaviest stack, from the function up to the root:", o.Stacks)
	return b.String()
}
