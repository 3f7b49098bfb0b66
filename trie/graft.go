package trie

// Grafter copies nodes of many tries, one after another, onto a growing trie. Traces of one page
// usually have the same frames and nodes in the same order, so the Grafter looks there first.
type Grafter struct {
	to   *Trie
	from *Trie
	most int  // maximum number of nodes and frames of to; 0: no limit
	full bool // something became (other) because of most

	// From the tables of from to the tables of to. Entries of resources and nodes are the number
	// plus one; 0 is unknown.
	resources []StringID
	frames    []FrameID
	nodes     []NodeID
	last      NodeID // last node found in to
}

// NewGrafter returns a Grafter onto to. Once to has most frames or nodes, anything missing becomes
// the frame (other) below the last existing caller. This at most doubles the nodes of to. A limit
// of 0 means no limit.
func NewGrafter(to *Trie, most int) *Grafter { return &Grafter{to: to, most: most} }

// Close stops growth of the target: from now on, everything missing in it becomes (other).
func (g *Grafter) Close() { g.most = 1 }

// Full reports whether anything became (other) because the target was full.
func (g *Grafter) Full() bool { return g.full }

// Begin makes from the source of nodes, and copies its frames.
func (g *Grafter) Begin(from *Trie) {
	if len(g.to.Nodes) < 2 && g.most == 0 {
		g.to.Grow(len(from.Nodes))
	}
	g.to.lookup()
	g.from = from
	g.resources = zeroed(g.resources, len(from.Strings))
	g.frames = zeroed(g.frames, len(from.Frames))
	g.nodes = zeroed(g.nodes, max(len(from.Nodes), 1))
	g.nodes[Root] = Root + 1
	g.last = Root
	g.mapFrames()
}

// zeroed returns n zeros, reusing s if it is large enough.
func zeroed[E any](s []E, n int) []E { return extend(s[:0], n) }

// mapFrames finds all frames of the input and adds missing ones. It first compares with the frame
// after the last one found.
func (g *Grafter) mapFrames() {
	p, t := g.to, g.from
	guess := FrameID(0)
	for i, r := range t.Frames {
		if g.most > 0 && len(p.Frames) >= g.most {
			g.frames[i] = g.frameIfThere(t.FrameOf(FrameID(i)))
			continue
		}
		if g.resources[r.Resource] == 0 {
			g.resources[r.Resource] = p.internString(t.Strings[r.Resource]) + 1
		}
		resource, name := g.resources[r.Resource]-1, t.Strings[r.Name]
		if int(guess) < len(p.Frames) {
			x := p.Frames[guess]
			if x.Line == r.Line && x.Column == r.Column && x.Resource == resource && p.Strings[x.Name] == name {
				g.frames[i] = guess
				guess++
				continue
			}
		}
		before := len(p.Frames)
		g.frames[i] = p.internFrame(name, resource, r.Line, r.Column)
		if len(p.Frames) == before { // not new, so continue after it
			guess = g.frames[i] + 1
		}
	}
}

// frameIfThere returns the number of f, or the number of (other).
func (g *Grafter) frameIfThere(f Frame) FrameID {
	if id, ok := g.to.findFrameOf(f); ok {
		return id
	}
	g.full = true
	return g.to.Intern(Frame{Name: FrameOther})
}

// Node returns the node of the target for node n of the input, and adds it if it is missing. The
// caller must have called it for the parent of n before.
func (g *Grafter) Node(n NodeID) NodeID {
	if g.nodes[n] == 0 {
		node := g.from.Nodes[n]
		node.Parent, node.Frame = g.nodes[node.Parent]-1, g.frames[node.Frame]
		// Traces of one page visit mostly the same nodes in the same order.
		before := len(g.to.Nodes)
		id := g.last + 1
		if int(id) >= before || g.to.Nodes[id] != node {
			id = g.child(node)
		}
		if len(g.to.Nodes) == before { // not new, so continue after it
			g.last = id
		}
		g.nodes[n] = id + 1
	}
	return g.nodes[n] - 1
}

// Frame returns the number in the target of frame f of the input.
func (g *Grafter) Frame(f FrameID) FrameID { return g.frames[f] }

// OnTop returns the node for a synthetic frame on top of node n of the target.
func (g *Grafter) OnTop(n NodeID, f Frame) NodeID {
	return g.child(Node{n, g.to.Intern(f)})
}

// child returns the node of the target, or (other) once there are too many.
func (g *Grafter) child(n Node) NodeID {
	if g.most == 0 || len(g.to.Nodes) < g.most {
		return g.to.Child(n.Parent, n.Frame)
	}
	g.to.lookup()
	if id, spot := g.to.findChild(n); !spot.free() {
		return id
	}
	g.full = true
	return g.to.Other(n.Parent)
}
