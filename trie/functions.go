package trie

import (
	"cmp"
	"slices"
	"strings"
)

// Function is a frame with the weights of all nodes that call it.
type Function struct {
	Frame
	Self, Total int64 // µs; Total counts each moment once, also under recursion
	Samples     int64 // self samples
	Reach       int64 // lower bound of the page views with it: the largest reach of its nodes
}

// Weightless reports whether f has no weight.
func (f Function) Weightless() bool { return f.Self == 0 && f.Total == 0 && f.Samples == 0 }

// Functions returns the weight of each frame of p over all groups, sorted by self time, then total,
// largest first, then by [CompareFrames]. Frames without weight are omitted.
func (p *Profile) Functions() []Function {
	flat, _ := p.Flat()
	out := slices.DeleteFunc(p.WeighFrames(flat, p.Totals(flat)), Function.Weightless)
	slices.SortFunc(out, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), CompareFrames(a.Frame, b.Frame))
	})
	return out
}

// WeighFrames returns the weight of each frame of t, by frame number. flat and total are the
// weights of the nodes.
func (t *Trie) WeighFrames(flat, total []Weight) []Function {
	out := make([]Function, len(t.Frames))
	open := make([]int, len(t.Frames)) // by frame: occurrences on the current stack
	var stack []NodeID
	for n, depth := range t.Preorder() {
		for len(stack) >= depth {
			open[t.Nodes[stack[len(stack)-1]].Frame]--
			stack = stack[:len(stack)-1]
		}
		frame := t.Nodes[n].Frame
		f := &out[frame]
		f.Self += flat[n].Self
		f.Samples += flat[n].Samples
		f.Reach = max(f.Reach, flat[n].Reach)
		if open[frame] == 0 {
			f.Total += total[n].Self
		}
		open[frame]++
		stack = append(stack, n)
	}
	for i := range out {
		out[i].Frame = t.FrameOf(FrameID(i))
	}
	return out
}

// CompareFrames orders frames by place, then by name.
func CompareFrames(a, b Frame) int {
	return cmp.Or(strings.Compare(a.Resource, b.Resource), cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column), strings.Compare(a.Name, b.Name))
}
