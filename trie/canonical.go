package trie

import (
	"cmp"
	"slices"
)

// renumber copies the given nodes of t, parents before children, into a new trie. Its frames are
// unique and sorted by resource, line, column and name; its strings are numbered by first use.
// Unused frames and strings are dropped. nodeOf is the new number of each node, 0 for those not
// copied. folded reports whether equal frames were merged, so that there may be equal nodes, too.
func (t *Trie) renumber(nodes []NodeID) (out *Trie, nodeOf []NodeID, folded bool) {
	used := make([]bool, len(t.Frames))
	for _, n := range nodes {
		used[t.Nodes[n].Frame] = true
	}
	order, rank := t.rankFrames()
	out = New()
	stringOf := make([]StringID, len(t.Strings))
	keep := func(s StringID) StringID {
		if stringOf[s] == 0 && t.Strings[s] != "" {
			stringOf[s] = StringID(len(out.Strings))
			out.Strings = append(out.Strings, t.Strings[s])
		}
		return stringOf[s]
	}
	frameOf := make([]FrameID, len(t.Frames))
	last := FrameID(0) // last copied frame of t
	for _, f := range order {
		if !used[f] {
			continue
		}
		if n := len(out.Frames); n > 0 && rank[f] == rank[last] {
			frameOf[f], folded = FrameID(n-1), true
			continue
		}
		r := t.Frames[f]
		r.Name, r.Resource = keep(r.Name), keep(r.Resource)
		frameOf[f], last = FrameID(len(out.Frames)), f
		out.Frames = append(out.Frames, r)
	}
	nodeOf = make([]NodeID, len(t.Nodes))
	out.Nodes = slices.Grow(out.Nodes, len(nodes))
	for _, n := range nodes {
		nodeOf[n] = NodeID(len(out.Nodes))
		out.Nodes = append(out.Nodes, Node{nodeOf[t.Nodes[n].Parent], frameOf[t.Nodes[n].Frame]})
	}
	return out, nodeOf, folded
}

// Canonical returns t with its tables in canonical order: nodes by their first sample, parents
// first, then nodes without a sample in the order of t; frames unique and sorted. Traces that
// differ only in numbering have the same canonical form.
func (t *Trace) Canonical() *Trace {
	order := make([]NodeID, 0, len(t.Nodes))
	var v visits
	v.begin(&t.Trie)
	for _, s := range t.Samples {
		order = append(order, v.to(s.Node)...)
	}
	for n := range t.Nodes {
		order = append(order, v.to(NodeID(n))...)
	}
	trie, nodeOf, _ := t.renumber(order)
	out := new(Trace)
	*out = *t // everything except the tables
	out.Trie = *trie
	out.renumberSamples(nodeOf)
	return out
}

// Canonical returns p with its tables in canonical order: nodes in preorder, without subtrees that
// have no weight; frames unique and sorted; groups sorted by their labels, without empty ones.
func (p *Profile) Canonical() *Profile {
	needed := make([]bool, len(p.Nodes))
	for i := range p.Groups {
		for n := range p.Groups[i].Weights.All() {
			needed[n] = true
		}
	}
	for n := len(p.Nodes) - 1; n > 0; n-- {
		if needed[n] {
			needed[p.Nodes[n].Parent] = true
		}
	}
	order := make([]NodeID, 0, len(p.Nodes))
	for n := range p.Preorder() {
		if needed[n] {
			order = append(order, n)
		}
	}
	trie, nodeOf, folded := p.renumber(order)
	out := &Profile{Trie: *trie, Views: p.Views, Traces: p.Traces, Unknown: p.Unknown}
	for i := range p.Groups {
		from := &p.Groups[i]
		to := Group{Labels: from.Labels, Coverage: from.Coverage}
		for n, w := range from.Weights.All() {
			to.Weights.Add(nodeOf[n], w)
		}
		if len(to.Weights.blocks) > 0 || to.Coverage != (Coverage{}) {
			out.Groups = append(out.Groups, to)
		}
	}
	if folded { // then nodes may be equal too, which merging combines
		out = Merge(out).Canonical()
		out.Unknown = p.Unknown
		return out
	}
	slices.SortFunc(out.Groups, func(a, b Group) int { return slices.CompareFunc(a.Labels, b.Labels, compareLabels) })
	return out
}

// equalTables reports whether two tries in canonical form are the same. It compares strings by
// value: a text that is both a name and a URL may be in the table twice.
func (t *Trie) equalTables(o *Trie) bool {
	if len(t.Frames) != len(o.Frames) || !slices.Equal(t.Nodes, o.Nodes) {
		return false
	}
	for i := range t.Frames {
		if t.FrameOf(FrameID(i)) != o.FrameOf(FrameID(i)) {
			return false
		}
	}
	return true
}

// Equal reports whether p and o hold the same weights for the same stacks and labels.
func (p *Profile) Equal(o *Profile) bool {
	a, b := p.Canonical(), o.Canonical()
	return a.Views == b.Views && a.Traces == b.Traces &&
		a.equalTables(&b.Trie) && slices.EqualFunc(a.Groups, b.Groups, func(x, y Group) bool {
		return slices.Equal(x.Labels, y.Labels) && x.Weights.equal(&y.Weights) && x.Coverage == y.Coverage
	})
}

// Equal reports whether t and o are the same recording: the same stacks at the same
// times in the same context, at the same cost.
func (t *Trace) Equal(o *Trace) bool {
	a, b := t.Canonical(), o.Canonical()
	x, y := a.Context, b.Context
	return a.equalTables(&b.Trie) && slices.Equal(a.Samples, b.Samples) &&
		slices.Equal(x.Labels, y.Labels) && slices.Equal(x.Spans, y.Spans) &&
		slices.Equal(x.Unknown, y.Unknown) && slices.Equal(a.Unknown, b.Unknown) &&
		x.Page == y.Page && x.ViewID == y.ViewID && x.Chunk == y.Chunk &&
		x.TimeOrigin == y.TimeOrigin && x.Interval == y.Interval &&
		cmp.Compare(x.SamplingShare, y.SamplingShare) == 0 &&
		x.Release == y.Release && x.Environment == y.Environment && a.Cost == b.Cost &&
		a.Gapless == b.Gapless && (a.End == b.End || !a.Gapless)
}
