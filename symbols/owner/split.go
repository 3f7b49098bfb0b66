package owner

import (
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Split returns p with each group split by owner: the group of an owner has the samples in which a
// function of the owner was running, whatever its callers. The groups have an additional label key
// with the text of [Owner.Frame].
//
// Self times and samples add up to the values of the original group. So does the coverage: time
// without a stack stays in a group without an owner. Each new group has the page views and traces
// of the original group. The reach of a node is an upper bound, because it is unknown in which page
// views an owner ran below it: at most the reach of the original node, and at most the sum of the
// nodes below it.
func Split(p *trie.Profile, key string, of func(trie.Frame) Owner) *trie.Profile {
	out := &trie.Profile{Trie: p.Trie, Views: p.Views, Traces: p.Traces}
	owners := make([]string, len(p.Frames))
	for i := range owners {
		owners[i] = of(p.FrameOf(trie.FrameID(i))).Frame().Name
	}
	reach := make([]int64, len(p.Nodes))
	for i := range p.Groups {
		from := &p.Groups[i]
		rest := from.Coverage
		rest.Views, rest.Traces = 0, 0
		if rest != (trie.Coverage{}) {
			out.Group(from.Labels).Coverage = from.Coverage
		}
		for _, name := range ownersOf(p, from, owners) {
			l := append(slices.Clone(from.Labels), trie.Label{Key: key, Value: name}).Sort()
			g := out.Group(l)
			g.Coverage.Views, g.Coverage.Traces = from.Coverage.Views, from.Coverage.Traces
			clear(reach)
			for n := len(p.Nodes) - 1; n > 0; n-- {
				w := from.Weights.Of(trie.NodeID(n))
				own := owners[p.Nodes[n].Frame] == name && (w.Self != 0 || w.Samples != 0)
				if own {
					reach[n] = w.Reach
				} else {
					w.Self, w.Samples = 0, 0
				}
				if w.Reach = min(w.Reach, reach[n]); own || w.Reach != 0 {
					g.Weights.Add(trie.NodeID(n), w)
					reach[p.Nodes[n].Parent] += w.Reach
				}
			}
		}
	}
	return out
}

// ownersOf returns the owners with time in a group, sorted.
func ownersOf(p *trie.Profile, g *trie.Group, owners []string) (names []string) {
	seen := map[string]bool{}
	for n, w := range g.Weights.All() {
		if name := owners[p.Nodes[n].Frame]; (w.Self != 0 || w.Samples != 0) && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
