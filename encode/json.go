package encode

import (
	"encoding/json"
	"io"

	"github.com/fieldtrie/fieldtrie/trie"
)

// jsonProfile is the JSON form of a profile; docs/format.md describes it.
type jsonProfile struct {
	Version   int            `json:"version"`
	Unit      string         `json:"unit"`
	Since     string         `json:"since,omitempty"`
	Until     string         `json:"until,omitempty"`
	Coverage  jsonCoverage   `json:"coverage"`
	Groups    []jsonGroup    `json:"groups"`
	Functions []jsonFunction `json:"functions"`
	Nodes     jsonNodes      `json:"nodes"`
}

type jsonCoverage struct {
	Views     int64 `json:"views"`
	Traces    int64 `json:"traces"`
	Self      int64 `json:"self"`
	Stackless int64 `json:"stackless"`
	Idle      int64 `json:"idle"`
	Unsampled int64 `json:"unsampled"`
	Truncated int64 `json:"truncated"`
}

type jsonGroup struct {
	Labels   map[string][]string `json:"labels"`
	Coverage jsonCoverage        `json:"coverage"`
}

type jsonFunction struct {
	Name     string `json:"name"`
	Resource string `json:"resource,omitempty"`
	Line     uint32 `json:"line,omitempty"`
	Column   uint32 `json:"column,omitempty"`
	Self     int64  `json:"self"`
	Total    int64  `json:"total"`
	Samples  int64  `json:"samples"`
	Views    int64  `json:"views"`
}

// jsonNodes has a row for each node, in preorder.
type jsonNodes struct {
	Function []int   `json:"function"` // index into functions
	Depth    []int   `json:"depth"`    // frames of the stack, from 1
	Self     []int64 `json:"self"`
	Total    []int64 `json:"total"`
	Samples  []int64 `json:"samples"`
	Views    []int64 `json:"views"`
}

// EncodeJSON writes p as one JSON object for programs: coverage, the functions, heaviest
// self time first, and the nodes as columns in preorder. Groups are summed. Times are
// microseconds.
func EncodeJSON(w io.Writer, p *trie.Profile, o Output) error {
	p = p.Canonical()
	flat, c := p.Flat()
	total := p.Totals(flat)
	out := jsonProfile{Version: 1, Unit: "microseconds", Groups: []jsonGroup{}, Functions: []jsonFunction{}}
	if !o.Since.IsZero() {
		out.Since = o.Since.UTC().Format(timeFormat)
	}
	if !o.Until.IsZero() {
		out.Until = o.Until.UTC().Format(timeFormat)
	}
	row := map[trie.Frame]int{}
	var self int64
	for i, f := range functions(p) {
		row[f.Frame] = i
		self += f.Self
		out.Functions = append(out.Functions, jsonFunction{
			shown(f.Frame), f.Resource, f.Line, f.Column, f.Self, f.Total, f.Samples, f.Reach,
		})
	}
	out.Coverage = jsonCoverageOf(c, self)
	for i := range p.Groups {
		g := &p.Groups[i]
		labels := map[string][]string{}
		for _, l := range g.Labels {
			labels[l.Key] = append(labels[l.Key], l.Value)
		}
		self, _ := g.Sum()
		out.Groups = append(out.Groups, jsonGroup{labels, jsonCoverageOf(g.Coverage, self)})
	}
	n := &out.Nodes
	*n = jsonNodes{[]int{}, []int{}, []int64{}, []int64{}, []int64{}, []int64{}}
	for id, depth := range p.Preorder() {
		f, ok := row[p.Frame(id)]
		if !ok {
			f = -1 // a frame whose weights cancel out in a difference
		}
		n.Function = append(n.Function, f)
		n.Depth = append(n.Depth, depth)
		n.Self = append(n.Self, flat[id].Self)
		n.Total = append(n.Total, total[id].Self)
		n.Samples = append(n.Samples, flat[id].Samples)
		n.Views = append(n.Views, flat[id].Reach)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

// timeFormat is RFC 3339 with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

func jsonCoverageOf(c trie.Coverage, self int64) jsonCoverage {
	return jsonCoverage{c.Views, c.Traces, self, c.Stackless, c.Idle, c.Unsampled, c.Truncated}
}
