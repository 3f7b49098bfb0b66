package query

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Tree is a call tree in columns, for viewers: node i is named by frame Label[i] and is
// Level[i] calls below the root, and its callees follow it, the heaviest first. The root
// is not in it. The total of a node is its self time and that of all that follow it on
// deeper levels.
type Tree struct {
	Unit    string   `json:"unit"` // "us": microseconds, summed over the page views
	Views   int64    `json:"views"`
	Traces  int64    `json:"traces"`
	Total   int64    `json:"total_us"` // of all nodes
	Strings []string `json:"strings"`
	// Frames are columns, too: indexes into Strings, and numbers from 1, or 0 where they are
	// not known.
	Frames TreeFrames `json:"frames"`
	Label  []int      `json:"label"`
	Level  []int      `json:"level"`
	Self   []int64    `json:"self"`
	// Base is the second side, if there is one.
	Base *TreeSide `json:"base,omitempty"`
	// Root are the frames from the root to the node that was asked for; the first node
	// of the tree is that node. Empty if all was asked for.
	Root []int `json:"root,omitempty"`
	// Others are the nodes that stand for what was pruned: with the parameter root of the
	// key, a tree begins at the parent of such a node, and shows what is in it.
	Others []TreeOther `json:"others,omitempty"`
	Pruned TreePruned  `json:"pruned"`
	Stats  Stats       `json:"stats"`
}

// TreeFrames are the frames of a Tree.
type TreeFrames struct {
	Name     []int    `json:"name"`
	Resource []int    `json:"resource"`
	Line     []uint32 `json:"line"`
	Column   []uint32 `json:"column"`
}

// TreeSide is what the nodes of a Tree have in another selection.
type TreeSide struct {
	Views  int64   `json:"views"`
	Traces int64   `json:"traces"`
	Total  int64   `json:"total_us"`
	Self   []int64 `json:"self"`
	Stats  Stats   `json:"stats"`
}

// TreeOther is a node that stands for others.
type TreeOther struct {
	Node int    `json:"node"`
	Key  string `json:"key"`
}

// TreePruned says what is folded into (other) nodes.
type TreePruned struct {
	Nodes int   `json:"nodes"`
	Self  int64 `json:"self_us"`
}

// twoSides is a profile and another one beside it, on one trie.
type twoSides struct {
	*trie.Profile
	both bool
}

const sideLabel = "side"

// besides puts the profiles a and, if it is not nil, b on one trie, each as one group.
func besides(a, b *trie.Profile) twoSides {
	m := trie.NewMerger()
	add := func(p *trie.Profile, side string) {
		flat := trie.Profile{Trie: p.Trie, Views: p.Views, Traces: p.Traces}
		g := flat.Group(trie.Labels{{Key: sideLabel, Value: side}})
		weights, coverage := p.Flat()
		g.Coverage = coverage
		for n, w := range weights {
			if !w.IsZero() {
				g.Weights.Add(trie.NodeID(n), w)
			}
		}
		m.AddProfile(&flat)
	}
	add(a, "a")
	if b != nil {
		add(b, "b")
	}
	return twoSides{m.Profile(), b != nil}
}

// self returns the self times of a side, by node.
func (s twoSides) self(i int) []int64 {
	out := make([]int64, len(s.Nodes))
	for n, w := range s.Groups[i].Weights.All() {
		out[n] = w.Self
	}
	return out
}

// nodeKeys returns a key for each node, which only its stack decides.
func nodeKeys(t *trie.Trie) []uint64 {
	keys := make([]uint64, len(t.Nodes))
	frames := make([]uint64, len(t.Frames))
	for i := range frames {
		f := t.FrameOf(trie.FrameID(i))
		h := fnv.New64a()
		fmt.Fprintf(h, "%q%q%d:%d", f.Name, f.Resource, f.Line, f.Column)
		frames[i] = h.Sum64()
	}
	for i := 1; i < len(keys); i++ {
		x := (keys[t.Nodes[i].Parent] ^ frames[t.Nodes[i].Frame]) + 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9 // the finalizer of SplitMix64: Steele et al., 2014
		x = (x ^ x>>27) * 0x94d049bb133111eb
		keys[i] = x ^ x>>31
	}
	return keys
}

// below returns s with nothing but the node that has a key, what it calls, and what calls
// it, which has no weight; and the node.
func (s twoSides) below(key string) (twoSides, error) {
	var want uint64
	if _, err := fmt.Sscanf(key, "%x", &want); err != nil || len(key) > 16 {
		return s, refuse("parameter root: %q is not the key of a node, as trees give them for (other) nodes", key)
	}
	i := slices.Index(nodeKeys(&s.Trie), want)
	if i == int(trie.Root) {
		return s, nil
	}
	if i < 0 {
		return s, refuse("parameter root: no node has the key %s here; it is that of another selection", key)
	}
	root := trie.NodeID(i)
	inside := make([]bool, len(s.Nodes))
	inside[root] = true
	for n := i + 1; n < len(s.Nodes); n++ {
		inside[n] = inside[s.Nodes[n].Parent]
	}
	out := trie.Profile{Trie: s.Trie, Views: s.Views, Traces: s.Traces, Groups: make([]trie.Group, len(s.Groups))}
	for i, g := range s.Groups {
		out.Groups[i].Labels, out.Groups[i].Coverage = g.Labels, g.Coverage
		for n, w := range g.Weights.All() {
			if inside[n] {
				out.Groups[i].Weights.Add(n, w)
			}
		}
	}
	return twoSides{&out, s.both}, nil
}

// treeOf returns the tree of a profile and, unless it is nil, another one, pruned to about
// maxNodes nodes. root is the key of the node to begin with, or "".
func treeOf(a, b *trie.Profile, root string, maxNodes int) (Tree, error) {
	s := besides(a, b)
	if root != "" {
		var err error
		if s, err = s.below(root); err != nil {
			return Tree{}, err
		}
	}
	used := len(s.used())
	pruned := twoSides{s.Prune(maxNodes), s.both}
	t := Tree{Unit: "us", Views: a.Views, Traces: a.Traces, Label: []int{}, Level: []int{}, Self: []int64{}}
	self := pruned.self(0)
	var base []int64
	if s.both {
		t.Base = &TreeSide{Views: b.Views, Traces: b.Traces, Self: []int64{}}
		base = pruned.self(1)
	}
	w := treeWriter{Tree: &t, p: pruned.Profile, self: self, base: base, frames: map[trie.FrameID]int{}, strings: map[string]int{}}
	w.write(root)
	t.Pruned.Nodes = max(used-(len(t.Label)-len(t.Others)), 0)
	return t, nil
}

// used returns the nodes that have weight, or below which there is some.
func (s twoSides) used() (nodes []trie.NodeID) {
	used := make([]bool, len(s.Nodes))
	for i := range s.Groups {
		for n := range s.Groups[i].Weights.All() {
			used[n] = true
		}
	}
	for n := len(used) - 1; n > 0; n-- {
		if used[n] {
			used[s.Nodes[n].Parent] = true
			nodes = append(nodes, trie.NodeID(n))
		}
	}
	return nodes
}

// treeWriter writes the nodes of a profile into a Tree.
type treeWriter struct {
	*Tree
	p          *trie.Profile
	self, base []int64
	frames     map[trie.FrameID]int
	strings    map[string]int
}

func (w *treeWriter) write(root string) {
	p := w.p
	size := make([]int64, len(p.Nodes)) // of both sides, to order and to leave out by
	used := make([]bool, len(p.Nodes))
	for i := len(p.Nodes) - 1; i > 0; i-- {
		size[i] += w.self[i]
		used[i] = used[i] || w.self[i] != 0
		if w.base != nil {
			size[i] += w.base[i]
			used[i] = used[i] || w.base[i] != 0
		}
		size[p.Nodes[i].Parent] += size[i]
		used[p.Nodes[i].Parent] = used[p.Nodes[i].Parent] || used[i]
	}
	children := make([][]trie.NodeID, len(p.Nodes))
	for i := 1; i < len(p.Nodes); i++ {
		if used[i] {
			children[p.Nodes[i].Parent] = append(children[p.Nodes[i].Parent], trie.NodeID(i))
		}
	}
	for _, c := range children {
		slices.SortFunc(c, func(a, b trie.NodeID) int {
			return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b))
		})
	}
	keys := nodeKeys(&p.Trie)
	type at struct {
		node  trie.NodeID
		level int
	}
	stack := []at{}
	push := func(n trie.NodeID, level int) {
		for _, c := range slices.Backward(children[n]) {
			stack = append(stack, at{c, level})
		}
	}
	push(trie.Root, 0)
	if root != "" && root != fmt.Sprintf("%016x", keys[trie.Root]) { // down to the node, which alone has used descendants on each level
		for len(stack) == 1 && fmt.Sprintf("%016x", keys[stack[0].node]) != root {
			n := stack[0].node
			w.Root = append(w.Root, w.frame(p.Nodes[n].Frame))
			stack = stack[:0]
			push(n, 0)
		}
	}
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		w.node(x.node, x.level, keys)
		push(x.node, x.level+1)
	}
}

func (w *treeWriter) node(n trie.NodeID, level int, keys []uint64) {
	x := w.p.Nodes[n]
	if w.p.FrameOf(x.Frame) == (trie.Frame{Name: trie.FrameOther}) {
		w.Others = append(w.Others, TreeOther{len(w.Label), fmt.Sprintf("%016x", keys[x.Parent])})
		w.Pruned.Self += w.self[n]
	}
	w.Label = append(w.Label, w.frame(x.Frame))
	w.Level = append(w.Level, level)
	w.Self = append(w.Self, w.self[n])
	w.Total += w.self[n]
	if w.base != nil {
		w.Base.Self = append(w.Base.Self, w.base[n])
		w.Base.Total += w.base[n]
	}
}

func (w *treeWriter) frame(id trie.FrameID) int {
	i, ok := w.frames[id]
	if !ok {
		f := w.p.FrameOf(id)
		i = len(w.Frames.Name)
		w.frames[id] = i
		w.Frames.Name = append(w.Frames.Name, w.text(f.Name))
		w.Frames.Resource = append(w.Frames.Resource, w.text(f.Resource))
		w.Frames.Line = append(w.Frames.Line, f.Line)
		w.Frames.Column = append(w.Frames.Column, f.Column)
	}
	return i
}

func (w *treeWriter) text(s string) int {
	i, ok := w.strings[s]
	if !ok {
		i = len(w.Strings)
		w.strings[s] = i
		w.Strings = append(w.Strings, s)
	}
	return i
}
