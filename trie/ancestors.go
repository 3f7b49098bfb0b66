package trie

import "math/bits"

// ancestors is a trie that compares two stacks in logarithmic time. A stack may have as many frames
// as there are samples, so walking along each stack would take quadratic time.
//
// Each node has its parent and a link to one ancestor further up. The links have the lengths of
// skew binary numbers, so any ancestor is a logarithmic number of steps away; see Myers, "An
// applicative random-access stack", 1983.
type ancestors struct {
	Trie
	depth []int32  // by node: number of frames in its stack
	jump  []NodeID // by node
}

func newAncestors() *ancestors {
	return &ancestors{Trie: *New(), depth: []int32{0}, jump: []NodeID{Root}}
}

// child is like [Trie.Child].
func (a *ancestors) child(parent NodeID, f FrameID) NodeID {
	n := a.Child(parent, f)
	if int(n) < len(a.depth) {
		return n
	}
	jump := parent
	if j := a.jump[parent]; a.depth[parent]-a.depth[j] == a.depth[j]-a.depth[a.jump[j]] {
		jump = a.jump[j]
	}
	a.depth, a.jump = appendRow(a.depth, a.depth[parent]+1), appendRow(a.jump, jump)
	return n
}

// at returns the ancestor of n, or n itself, at the given depth. n must be at least that deep.
func (a *ancestors) at(n NodeID, depth int) NodeID {
	for a.depth[n] > int32(depth) {
		if j := a.jump[n]; a.depth[j] >= int32(depth) {
			n = j
		} else {
			n = a.Nodes[n].Parent
		}
	}
	return n
}

// common returns how many frames the stacks of two nodes have in common, from the root.
func (a *ancestors) common(x, y NodeID) int {
	if a.depth[x] > a.depth[y] {
		x, y = y, x
	}
	y = a.at(y, int(a.depth[x]))
	for x != y {
		if a.jump[x] != a.jump[y] {
			x, y = a.jump[x], a.jump[y]
		} else {
			x, y = a.Nodes[x].Parent, a.Nodes[y].Parent
		}
	}
	return int(a.depth[x])
}

// rangeMinimum finds the minimum of consecutive values in constant time. It is a sparse table:
// level k has the minimum of each 2^k consecutive values.
type rangeMinimum struct{ levels [][]int32 }

func newRangeMinimum(values []int32) *rangeMinimum {
	r := &rangeMinimum{levels: [][]int32{values}}
	for width := 1; 2*width <= len(values); width *= 2 {
		last := r.levels[len(r.levels)-1]
		next := make([]int32, len(values)-2*width+1)
		for i := range next {
			next[i] = min(last[i], last[i+width])
		}
		r.levels = append(r.levels, next)
	}
	return r
}

// least returns the minimum of the values in [from, to), or the largest int32 for an empty range.
func (r *rangeMinimum) least(from, to int) int {
	if from >= to {
		return 1<<31 - 1
	}
	k := bits.Len(uint(to-from)) - 1
	return int(min(r.levels[k][from], r.levels[k][to-1<<k]))
}
