package trie

import "slices"

// Set is traces whose tables are one: those of each of Traces are the set's, and have more nodes than the trace.
// [Set.Trace] returns a trace with tables of its own.
type Set struct {
	Trie
	Traces []Trace
	// Unused are nodes of each trace in and below which it has no samples, parents first; empty if no trace has any.
	Unused [][]NodeID

	visits visits
	nodeOf []NodeID  // by node of the set: that of the trace which Trace returned last
	frames []FrameID // by frame of the set: one more than that of this trace, 0 if it has none
}

// NewSet returns traces as a set. They are not changed, and must not be gapless. As in a merge, equal nodes of a
// trace become one, and fields of the binary format that this version does not know are left out.
func NewSet(traces []*Trace) *Set {
	s := &Set{Trie: *New(), Traces: make([]Trace, len(traces))}
	g := NewGrafter(&s.Trie, 0)
	unused := make([][]NodeID, len(traces))
	for i, t := range traces {
		g.Begin(&t.Trie)
		for n := range t.Nodes {
			g.Node(NodeID(n))
		}
		out := &s.Traces[i]
		*out = *t
		out.Unknown, out.Context.Unknown = nil, nil
		out.Samples = slices.Clone(t.Samples)
		s.visits.begin(&s.Trie)
		for k := range out.Samples {
			to := &out.Samples[k].Node
			*to = g.nodes[*to] - 1
			s.visits.to(*to)
		}
		for n := range t.Nodes {
			unused[i] = append(unused[i], s.visits.to(g.nodes[n]-1)...)
		}
		if len(unused[i]) > 0 {
			s.Unused = unused
		}
	}
	s.share()
	return s
}

// share gives all traces the tables of s.
func (s *Set) share() {
	for i := range s.Traces {
		s.Traces[i].Trie = *s.Snapshot()
	}
}

// Canonical returns s with its tables numbered in one defined way: nodes by their first use, trace by trace, as
// [Trace.Canonical] has them; frames unique and sorted.
func (s *Set) Canonical() *Set {
	var v visits
	v.begin(&s.Trie)
	order := make([]NodeID, 0, len(s.Nodes))
	for i := range s.Traces {
		for _, x := range s.Traces[i].Samples {
			order = append(order, v.to(x.Node)...)
		}
		for _, n := range s.unused(i) {
			order = append(order, v.to(n)...)
		}
	}
	tables, nodeOf, _ := s.renumber(order)
	out := &Set{Trie: *tables, Traces: slices.Clone(s.Traces), Unused: make([][]NodeID, len(s.Unused))}
	for i := range out.Traces {
		t := &out.Traces[i]
		t.Samples = slices.Clone(t.Samples)
		for k := range t.Samples {
			t.Samples[k].Node = nodeOf[t.Samples[k].Node]
		}
	}
	for i := range out.Unused {
		for _, n := range s.Unused[i] {
			out.Unused[i] = append(out.Unused[i], nodeOf[n])
		}
	}
	out.share()
	return out
}

func (s *Set) unused(i int) []NodeID {
	if len(s.Unused) == 0 {
		return nil
	}
	return s.Unused[i]
}

// Trace returns a trace with nodes and frames of its own. It shares strings with the set.
func (s *Set) Trace(i int) *Trace {
	t := s.Traces[i]
	nodes := make([]Node, 1, 1+len(t.Samples))
	var frames []FrameRow
	s.nodeOf, s.frames = extend(s.nodeOf[:0], len(s.Nodes)), zeroed(s.frames, len(s.Frames))
	add := func(list []NodeID) {
		for _, n := range list {
			x := s.Nodes[n]
			if s.frames[x.Frame] == 0 {
				frames = append(frames, s.Frames[x.Frame])
				s.frames[x.Frame] = FrameID(len(frames))
			}
			s.nodeOf[n] = NodeID(len(nodes))
			nodes = append(nodes, Node{s.nodeOf[x.Parent], s.frames[x.Frame] - 1})
		}
	}
	s.nodeOf[Root] = Root
	s.visits.begin(&s.Trie)
	t.Samples = slices.Clone(t.Samples)
	for k := range t.Samples {
		n := t.Samples[k].Node
		add(s.visits.to(n))
		t.Samples[k].Node = s.nodeOf[n]
	}
	for _, n := range s.unused(i) {
		add(s.visits.to(n))
	}
	t.Trie = Trie{Strings: s.Strings, Frames: frames, Nodes: nodes}
	return &t
}

// visits lists the nodes of a trie in the order in which they are first seen.
type visits struct {
	of   *Trie
	seen []uint32 // by node: in which round
	now  uint32
	path []NodeID
}

// begin makes all nodes of a trie unseen.
func (v *visits) begin(of *Trie) {
	v.of = of
	if v.now++; v.now == 0 || len(v.seen) < len(of.Nodes) {
		v.seen, v.now = zeroed(v.seen, max(len(of.Nodes), 1)), 1
	}
	v.seen[Root] = v.now
}

// to returns n and those above it that were not seen before, parents first. They are good until the next call.
func (v *visits) to(n NodeID) []NodeID {
	v.path = v.path[:0]
	for ; v.seen[n] != v.now; n = v.of.Nodes[n].Parent {
		v.seen[n] = v.now
		v.path = append(v.path, n)
	}
	slices.Reverse(v.path)
	return v.path
}
