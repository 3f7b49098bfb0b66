package cause

import (
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/trie"
)

// tree is a profile with the self time of its nodes, in ms per page view.
type tree struct {
	p    *trie.Profile
	self []float64
}

func treeOf(p *trie.Profile) *tree {
	flat, _ := p.Flat()
	t := &tree{p: p, self: make([]float64, len(flat))}
	for i := range flat {
		t.self[i] = perView(flat[i].Self, p.Views)
	}
	return t
}

func perView(us, views int64) float64 { return float64(us) / 1e3 / float64(max(views, 1)) }

// time returns the self time of the frames for which is returns true.
func (t *tree) time(is func(trie.Frame) bool) (ms float64) {
	for n, self := range t.self {
		if self != 0 && is(t.p.Frame(trie.NodeID(n))) {
			ms += self
		}
	}
	return ms
}

// named returns a predicate for a function in a tree: by its place or, if no function is at the
// place, by name and file.
func (t *tree) named(place compare.Place) func(trie.Frame) bool {
	for i := range t.p.Frames {
		if compare.PlaceOf(t.p.FrameOf(trie.FrameID(i))) == place {
			return func(f trie.Frame) bool { return compare.PlaceOf(f) == place }
		}
	}
	file := compare.StableURL(place.Resource)
	return func(f trie.Frame) bool { return f.Name == place.Name && compare.StableURL(f.Resource) == file }
}

// under is the part of the changed time that runs under a part of the code.
type under struct {
	all    float64 // ms, with the part on the stack or as the function itself
	direct float64 // of all: with the part as the function itself or its direct caller
	steps  float64 // stack depth from the functions to the part, weighted by time
}

// split returns, for each part, the time of the frames for which is returns true. partOf returns
// the index of a frame's part, or -1.
func (t *tree) split(is func(trie.Frame) bool, partOf func(trie.Frame) int, parts int) []under {
	out := make([]under, parts)
	of := make([]int, len(t.p.Frames))
	for i := range of {
		of[i] = partOf(t.p.FrameOf(trie.FrameID(i)))
	}
	var seen []int // parts on the current stack
	for n, self := range t.self {
		if self == 0 || n == 0 || !is(t.p.Frame(trie.NodeID(n))) {
			continue
		}
		seen = seen[:0]
	stack:
		for at, step := trie.NodeID(n), 0; at != trie.Root; at, step = t.p.Nodes[at].Parent, step+1 {
			i := of[t.p.Nodes[at].Frame]
			if i < 0 {
				continue
			}
			for _, before := range seen {
				if before == i {
					continue stack
				}
			}
			seen = append(seen, i)
			x := &out[i]
			x.all += self
			x.steps += self * float64(step)
			if step <= 1 {
				x.direct += self
			}
		}
	}
	return out
}
