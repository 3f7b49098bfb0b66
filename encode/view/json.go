package view

import (
	"encoding/json"
	"io"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// jsonProfile is the JSON form of a profile; docs/formats.md describes it. Its keys are those that
// responses of the API have for the same.
type jsonProfile struct {
	Version int    `json:"version"`
	Since   string `json:"since,omitempty"`
	Until   string `json:"until,omitempty"`
	jsonCoverage
	Groups    []jsonGroup    `json:"groups"`
	Functions []jsonFunction `json:"functions"`
	Nodes     jsonNodes      `json:"nodes"`
	Base      *jsonBase      `json:"base,omitempty"`
}

// jsonBase is the base of a comparison.
type jsonBase struct {
	jsonCoverage
	Groups []jsonGroup `json:"groups"`
}

type jsonCoverage struct {
	Views     int64 `json:"views"`
	Traces    int64 `json:"traces"`
	Self      int64 `json:"self_us"`
	Stackless int64 `json:"stackless_us"`
	Idle      int64 `json:"idle_us"`
	Unsampled int64 `json:"unsampled_us"`
	Truncated int64 `json:"truncated"`
}

type jsonGroup struct {
	Labels map[string][]string `json:"labels"`
	jsonCoverage
}

type jsonFunction struct {
	Name     string `json:"name"`
	Resource string `json:"resource,omitempty"`
	Package  string `json:"package,omitempty"`
	Line     uint32 `json:"line,omitempty"`
	Column   uint32 `json:"column,omitempty"`
	jsonWeight

	Base  *jsonWeight `json:"base,omitempty"`
	Delta *jsonWeight `json:"delta,omitempty"` // its values less those of base
}

// jsonWeight is the weight of a function, here or in the base, or its change.
type jsonWeight struct {
	Self    int64 `json:"self_us"`
	Total   int64 `json:"total_us"`
	Samples int64 `json:"samples"`
	Reach   int64 `json:"reach"`
}

// jsonNodes has a row for each node, in preorder.
type jsonNodes struct {
	Function []int   `json:"function"` // index into functions
	Depth    []int   `json:"depth"`    // frames of the stack, from 1
	Self     []int64 `json:"self_us"`
	Total    []int64 `json:"total_us"`
	Samples  []int64 `json:"samples"`
	Reach    []int64 `json:"reach"`

	BaseSelf   []int64 `json:"base_self_us,omitempty"`
	BaseTotal  []int64 `json:"base_total_us,omitempty"`
	DeltaSelf  []int64 `json:"delta_self_us,omitempty"`
	DeltaTotal []int64 `json:"delta_total_us,omitempty"`
}

// EncodeJSON writes p as one JSON object for programs: its coverage, the functions, heaviest
// self time first, and the nodes as columns in preorder. Groups are summed. Times are
// microseconds.
//
// With o.Base it holds the functions and nodes of both profiles, functions with the
// largest change of self time first. Functions then have the objects base and delta,
// nodes the columns base_self_us, base_total_us, delta_self_us and delta_total_us, and base at
// the top has the coverage and the groups of the base; delta is p less the base.
func EncodeJSON(w io.Writer, p *trie.Profile, o output.Options) error {
	p = p.Canonical()
	t := output.Weigh(p, o)
	out := jsonProfile{Version: 1, Functions: []jsonFunction{}}
	if !o.Since.IsZero() {
		out.Since = o.Since.UTC().Format(timeFormat)
	}
	if !o.Until.IsZero() {
		out.Until = o.Until.UTC().Format(timeFormat)
	}
	out.jsonCoverage, out.Groups = jsonCoverageOfProfile(p, t.Self), jsonGroups(p)
	row := map[trie.Frame]int{}
	if o.Base == nil {
		for i, f := range p.Functions() {
			row[f.Frame] = i
			out.Functions = append(out.Functions, jsonFunctionOf(f))
		}
	} else {
		base := o.Base.Canonical()
		out.Base = &jsonBase{jsonCoverageOfProfile(base, t.BaseSelf), jsonGroups(base)}
		for i, c := range output.Changes(t) {
			row[c.Frame] = i
			f := jsonFunctionOf(c.Function)
			f.Base = &jsonWeight{c.Base.Self, c.Base.Total, c.Base.Samples, c.Base.Reach}
			f.Delta = &jsonWeight{c.Self - c.Base.Self, c.Total - c.Base.Total, c.Samples - c.Base.Samples,
				c.Reach - c.Base.Reach}
			out.Functions = append(out.Functions, f)
		}
	}
	out.Nodes = jsonNodesOf(t, row)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

// jsonNodesOf returns the nodes of t in preorder; row gives the index of each frame
// among the functions.
func jsonNodesOf(t output.Weighted, row map[trie.Frame]int) jsonNodes {
	n := jsonNodes{Function: []int{}, Depth: []int{}, Self: []int64{}, Total: []int64{}, Samples: []int64{},
		Reach: []int64{}}
	for id, depth := range t.Preorder() {
		f, ok := row[t.Frame(id)]
		if !ok {
			f = -1 // a frame whose weights cancel out in a difference
		}
		n.Function = append(n.Function, f)
		n.Depth = append(n.Depth, depth)
		n.Self = append(n.Self, t.Self[id].Self)
		n.Total = append(n.Total, t.Total[id].Self)
		n.Samples = append(n.Samples, t.Self[id].Samples)
		n.Reach = append(n.Reach, t.Self[id].Reach)
		if t.BaseSelf != nil {
			n.BaseSelf = append(n.BaseSelf, t.BaseSelf[id].Self)
			n.BaseTotal = append(n.BaseTotal, t.BaseTotal[id].Self)
			n.DeltaSelf = append(n.DeltaSelf, t.Delta(id))
			n.DeltaTotal = append(n.DeltaTotal, t.Total[id].Self-t.BaseTotal[id].Self)
		}
	}
	return n
}

func jsonFunctionOf(f trie.Function) jsonFunction {
	return jsonFunction{
		Name: output.Shown(f.Frame), Resource: f.Resource, Package: scripturl.Package(f.Resource), Line: f.Line,
		Column:     f.Column,
		jsonWeight: jsonWeight{f.Self, f.Total, f.Samples, f.Reach},
	}
}

func jsonGroups(p *trie.Profile) []jsonGroup {
	out := []jsonGroup{}
	for i := range p.Groups {
		g := &p.Groups[i]
		labels := map[string][]string{}
		for _, l := range g.Labels {
			labels[l.Key] = append(labels[l.Key], l.Value)
		}
		self, _ := g.Sum()
		out = append(out, jsonGroup{labels, jsonCoverageOf(g.Coverage, self)})
	}
	return out
}

func jsonCoverageOfProfile(p *trie.Profile, self []trie.Weight) jsonCoverage {
	_, c := p.Flat()
	return jsonCoverageOf(c, output.SelfSum(self))
}

// timeFormat is RFC 3339 with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

func jsonCoverageOf(c trie.Coverage, self int64) jsonCoverage {
	return jsonCoverage{c.Views, c.Traces, self, c.Stackless, c.Idle, c.Unsampled, c.Truncated}
}
