package trie

import (
	"math/rand/v2"
	"testing"
)

func TestAncestors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a := newAncestors()
	nodes := []NodeID{Root}
	for range 3000 {
		parent := nodes[len(nodes)-1-min(r.IntN(len(nodes)), r.IntN(20))] // most often deep
		nodes = append(nodes, a.child(parent, FrameID(r.IntN(3))))
	}
	path := func(n NodeID) (frames []NodeID) { // root first
		for ; n != Root; n = a.Nodes[n].Parent {
			frames = append([]NodeID{n}, frames...)
		}
		return frames
	}
	for range 3000 {
		x, y := nodes[r.IntN(len(nodes))], nodes[r.IntN(len(nodes))]
		p, q := path(x), path(y)
		want := 0
		for want < len(p) && want < len(q) && p[want] == q[want] {
			want++
		}
		if got := a.common(x, y); got != want || int(a.depth[x]) != len(p) {
			t.Fatalf("nodes %d and %d: %d of %d and %d frames in common, want %d", x, y, got, a.depth[x],
				a.depth[y], want)
		}
		if depth := r.IntN(len(p) + 1); depth > 0 && a.at(x, depth) != p[depth-1] || a.at(x, 0) != Root {
			t.Fatalf("node %d: ancestor at %d is %d", x, depth, a.at(x, depth))
		}
	}
}
