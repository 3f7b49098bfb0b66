package trie

import "slices"

// Set is a list of traces that share their tables. The tables of a set never change: see
// [Trace.Set].
type Set struct {
	Trie
	Traces []Trace    // with shared tables, which have more nodes than each trace: see [Set.Trace]
	Unused [][]NodeID // by trace: its nodes without samples in or below them, parents first
}

// SetBuilder builds a set. The zero value is ready to use.
type SetBuilder struct {
	set    Set
	graft  Grafter
	visits visits
}

// Add adds a trace, which must not be gapless. It does not change the trace. As in a merge, equal
// nodes are combined, and fields of the binary format that this version does not know are dropped.
func (b *SetBuilder) Add(t *Trace) {
	if b.graft.to == nil {
		b.set.Trie = *New()
		b.graft.to = &b.set.Trie
	}
	b.graft.Begin(&t.Trie)
	for n := range t.Nodes {
		b.graft.Node(NodeID(n))
	}
	out := *t
	out.Unknown, out.Context.Unknown = nil, nil
	out.Samples = slices.Clone(t.Samples)
	b.visits.begin(&b.set.Trie)
	for k := range out.Samples {
		to := &out.Samples[k].Node
		*to = b.graft.nodes[*to] - 1
		b.visits.to(*to)
	}
	var unused []NodeID
	for n := range t.Nodes {
		unused = append(unused, b.visits.to(b.graft.nodes[n]-1)...)
	}
	b.set.Traces, b.set.Unused = append(b.set.Traces, out), append(b.set.Unused, unused)
}

// Set returns the set. Nothing may be added after that.
func (b *SetBuilder) Set() *Set {
	if b.graft.to == nil {
		b.set.Trie = *New()
	}
	b.set.Share()
	return &b.set
}

// NewSet returns a set of traces, see [SetBuilder.Add].
func NewSet(traces []*Trace) *Set {
	var b SetBuilder
	for _, t := range traces {
		b.Add(t)
	}
	return b.Set()
}

// Share makes all traces use the tables of s, which must be complete.
func (s *Set) Share() {
	for i := range s.Traces {
		s.Traces[i].Trie, s.Traces[i].set = *s.Snapshot(), s
	}
}

// Set returns the set whose tables t uses, or nil if t has its own. Data derived from the tables of
// a set is valid for all of its traces.
func (t *Trace) Set() *Set {
	s := t.set
	same := s != nil && len(t.Nodes) == len(s.Nodes) && len(t.Frames) == len(s.Frames) &&
		len(t.Strings) == len(s.Strings) && &t.Nodes[0] == &s.Nodes[0] &&
		&t.Strings[0] == &s.Strings[0] && (len(t.Frames) == 0 || &t.Frames[0] == &s.Frames[0])
	if !same {
		return nil // the tables were replaced
	}
	return s
}

// Canonical returns s with its tables in canonical order: nodes by their first use, trace by trace,
// as in [Trace.Canonical]; frames unique and sorted.
func (s *Set) Canonical() *Set {
	var v visits
	v.begin(&s.Trie)
	order := make([]NodeID, 0, len(s.Nodes))
	for i := range s.Traces {
		order = s.appendNodes(order, i, &v)
	}
	tables, nodeOf, _ := s.renumber(order)
	out := &Set{Trie: *tables, Traces: slices.Clone(s.Traces), Unused: make([][]NodeID, len(s.Traces))}
	for i := range out.Traces {
		out.Traces[i].renumberSamples(nodeOf)
		for _, n := range s.Unused[i] {
			out.Unused[i] = append(out.Unused[i], nodeOf[n])
		}
	}
	out.Share()
	return out
}

// Trace returns a trace in canonical form, with its own tables.
func (s *Set) Trace(i int) *Trace {
	var v visits
	v.begin(&s.Trie)
	t := s.Traces[i]
	tables, nodeOf, _ := s.renumber(s.appendNodes(nil, i, &v))
	t.Trie, t.set = *tables, nil
	t.renumberSamples(nodeOf)
	return &t
}

// appendNodes appends the nodes of trace i that were not seen before.
func (s *Set) appendNodes(order []NodeID, i int, v *visits) []NodeID {
	for _, x := range s.Traces[i].Samples {
		order = append(order, v.to(x.Node)...)
	}
	for _, n := range s.Unused[i] {
		order = append(order, v.to(n)...)
	}
	return order
}

// renumberSamples gives t its own samples with the new numbers of their nodes.
func (t *Trace) renumberSamples(nodeOf []NodeID) {
	t.Samples = slices.Clone(t.Samples)
	for i := range t.Samples {
		t.Samples[i].Node = nodeOf[t.Samples[i].Node]
	}
}

// visits lists the nodes of a trie in the order in which they are first seen.
type visits struct {
	of   *Trie
	seen []uint32 // by node: the round in which it was seen
	now  uint32
	path []NodeID
}

// begin marks all nodes of a trie as unseen.
func (v *visits) begin(of *Trie) {
	v.of = of
	if v.now++; v.now == 0 || len(v.seen) < len(of.Nodes) {
		v.seen, v.now = zeroed(v.seen, max(len(of.Nodes), 1)), 1
	}
	v.seen[Root] = v.now
}

// to returns n and its ancestors that were not seen before, parents first. The result is valid
// until the next call.
func (v *visits) to(n NodeID) []NodeID {
	v.path = v.path[:0]
	for ; v.seen[n] != v.now; n = v.of.Nodes[n].Parent {
		v.seen[n] = v.now
		v.path = append(v.path, n)
	}
	slices.Reverse(v.path)
	return v.path
}
