// Package calls returns the callers and callees of functions in a profile.
package calls

import "github.com/fieldtrie/fieldtrie/trie"

// Callees returns the callees of the frames that is selects. Each selected frame is a root;
// below it are all its callees, whatever its callers. Where selected frames call each
// other, a moment counts once, below the outermost. Groups stay apart, with the coverage of
// p.
func Callees(p *trie.Profile, is func(trie.Frame) bool) *trie.Profile {
	return around(p, is, func(out *trie.Profile, outer []trie.NodeID) []trie.NodeID {
		nodeOf := make([]trie.NodeID, len(p.Nodes))
		for i := 1; i < len(p.Nodes); i++ {
			if outer[i] != trie.Root {
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
func Callers(p *trie.Profile, is func(trie.Frame) bool) *trie.Profile {
	return around(p, is, func(out *trie.Profile, outer []trie.NodeID) []trie.NodeID {
		inverted := make([]trie.NodeID, len(p.Nodes)) // of the outermost
		nodeOf := make([]trie.NodeID, len(p.Nodes))
		for i := 1; i < len(p.Nodes); i++ {
			switch o := outer[i]; o {
			case trie.Root:
			case trie.NodeID(i):
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
func around(p *trie.Profile, is func(trie.Frame) bool, regraft func(*trie.Profile,
	[]trie.NodeID) []trie.NodeID) *trie.Profile {
	chosen := make([]bool, len(p.Frames))
	for i := range chosen {
		chosen[i] = is(p.FrameOf(trie.FrameID(i)))
	}
	outer := make([]trie.NodeID, len(p.Nodes))
	for i := 1; i < len(p.Nodes); i++ {
		n := p.Nodes[i]
		if outer[i] = outer[n.Parent]; outer[i] == trie.Root && chosen[n.Frame] {
			outer[i] = trie.NodeID(i)
		}
	}
	out := trie.NewProfile()
	out.Views, out.Traces = p.Views, p.Traces
	nodeOf := regraft(out, outer)
	out.Groups = make([]trie.Group, len(p.Groups))
	for i := range p.Groups {
		from, to := &p.Groups[i], &out.Groups[i]
		to.Labels, to.Coverage = from.Labels, from.Coverage
		for n, w := range from.Weights.All() {
			if id := nodeOf[n]; id != trie.Root {
				// At least the largest number of page views among the merged nodes.
				w.Reach = max(w.Reach-to.Weights.Of(id).Reach, 0)
				to.Weights.Add(id, w)
			}
		}
	}
	return out
}
