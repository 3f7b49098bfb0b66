package trie

// Callees returns the callees of the frames that is selects. Each selected frame is a root;
// below it are all its callees, whatever its callers. Where selected frames call each
// other, a moment counts once, below the outermost. Groups stay apart, with the coverage of
// p.
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

// Callers returns the callers of the frames that is selects. Each selected frame is a root;
// below it are its callers, and theirs, down to the root of the stack. The weights are
// those of the calls, including their callees. Where selected frames call each other, a
// moment counts once, for the outermost.
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

// around returns p with its weights on the nodes that regraft makes. regraft gets, for each
// node, the outermost selected node on its stack, or the root.
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
				// At least the largest number of page views among the merged nodes.
				w.Reach = max(w.Reach-to.Weights.Of(id).Reach, 0)
				to.Weights.Add(id, w)
			}
		}
	}
	return out
}
