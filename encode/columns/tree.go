// Package columns writes call trees as columns of numbers: preorder, with the level of each
// node. Viewers draw them without an object for each node.
package columns

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Tree is a call tree in columns. Node i has frame Label[i] and is Level[i] calls below the root;
// its callees follow it, heaviest first. The root is not included. The total of a node is its self
// time plus the self times of all following nodes on deeper levels.
type Tree struct {
	Unit   string `json:"unit"` // "us": microseconds, summed over the page views
	Views  int64  `json:"views"`
	Traces int64  `json:"traces"`
	Total  int64  `json:"total_us"` // of all nodes
	Names
	Label []int   `json:"label"`
	Level []int   `json:"level"`
	Self  []int64 `json:"self"`
	// Base is the second side, if there is one.
	Base *Side `json:"base,omitempty"`
	// Root are the frames from the root to the requested node, which is the first node of the
	// tree. Empty for the whole tree.
	Root   []int  `json:"root,omitempty"`
	Pruned Pruned `json:"pruned"`
}

// Side is the weight of the nodes of a [Tree] in another profile.
type Side struct {
	Views  int64   `json:"views"`
	Traces int64   `json:"traces"`
	Total  int64   `json:"total_us"`
	Self   []int64 `json:"self"`
}

// Pruned describes the content of (other) nodes. A [Tree] whose root is the parent of one, see
// [Key], shows its content.
type Pruned struct {
	Nodes int   `json:"nodes"`
	Self  int64 `json:"self_us"`
}

// twoSides are two profiles on one trie.
type twoSides struct {
	*trie.Profile
	both bool
}

const sideLabel = "side"

// besides puts the profiles a and, if it is not nil, b on one trie, each as one group.
func besides(a, b *trie.Profile) twoSides {
	m := trie.NewMerger()
	m.AddProfile(OneGroup(a, trie.MakeLabels(sideLabel, "a")))
	if b != nil {
		m.AddProfile(OneGroup(b, trie.MakeLabels(sideLabel, "b")))
	}
	return twoSides{m.Profile(), b != nil}
}

// OneGroup returns a profile with all groups combined into one with these labels, so that profiles
// can be merged and still be distinguished.
func OneGroup(p *trie.Profile, labels trie.Labels) *trie.Profile {
	out := &trie.Profile{Trie: p.Trie, Views: p.Views, Traces: p.Traces}
	g := out.Group(labels)
	weights, coverage := p.Flat()
	g.Coverage = coverage
	for n, w := range weights {
		if !w.IsZero() {
			g.Weights.Add(trie.NodeID(n), w)
		}
	}
	return out
}

// self returns the self times of a side, by node.
func (s twoSides) self(i int) []int64 {
	out := make([]int64, len(s.Nodes))
	for n, w := range s.Groups[i].Weights.All() {
		out[n] = w.Self
	}
	return out
}

// Key returns the key of the node with these frames, root first: 16 hexadecimal digits, the
// 64-bit FNV-1a hash of the frames, each as NAME NUL RESOURCE NUL LINE:COLUMN LF. It depends
// only on the stack, so viewers can compute it.
func Key(stack ...trie.Frame) string {
	key := uint64(fnvOffset)
	for _, f := range stack {
		key = appendKey(key, frameText(f))
	}
	return fmt.Sprintf("%016x", key)
}

// The constants of FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/.
const (
	fnvOffset = 0xcbf29ce484222325
	fnvPrime  = 0x100000001b3
)

func appendKey(key uint64, text string) uint64 {
	for i := range len(text) {
		key = (key ^ uint64(text[i])) * fnvPrime
	}
	return key
}

func frameText(f trie.Frame) string {
	return fmt.Sprintf("%s\x00%s\x00%d:%d\n", f.Name, f.Resource, f.Line, f.Column)
}

func nodeKeys(t *trie.Trie) []uint64 {
	texts := make([]string, len(t.Frames))
	for i := range texts {
		texts[i] = frameText(t.FrameOf(trie.FrameID(i)))
	}
	keys := make([]uint64, len(t.Nodes))
	keys[trie.Root] = fnvOffset
	for i := 1; i < len(keys); i++ {
		keys[i] = appendKey(keys[t.Nodes[i].Parent], texts[t.Nodes[i].Frame])
	}
	return keys
}

// below returns s reduced to the node with this key, its descendants, and its ancestors without
// weight. It also returns the node.
func (s twoSides) below(key string) (twoSides, error) {
	var want uint64
	if _, err := fmt.Sscanf(key, "%x", &want); err != nil || len(key) != 16 {
		return s, fmt.Errorf("%q is not the key of a node: 16 hexadecimal digits", key)
	}
	i := slices.Index(nodeKeys(&s.Trie), want)
	if i == int(trie.Root) {
		return s, nil
	}
	if i < 0 {
		return s, fmt.Errorf("no node has the key %s in this selection", key)
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

// Of returns the tree of a profile and, unless it is nil, another one, pruned to about maxNodes
// nodes. root is the key of the first node, or "". An unknown key is an error.
func Of(a, b *trie.Profile, root string, maxNodes int) (Tree, error) {
	s := besides(a, b)
	if root != "" {
		var err error
		if s, err = s.below(root); err != nil {
			return Tree{}, err
		}
	}
	used := s.used()
	pruned := twoSides{s.Prune(maxNodes), s.both}
	t := Tree{
		Unit: "us", Views: a.Views, Traces: a.Traces,
		Names: NewNames(),
		Label: []int{}, Level: []int{}, Self: []int64{}, // [] in JSON instead of null
	}
	self := pruned.self(0)
	var base []int64
	if s.both {
		t.Base = &Side{Views: b.Views, Traces: b.Traces, Self: []int64{}}
		base = pruned.self(1)
	}
	w := writer{Tree: &t, p: pruned.Profile, self: self, base: base, frames: map[trie.FrameID]int{}}
	w.write(root)
	t.Pruned.Nodes = max(used-(len(t.Label)-w.others), 0)
	return t, nil
}

// used returns how many nodes have time in themselves or below.
func (s twoSides) used() (n int) {
	used := make([]bool, len(s.Nodes))
	for i := range s.Groups {
		for n, w := range s.Groups[i].Weights.All() {
			used[n] = used[n] || w.Self != 0
		}
	}
	for i := len(used) - 1; i > 0; i-- {
		if used[i] {
			used[s.Nodes[i].Parent] = true
			n++
		}
	}
	return n
}

// writer writes the nodes of a profile into a Tree.
type writer struct {
	*Tree
	p          *trie.Profile
	self, base []int64
	frames     map[trie.FrameID]int
	others     int // nodes
}

func (w *writer) write(root string) {
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
	if root != "" && root != Key() { // down to the node, which alone has used descendants on each level
		keys := nodeKeys(&p.Trie)
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
		w.node(x.node, x.level)
		push(x.node, x.level+1)
	}
}

func (w *writer) node(n trie.NodeID, level int) {
	x := w.p.Nodes[n]
	if w.p.FrameOf(x.Frame) == (trie.Frame{Name: trie.FrameOther}) {
		w.others++
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

func (w *writer) frame(id trie.FrameID) int {
	i, ok := w.frames[id]
	if !ok {
		i = w.Add(w.p.FrameOf(id))
		w.frames[id] = i
	}
	return i
}
