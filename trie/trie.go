package trie

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// NodeID numbers the nodes of one trie.
type NodeID uint32

// Root is the node that has no frame and no parent. A sample at Root has no stack.
const Root NodeID = 0

// FrameID numbers the frames of one trie.
type FrameID uint32

// StringID numbers the strings of one trie; 0 is the empty string.
type StringID uint32

// Frame is a function: a name and the place of its definition.
type Frame struct {
	Name     string // "" for an anonymous function
	Resource string // URL of the script; "" if none, as for DOM calls
	Line     uint32 // 1-based line of the definition; 0 if unknown
	Column   uint32 // 1-based column of the definition; 0 if unknown
}

// String returns the name, or "(anonymous)", and the known parts of the place of the definition:
// "render https://example.com/app.js:3:14".
func (f Frame) String() string {
	text := cmp.Or(f.Name, "(anonymous)")
	if f.Resource == "" {
		return text
	}
	text += " " + f.Resource
	if f.Line > 0 {
		text += fmt.Sprintf(":%d:%d", f.Line, f.Column)
	}
	return text
}

// FrameRow is a [Frame] with indexes into the trie's string table instead of texts.
type FrameRow struct {
	Name, Resource StringID
	Line, Column   uint32
}

// Node is a call of Frame by the call Parent.
type Node struct {
	Parent NodeID
	Frame  FrameID
}

// Trie is a set of stacks in which stacks with the same callers share nodes. The tables are
// exported for encoders. Change them only through [Trie.Child] and [Trie.Intern], which keep
// entries unique. Copies of the struct share tables: do not add to more than one of them.
type Trie struct {
	Strings []string   // [0] is ""
	Frames  []FrameRow // in no particular order
	Nodes   []Node     // [Root] is the zero Node; parents before children

	index *index // built at the first intern
}

// New returns a trie that has only the root.
func New() *Trie {
	return &Trie{Strings: []string{""}, Nodes: []Node{{}}}
}

// Snapshot returns the current t, which may be read while t grows. Nothing may be added to the
// snapshot.
func (t *Trie) Snapshot() *Trie {
	return &Trie{Strings: slices.Clip(t.Strings), Frames: slices.Clip(t.Frames), Nodes: slices.Clip(t.Nodes)}
}

// Grow makes room for n more nodes.
func (t *Trie) Grow(n int) {
	x := t.lookup()
	t.Nodes = slices.Grow(t.Nodes, n)
	x.calls = slices.Grow(x.calls, n)
}

// Intern returns the number of f, and adds f if it is missing.
func (t *Trie) Intern(f Frame) FrameID {
	t.lookup()
	return t.internFrame(f.Name, t.internString(f.Resource), f.Line, f.Column)
}

// Insert returns the node for a stack of frames, root first, adding what is missing.
func (t *Trie) Insert(stack ...Frame) NodeID {
	t.lookup()
	n := Root
	for _, f := range stack {
		n = t.Child(n, t.Intern(f))
	}
	return n
}

// Find returns the node for a frame called by parent, and false if t does not have it.
func (t *Trie) Find(parent NodeID, f Frame) (NodeID, bool) {
	frame, ok := t.findFrameOf(f)
	if !ok {
		return Root, false
	}
	n, spot := t.findChild(Node{parent, frame})
	return n, !spot.free()
}

// findFrameOf returns the number of f, and false if t does not have it.
func (t *Trie) findFrameOf(f Frame) (FrameID, bool) {
	x := t.lookup()
	resource := StringID(0)
	if f.Resource != "" {
		id, slot := t.findString(x.hashString(f.Resource), f.Resource)
		if slot >= 0 {
			return 0, false
		}
		resource = id
	}
	row := FrameRow{Resource: resource, Line: f.Line, Column: f.Column}
	id, slot := t.findFrame(x.hashFrame(x.hashString(f.Name), resource, f.Line, f.Column), f.Name, row)
	return id, slot < 0
}

// Other returns the node for everything below n that is not distinguished: a call of the frame
// (other), or n itself if it is one.
func (t *Trie) Other(n NodeID) NodeID {
	if t.Frame(n) == (Frame{Name: FrameOther}) {
		return n
	}
	return t.Child(n, t.Intern(Frame{Name: FrameOther}))
}

// Frame returns the frame of n, or the zero Frame for the root.
func (t *Trie) Frame(n NodeID) Frame {
	if n == Root {
		return Frame{}
	}
	return t.FrameOf(t.Nodes[n].Frame)
}

// FrameOf returns the frame with the number id.
func (t *Trie) FrameOf(id FrameID) Frame {
	r := t.Frames[id]
	return Frame{t.Strings[r.Name], t.Strings[r.Resource], r.Line, r.Column}
}

// Stack yields n and its ancestors without the root, leaf first.
func (t *Trie) Stack(n NodeID) iter.Seq[NodeID] {
	return func(yield func(NodeID) bool) {
		for ; n != Root; n = t.Nodes[n].Parent {
			if !yield(n) {
				return
			}
		}
	}
}

// AddAll adds the nodes of o to t and returns the number of each in t. It does not change o.
func (t *Trie) AddAll(o *Trie) []NodeID {
	frames := make([]FrameID, len(o.Frames))
	for i := range frames {
		frames[i] = t.Intern(o.FrameOf(FrameID(i)))
	}
	nodes := make([]NodeID, len(o.Nodes))
	for i, n := range o.Nodes[1:] {
		nodes[i+1] = t.Child(nodes[n.Parent], frames[n.Frame])
	}
	return nodes
}

// Depths returns the number of frames in the stack of each node; 0 for the root.
func (t *Trie) Depths() []uint32 { return t.appendDepths(nil) }

func (t *Trie) appendDepths(depths []uint32) []uint32 {
	depths = zeroed(depths, len(t.Nodes))
	for i := 1; i < len(t.Nodes); i++ {
		depths[i] = depths[t.Nodes[i].Parent] + 1
	}
	return depths
}

// rankStrings ranks the strings of t that use refers to by their text. Equal texts have equal
// ranks.
func (t *Trie) rankStrings(use func(FrameRow) StringID) []uint32 {
	rank := make([]uint32, len(t.Strings))
	used := make([]StringID, 0, 16)
	for _, f := range t.Frames {
		if s := use(f); rank[s] == 0 {
			rank[s] = 1
			used = append(used, s)
		}
	}
	slices.SortFunc(used, func(a, b StringID) int { return strings.Compare(t.Strings[a], t.Strings[b]) })
	place := uint32(0)
	for i, s := range used {
		if i > 0 && t.Strings[s] != t.Strings[used[i-1]] {
			place++
		}
		rank[s] = place
	}
	return rank
}

// rankFrames returns the frames ordered by resource, line, column and name, and each frame's
// rank in that order. Equal frames have equal ranks. A trace has few resources, so it compares
// them once, not with each pair of frames.
func (t *Trie) rankFrames() (order []FrameID, rank []uint32) {
	resource := t.rankStrings(func(f FrameRow) StringID { return f.Resource })
	compare := func(a, b FrameID) int {
		x, y := &t.Frames[a], &t.Frames[b]
		if c := cmp.Compare(resource[x.Resource], resource[y.Resource]); c != 0 {
			return c
		}
		if c := cmp.Compare(uint64(x.Line)<<32|uint64(x.Column), uint64(y.Line)<<32|uint64(y.Column)); c != 0 {
			return c
		}
		return strings.Compare(t.Strings[x.Name], t.Strings[y.Name])
	}
	order = make([]FrameID, len(t.Frames))
	for i := range order {
		order[i] = FrameID(i)
	}
	slices.SortStableFunc(order, compare)
	rank = make([]uint32, len(order))
	for i, f := range order {
		if i > 0 && compare(f, order[i-1]) == 0 {
			rank[f] = rank[order[i-1]]
		} else {
			rank[f] = uint32(i)
		}
	}
	return order, rank
}

// Preorder yields every node but the root, with its depth: each node after its parent and directly
// before its own descendants. Siblings are ordered by resource, line, column and name, so equal
// tries are walked in the same order.
func (t *Trie) Preorder() iter.Seq2[NodeID, int] {
	return func(yield func(NodeID, int) bool) {
		if len(t.Nodes) < 2 {
			return
		}
		byParent, first := t.children()
		type call struct {
			node  NodeID
			depth int
		}
		var open []call
		push := func(parent NodeID, depth int) {
			for _, n := range byParent[first[parent]:first[parent+1]] {
				open = append(open, call{n, depth})
			}
		}
		push(Root, 1)
		for len(open) > 0 {
			c := open[len(open)-1]
			open = open[:len(open)-1]
			if !yield(c.node, c.depth) {
				return
			}
			push(c.node, c.depth+1)
		}
	}
}

// children returns the children of all nodes as one list; the children of n are
// list[first[n]:first[n+1]], in the reverse order of [Trie.Preorder], so that a stack pops the
// first child first. It uses counting sort, because a profile may have a million nodes.
func (t *Trie) children() (list []NodeID, first []uint32) {
	_, rank := t.rankFrames()
	at := make([]uint32, len(t.Frames)+1) // where the nodes of a rank begin, highest rank first
	for _, n := range t.Nodes[1:] {
		at[len(t.Frames)-int(rank[n.Frame])]++
	}
	for i := 1; i < len(at); i++ {
		at[i] += at[i-1]
	}
	byRank := make([]NodeID, len(t.Nodes)-1)
	for n := len(t.Nodes) - 1; n > 0; n-- {
		p := &at[len(t.Frames)-1-int(rank[t.Nodes[n].Frame])]
		byRank[*p] = NodeID(n)
		*p++
	}
	first = make([]uint32, len(t.Nodes)+2)
	for _, n := range t.Nodes[1:] {
		first[n.Parent+2]++
	}
	for i := 2; i < len(first); i++ {
		first[i] += first[i-1]
	}
	list = make([]NodeID, len(byRank))
	for _, n := range byRank {
		p := &first[t.Nodes[n].Parent+1] // moves to where the next parent begins
		list[*p] = n
		*p++
	}
	return list, first
}

// Validate returns an error if t violates the invariants in the package documentation. It does not
// look for duplicate nodes.
func (t *Trie) Validate() error {
	if len(t.Strings) == 0 || t.Strings[0] != "" {
		return fmt.Errorf("string 0 is not empty")
	}
	if len(t.Nodes) == 0 || t.Nodes[0] != (Node{}) {
		return fmt.Errorf("node 0 is not the root")
	}
	for i, f := range t.Frames {
		if n := uint64(len(t.Strings)); uint64(f.Name) >= n || uint64(f.Resource) >= n {
			return fmt.Errorf("frame %d: string %d of %d", i, max(f.Name, f.Resource), len(t.Strings))
		}
	}
	for i, n := range t.Nodes[1:] {
		if uint64(n.Parent) > uint64(i) {
			return fmt.Errorf("node %d: parent %d does not come before it", i+1, n.Parent)
		}
		if uint64(n.Frame) >= uint64(len(t.Frames)) {
			return fmt.Errorf("node %d: frame %d of %d", i+1, n.Frame, len(t.Frames))
		}
	}
	return nil
}
