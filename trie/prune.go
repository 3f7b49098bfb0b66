package trie

import "slices"

// Prune returns p with at most about maxNodes nodes: those with the largest total self time, over
// all groups, and their ancestors. The pruned nodes below a remaining node become one child of it,
// (other), with their self time and samples, so totals do not change. The reach of (other) is the
// largest reach of its nodes: a lower bound of the page views that reached any of them. The (other)
// nodes are in addition to maxNodes.
func (p *Profile) Prune(maxNodes int) *Profile {
	flat, _ := p.Flat()
	total := p.Totals(flat)
	keep := heaviest(p.Nodes, total, maxNodes)

	out := NewProfile()
	out.Views, out.Traces = p.Views, p.Traces
	other := out.Intern(Frame{Name: FrameOther})
	nodeOf := make([]NodeID, len(p.Nodes))
	folded := make([]bool, len(p.Nodes))
	for i := 1; i < len(p.Nodes); i++ {
		n := p.Nodes[i]
		switch {
		case folded[n.Parent]:
			nodeOf[i], folded[i] = nodeOf[n.Parent], true
		case !keep[i]:
			nodeOf[i], folded[i] = out.Child(nodeOf[n.Parent], other), true
		default:
			nodeOf[i] = out.Child(nodeOf[n.Parent], out.Intern(p.FrameOf(n.Frame)))
		}
	}
	out.Groups = make([]Group, len(p.Groups))
	for i := range p.Groups {
		from, to := &p.Groups[i], &out.Groups[i]
		to.Labels, to.Coverage = from.Labels, from.Coverage
		for n, w := range from.Weights.All() {
			id := nodeOf[n]
			if out.Nodes[id].Frame == other {
				// The larger absolute value, since a difference may be negative.
				if have := to.Weights.Of(id).Reach; compareSize(w.Reach, have) > 0 {
					w.Reach -= have
				} else {
					w.Reach = 0
				}
			}
			to.Weights.Add(id, w)
		}
	}
	return out
}

// heaviest marks the n nodes with the largest totals. Without negative weights, no node is heavier
// than its parent; negative totals count by absolute value. The ancestors of a marked node are
// marked, too.
func heaviest(nodes []Node, total []Weight, n int) []bool {
	order := make([]NodeID, 0, len(nodes))
	for i := 1; i < len(nodes); i++ {
		order = append(order, NodeID(i))
	}
	slices.SortStableFunc(order, func(a, b NodeID) int {
		return compareSize(total[b].Self, total[a].Self)
	})
	keep := make([]bool, len(nodes))
	for _, id := range order[:min(max(n, 0), len(order))] {
		keep[id] = true
	}
	for i := len(nodes) - 1; i > 0; i-- {
		if keep[i] {
			keep[nodes[i].Parent] = true
		}
	}
	return keep
}

// compareSize compares a and b without their signs.
func compareSize(a, b int64) int {
	size := func(v int64) uint64 {
		if v < 0 {
			return uint64(-v)
		}
		return uint64(v)
	}
	x, y := size(a), size(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
