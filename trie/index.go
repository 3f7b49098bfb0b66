package trie

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
)

// index finds the rows of a trie's tables. The tables themselves hold the keys: merging mostly
// looks up frames and nodes, and maps would take more than twice as long (docs/diary.md).
type index struct {
	strings hashTable // without the empty string
	frames  hashTable
	calls   []calls   // by node
	nodes   hashTable // the nodes that calls does not list
	text    int       // bytes of all strings
	// Random, so that a client cannot construct frames or nodes with colliding hashes.
	seed   maphash.Seed
	k1, k2 uint64
}

// calls links a node to its first children: nearly all nodes have few, and a linked list
// stays close to the node in memory, unlike a hash table.
type calls struct {
	first NodeID  // the first child; 0 if there is none
	next  NodeID  // the next child of the same parent; 0 if there is none
	frame FrameID // frame of the node
}

// maxListed is the maximum number of linked children of a node; further ones are hashed.
const maxListed = 6

// hashTable is a set of row numbers by open addressing.
type hashTable struct {
	// A slot is the upper half of the row's hash and the row's number plus one; 0 is empty. The
	// length is a power of two.
	slots []uint64
	used  int
	shift uint8 // a hash's home slot is its top bits: hash >> shift
}

const lowHalf = 1<<32 - 1

// reserve makes room for n rows in total by doubling the table; a larger one would not fit into the
// processor's cache as well. Growing reads no row: 32 bits of the hash are in the slot, and no
// table has more slots than that.
func (h *hashTable) reserve(n int) {
	if 4*n <= 3*len(h.slots) {
		return
	}
	old := h.slots
	size := max(64, 1<<bits.Len(uint(n+n/2)))
	h.slots = make([]uint64, size)
	h.shift = uint8(64 - bits.TrailingZeros(uint(size)))
	for _, s := range old {
		if s == 0 {
			continue
		}
		i := int(s >> h.shift)
		for h.slots[i] != 0 {
			i = (i + 1) & (size - 1)
		}
		h.slots[i] = s
	}
}

// put adds a row at a free slot. Its hash must not be in the table yet.
func (h *hashTable) put(slot int, hash uint64, row int) {
	h.slots[slot] = hash&^lowHalf | uint64(row+1)
	h.used++
	h.reserve(h.used + 1)
}

func (x *index) hashNode(n Node) uint64 {
	return (uint64(n.Parent)<<32 | uint64(n.Frame)) * x.k1
}

func (x *index) hashString(s string) uint64 { return maphash.String(x.seed, s) }

// hashFrame hashes a frame by its place and the hash of its name, so a frame of another
// trie can be looked up without looking up its name.
func (x *index) hashFrame(name uint64, resource StringID, line, column uint32) uint64 {
	h := (uint64(line)<<32 | uint64(column)) * x.k1
	h = (bits.RotateLeft64(h, 32) ^ uint64(resource)) * x.k2
	return h ^ name
}

// lookup returns the index of t, and builds it if there is none yet.
func (t *Trie) lookup() *index {
	if t.index != nil {
		return t.index
	}
	if len(t.Nodes) == 0 {
		t.Strings, t.Nodes = []string{""}, []Node{{}}
	}
	x := &index{
		seed: maphash.MakeSeed(),
		k1:   rand.Uint64() | 1,
		k2:   rand.Uint64() | 1,
	}
	t.index = x
	x.strings.reserve(len(t.Strings) + 1)
	for i, s := range t.Strings {
		x.text += len(s)
		hash := x.hashString(s)
		if _, slot := t.findString(hash, s); slot >= 0 && s != "" {
			x.strings.put(slot, hash, i)
		}
	}
	x.frames.reserve(len(t.Frames) + 1)
	for i, f := range t.Frames {
		name := t.Strings[f.Name]
		hash := x.hashFrame(x.hashString(name), f.Resource, f.Line, f.Column)
		if _, slot := t.findFrame(hash, name, f); slot >= 0 {
			x.frames.put(slot, hash, i)
		}
	}
	x.calls = make([]calls, len(t.Nodes))
	x.nodes.reserve(1)
	for i, n := range t.Nodes[1:] {
		x.calls[i+1].frame = n.Frame
		if _, spot := t.findChild(n); spot.free() {
			x.link(spot, NodeID(i+1))
		}
	}
	return x
}

// spot is the place where a missing node can be linked.
type spot struct {
	kind   uint8  // 0: nowhere, since the node exists
	before NodeID // its parent, or the sibling before it
	slot   int    // its slot in the hash table
	hash   uint64
}

const (
	firstChild = iota + 1
	nextSibling
	hashed
)

func (s spot) free() bool { return s.kind != 0 }

// findChild returns the number of n, or the spot for it.
func (t *Trie) findChild(n Node) (NodeID, spot) {
	x := t.index
	c := x.calls[n.Parent].first
	if c == 0 {
		return 0, spot{kind: firstChild, before: n.Parent}
	}
	for range maxListed - 1 {
		if x.calls[c].frame == n.Frame {
			return c, spot{}
		}
		next := x.calls[c].next
		if next == 0 {
			return 0, spot{kind: nextSibling, before: c}
		}
		c = next
	}
	if x.calls[c].frame == n.Frame {
		return c, spot{}
	}
	return t.findHashed(n)
}

// findHashed is findChild for nodes whose parent has many children.
func (t *Trie) findHashed(n Node) (NodeID, spot) {
	hash := t.index.hashNode(n)
	h := &t.index.nodes
	mask := len(h.slots) - 1
	for i := int(hash >> h.shift); ; i = (i + 1) & mask {
		s := h.slots[i&mask]
		if s == 0 {
			return 0, spot{kind: hashed, slot: i, hash: hash}
		}
		if (s^hash)&^lowHalf == 0 && t.Nodes[s&lowHalf-1] == n {
			return NodeID(s&lowHalf - 1), spot{}
		}
	}
}

// link makes node n findable at its spot.
func (x *index) link(s spot, n NodeID) {
	switch s.kind {
	case firstChild:
		x.calls[s.before].first = n
	case nextSibling:
		x.calls[s.before].next = n
	case hashed:
		x.nodes.put(s.slot, s.hash, int(n))
	}
}

// findFrame returns the number of the frame with this name and the other fields of f,
// and -1. If there is none, it returns the free slot for it.
func (t *Trie) findFrame(hash uint64, name string, f FrameRow) (FrameID, int) {
	h := &t.index.frames
	mask := len(h.slots) - 1
	for i := int(hash >> h.shift); ; i = (i + 1) & mask {
		s := h.slots[i&mask]
		if s == 0 {
			return 0, i
		}
		if (s^hash)&^lowHalf != 0 {
			continue
		}
		r := t.Frames[s&lowHalf-1]
		if r.Resource == f.Resource && r.Line == f.Line && r.Column == f.Column && t.Strings[r.Name] == name {
			return FrameID(s&lowHalf - 1), -1
		}
	}
}

// findString returns the number of s, and -1. If there is none, it returns the free slot
// for it.
func (t *Trie) findString(hash uint64, s string) (StringID, int) {
	h := &t.index.strings
	mask := len(h.slots) - 1
	for i := int(hash >> h.shift); ; i = (i + 1) & mask {
		slot := h.slots[i&mask]
		if slot == 0 {
			return 0, i
		}
		if (slot^hash)&^lowHalf == 0 && t.Strings[slot&lowHalf-1] == s {
			return StringID(slot&lowHalf - 1), -1
		}
	}
}

// internString returns the number of s.
func (t *Trie) internString(s string) StringID {
	return t.internHashed(s, t.lookup().hashString(s))
}

// internHashed is internString for a string whose hash is known. It stores a copy of s,
// since s may be part of a large buffer.
func (t *Trie) internHashed(s string, hash uint64) StringID {
	if s == "" {
		return 0
	}
	id, slot := t.findString(hash, s)
	if slot >= 0 {
		id = StringID(len(t.Strings))
		t.Strings = appendRow(t.Strings, strings.Clone(s))
		t.index.strings.put(slot, hash, int(id))
		t.index.text += len(s)
	}
	return id
}

// internFrame returns the number of the frame with this name and place. resource is a
// number of t.
func (t *Trie) internFrame(name string, resource StringID, line, column uint32) FrameID {
	x := t.lookup()
	r := FrameRow{Resource: resource, Line: line, Column: column}
	nameHash := x.hashString(name)
	hash := x.hashFrame(nameHash, resource, line, column)
	id, slot := t.findFrame(hash, name, r)
	if slot < 0 {
		return id
	}
	r.Name = t.internHashed(name, nameHash)
	id = FrameID(len(t.Frames))
	t.Frames = appendRow(t.Frames, r)
	x.frames.put(slot, hash, int(id))
	return id
}

// Child returns the node for a call of f by parent, and adds it if it is missing. Both
// must be of this trie.
func (t *Trie) Child(parent NodeID, f FrameID) NodeID {
	x := t.lookup()
	n := Node{parent, f}
	id, spot := t.findChild(n)
	if spot.free() {
		id = NodeID(len(t.Nodes))
		t.Nodes = appendRow(t.Nodes, n)
		x.calls = appendRow(x.calls, calls{frame: f})
		x.link(spot, id)
	}
	return id
}

// appendRow appends to a table and doubles it when it is full: tables of a merge grow to tens of
// thousands of rows, and append, which grows by a quarter, would copy them too often.
func appendRow[E any](s []E, e E) []E {
	if len(s) == cap(s) {
		s = slices.Grow(s, max(len(s), 64))
	}
	return append(s, e)
}

// extend returns s with n elements, the new ones zero. It doubles s when it is full.
func extend[E any](s []E, n int) []E {
	old := len(s)
	if n > cap(s) {
		s = slices.Grow(s, max(n-old, old))
	}
	s = s[:n]
	clear(s[old:])
	return s
}
