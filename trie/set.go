package trie

import "slices"

// Set is traces whose tables are one: those of each of Traces are the set's, and have more nodes than the trace.
// [Set.Trace] returns a trace with tables of its own. The tables of a set never change: see [Trace.Set].
type Set struct {
	Trie
	Traces []Trace
	Unused [][]NodeID // by trace: its nodes in and below which it has no samples, parents first

	visits visits
	nodeOf []NodeID  // by node of the set: that of the trace which Trace returned last
	frames []FrameID // by frame of the set: one more than that of this trace, 0 if it has none
}

// NewSet returns traces as a set. They are not changed, and must not be gapless. As in a merge, equal nodes of a
// trace become one, and fields of the binary format that this version does not know are left out.
func NewSet(traces []*Trace) *Set {
	s := &Set{Trie: *New(), Traces: make([]Trace, len(traces)), Unused: make([][]NodeID, len(traces))}
	g := NewGrafter(&s.Trie, 0)
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
			s.Unused[i] = append(s.Unused[i], s.visits.to(g.nodes[n]-1)...)
		}
	}
	s.Share()
	return s
}

// Share gives all traces the tables of s, which is complete.
func (s *Set) Share() {
	for i := range s.Traces {
		s.Traces[i].Trie, s.Traces[i].set = *s.Snapshot(), s
	}
}

// Set returns the set whose tables t has, or nil if they are its own. What was found out of the tables of a set holds for all
// of its traces.
func (t *Trace) Set() *Set {
	s := t.set
	same := s != nil && len(t.Nodes) == len(s.Nodes) && len(t.Frames) == len(s.Frames) && len(t.Strings) == len(s.Strings) && &t.Nodes[0] == &s.Nodes[0] &&
		&t.Strings[0] == &s.Strings[0] && (len(t.Frames) == 0 || &t.Frames[0] == &s.Frames[0])
	if !same {
		return nil // somebody has replaced the tables
	}
	return s
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
		for _, n := range s.Unused[i] {
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
	out.Share()
	return out
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
	for _, n := range s.Unused[i] {
		add(s.visits.to(n))
	}
	t.Trie, t.set = Trie{Strings: s.Strings, Frames: frames, Nodes: nodes}, nil
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
