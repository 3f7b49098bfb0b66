package trie

// Callees returns what the frames that is chooses call: each is a root, and below it is all
// that it called, wherever it was called from. A moment counts once, also if they call each
// other: below the outermost. Groups stay apart; their coverage is that of p.
func (p *Profile) Callees(is func(Frame) bool) *Profile {
	return p.around(is, func(out *Profile, outer []NodeID) []NodeID {
		nodeOf := make([]NodeID, len(p.Nodes))
		for i := 1; i < len(p.Nodes); i++ {
			if outer[i] != Root {
				up := nodeOf[p.Nodes[i].Parent] // the root for the outermost
				nodeOf[i] = out.Child(up, out.Intern(p.FrameOf(p.Nodes[i].Frame)))
			}
		}
		return nodeOf
	})
}

// Callers returns who calls the frames that is chooses: each is a root, and below it are
// its callers, and theirs, the root of the stack last. The weights are those of the calls,
// with what they called. A moment counts once, also if they call each other: for the
// outermost.
func (p *Profile) Callers(is func(Frame) bool) *Profile {
	return p.around(is, func(out *Profile, outer []NodeID) []NodeID {
		inverted := make([]NodeID, len(p.Nodes)) // of the outermost
		nodeOf := make([]NodeID, len(p.Nodes))
		for i := 1; i < len(p.Nodes); i++ {
			switch o := outer[i]; o {
			case Root:
			case NodeID(i):
				for a := range p.Stack(o) {
					inverted[i] = out.Child(inverted[i], out.Intern(p.Frame(a)))
				}
				nodeOf[i] = inverted[i]
			default:
				nodeOf[i] = inverted[o]
			}
		}
		return nodeOf
	})
}

// around returns p with its weights on the nodes that regraft makes. It gets for each node
// the outermost one on its stack that is chooses, or the root.
func (p *Profile) around(is func(Frame) bool, regraft func(*Profile, []NodeID) []NodeID) *Profile {
	chosen := make([]bool, len(p.Frames))
	for i := range chosen {
		chosen[i] = is(p.FrameOf(FrameID(i)))
	}
	outer := make([]NodeID, len(p.Nodes))
	for i := 1; i < len(p.Nodes); i++ {
		n := p.Nodes[i]
		if outer[i] = outer[n.Parent]; outer[i] == Root && chosen[n.Frame] {
			outer[i] = NodeID(i)
		}
	}
	out := NewProfile()
	out.Views, out.Traces = p.Views, p.Traces
	nodeOf := regraft(out, outer)
	out.Groups = make([]Group, len(p.Groups))
	for i := range p.Groups {
		from, to := &p.Groups[i], &out.Groups[i]
		to.Labels, to.Coverage = from.Labels, from.Coverage
		for n, w := range from.Weights.All() {
			if id := nodeOf[n]; id != Root {
				// At least as many page views as the most of the nodes that become one.
				w.Reach = max(w.Reach-to.Weights.Of(id).Reach, 0)
				to.Weights.Add(id, w)
			}
		}
	}
	return out
}
