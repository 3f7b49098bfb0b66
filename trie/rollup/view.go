package rollup

import (
	"math/bits"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// view is the page view being added. It numbers its cells from 0, so that a set of them fits into a
// word.
type view struct {
	sign    int64
	share   float64 // sampling share, 0 if unknown
	release string
	stopped bool   // its profiling stopped early
	mask    uint64 // its cells
	cells   []int  // by cell of the view: cell of the record
	sums    []sums // by cell

	nodes []trie.NodeID // nodes with the view
	at    []uint64      // by node of the stack table: its cells
	known []known

	frames []trie.FrameID // frames with the view
	seen   []bool         // by frame
	self   []int64        // by frame, µs
	total  []int64        // by frame, µs; recursion counts once
	outer  []uint8        // by node of the stack table: 1 if no caller has its frame, 2 if one has

	parts []distributed
}

type sums struct{ time, long int64 }

// known is a cached touch.
type known struct {
	mask  uint64
	touch int
}

type distributed struct {
	dist int
	sums
}

// reset forgets the page view, but not the cached data of nodes.
func (v *view) reset() {
	for _, n := range v.nodes {
		v.at[n] = 0
	}
	for _, f := range v.frames {
		v.seen[f], v.self[f], v.total[f] = false, 0, 0
	}
	v.nodes, v.frames = v.nodes[:0], v.frames[:0]
	v.share, v.release, v.stopped, v.mask = 0, "", false, 0
	v.cells, v.sums, v.known = v.cells[:0], v.sums[:0], v.known[:0]
}

// cellOf returns the view's number of the cell with these labels.
func (v *view) cellOf(b *Builder, l trie.Labels) int {
	c := b.cellOf(l)
	i := slices.Index(v.cells, c)
	if i < 0 && len(v.cells) == 63 { // the last cell is for labels over the limit
		c = b.cellOf(otherLabels())
		i = slices.Index(v.cells, c)
	}
	if i < 0 {
		if len(v.cells) == 64 {
			return 63
		}
		i = len(v.cells)
		v.cells = append(v.cells, c)
		v.sums = append(v.sums, sums{})
	}
	return i
}

// touchOf returns the number of the touch with the cells of mask.
func (v *view) touchOf(b *Builder, mask uint64) int {
	for i := len(v.known) - 1; i >= 0; i-- {
		if v.known[i].mask == mask {
			return v.known[i].touch
		}
	}
	cells := make([]int, 0, 8)
	for m := mask; m != 0; m &= m - 1 {
		cells = append(cells, v.cells[bits.TrailingZeros64(m)])
	}
	slices.Sort(cells)
	t := b.touchOf(cells)
	v.known = append(v.known, known{mask, t})
	return t
}

// touch records that the view was at node n of the stack table in the cells of mask.
func (v *view) touch(b *Builder, n trie.NodeID, mask uint64, self, total int64) {
	v.at, v.outer = extended(v.at, len(b.stacks.Nodes)), extended(v.outer, len(b.stacks.Nodes))
	frames := len(b.stacks.Frames)
	v.seen, v.self, v.total = extended(v.seen, frames), extended(v.self, frames), extended(v.total, frames)
	if v.at[n] == 0 {
		v.nodes = append(v.nodes, n)
	}
	v.at[n] |= mask
	f := b.stacks.Nodes[n].Frame
	if !v.seen[f] {
		v.seen[f] = true
		v.frames = append(v.frames, f)
	}
	v.self[f] += self
	if v.outermost(b.stacks, n) {
		v.total[f] += total
	}
}

func (v *view) outermost(t *trie.Trie, n trie.NodeID) bool {
	if v.outer[n] == 0 {
		v.outer[n] = 1
		for a := t.Nodes[n].Parent; a != trie.Root; a = t.Nodes[a].Parent {
			if t.Nodes[a].Frame == t.Nodes[n].Frame {
				v.outer[n] = 2
				break
			}
		}
	}
	return v.outer[n] == 1
}

// distribute adds the view to the distributions that include it.
func (v *view) distribute(b *Builder) {
	v.parts = v.parts[:0]
	for i, c := range v.cells {
		for _, d := range b.cells[c].dists {
			at := slices.IndexFunc(v.parts, func(p distributed) bool { return p.dist == d })
			if at < 0 {
				at = len(v.parts)
				v.parts = append(v.parts, distributed{dist: d})
			}
			v.parts[at].time += v.sums[i].time
			v.parts[at].long += v.sums[i].long
		}
	}
	weight := population(v.share)
	for _, p := range v.parts {
		b.dists[p.dist].add(p.time, p.long, weight, v.sign)
	}
}

// extended returns s with at least n elements. If it must allocate, it doubles s.
func extended[E any](s []E, n int) []E {
	if n <= len(s) {
		return s
	}
	return append(s, make([]E, max(n, 2*len(s))-len(s))...)
}
