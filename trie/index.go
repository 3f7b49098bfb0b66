package trie

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
)

// index finds the rows of a trie's tables. The tables themselves hold the keys: merging
// is mostly looking up frames and nodes, and this takes a third of the time that maps
// take (docs/benchmarks.md, merge/cpu_vs_pprof).
type index struct {
	strings map[string]StringID
	frames  hashTable
	nodes   hashTable
	// Random, so that nobody can send frames or nodes that all fall into one slot.
	seed   maphash.Seed
	k1, k2 uint64
}

// hashTable is a set of row numbers by open addressing.
type hashTable struct {
	// A slot is the upper half of the row's hash and the row's number plus one; 0 is
	// free. The length is a power of two.
	slots []uint64
	used  int
	shift uint8 // a hash's home slot is its top bits: hash >> shift
}

const lowHalf = 1<<32 - 1

// reserve makes room for n rows in all, doubling the table: a larger one would not fit
// the processor's cache so well. Growing needs no row, since 32 bits of the hash
// are in the slot and no table has more slots.
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

// put adds a row whose hash is not in the table yet, at the free slot that was found.
func (h *hashTable) put(slot int, hash uint64, row int) {
	h.slots[slot] = hash&^lowHalf | uint64(row+1)
	h.used++
	h.reserve(h.used + 1)
}

func (x *index) hashNode(n Node) uint64 {
	return (uint64(n.Parent)<<32 | uint64(n.Frame)) * x.k1
}

// hashFrame hashes a frame by its place and the text of its name, so that a frame of
// another trie is found before its name is.
func (x *index) hashFrame(name string, resource StringID, line, column uint32) uint64 {
	h := (uint64(line)<<32 | uint64(column)) * x.k1
	h = (bits.RotateLeft64(h, 32) ^ uint64(resource)) * x.k2
	return h ^ maphash.String(x.seed, name)
}

// lookup returns the index of t, and makes it if there is none yet.
func (t *Trie) lookup() *index {
	if t.index != nil {
		return t.index
	}
	if len(t.Nodes) == 0 {
		t.Strings, t.Nodes = []string{""}, []Node{{}}
	}
	x := &index{
		strings: make(map[string]StringID, len(t.Strings)),
		seed:    maphash.MakeSeed(),
		k1:      rand.Uint64() | 1,
		k2:      rand.Uint64() | 1,
	}
	for i, s := range t.Strings {
		if _, ok := x.strings[s]; !ok {
			x.strings[s] = StringID(i)
		}
	}
	t.index = x
	x.frames.reserve(len(t.Frames) + 1)
	for i, f := range t.Frames {
		name := t.Strings[f.Name]
		hash := x.hashFrame(name, f.Resource, f.Line, f.Column)
		if _, slot := t.findFrame(hash, name, f); slot >= 0 {
			x.frames.put(slot, hash, i)
		}
	}
	x.nodes.reserve(len(t.Nodes) + 1)
	for i, n := range t.Nodes[1:] {
		hash := x.hashNode(n)
		if _, slot := t.findNode(hash, n); slot >= 0 {
			x.nodes.put(slot, hash, i+1)
		}
	}
	return x
}

// findNode returns the number of n and -1, or the free slot that is n's.
func (t *Trie) findNode(hash uint64, n Node) (NodeID, int) {
	h := &t.index.nodes
	mask := len(h.slots) - 1
	for i := int(hash >> h.shift); ; i = (i + 1) & mask {
		s := h.slots[i&mask]
		if s == 0 {
			return 0, i
		}
		if (s^hash)&^lowHalf == 0 && t.Nodes[s&lowHalf-1] == n {
			return NodeID(s&lowHalf - 1), -1
		}
	}
}

// findFrame returns the number of the frame with this name and the other fields of f,
// and -1, or the free slot that is its own.
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

// internString returns the number of s. It keeps a copy of s, which may be a part of a
// large buffer.
func (t *Trie) internString(s string) StringID {
	if s == "" {
		return 0
	}
	x := t.lookup()
	id, ok := x.strings[s]
	if !ok {
		s = strings.Clone(s)
		id = StringID(len(t.Strings))
		t.Strings = append(t.Strings, s)
		x.strings[s] = id
	}
	return id
}

// internFrame returns the number of the frame with this name and place. resource is a
// number of t.
func (t *Trie) internFrame(name string, resource StringID, line, column uint32) FrameID {
	x := t.lookup()
	r := FrameRow{Resource: resource, Line: line, Column: column}
	hash := x.hashFrame(name, resource, line, column)
	id, slot := t.findFrame(hash, name, r)
	if slot < 0 {
		return id
	}
	r.Name = t.internString(name)
	id = FrameID(len(t.Frames))
	t.Frames = appendRow(t.Frames, r)
	x.frames.put(slot, hash, int(id))
	return id
}

// Child returns the node for a call of f by parent, which it adds if t does not have it
// yet. Both must be of this trie.
func (t *Trie) Child(parent NodeID, f FrameID) NodeID {
	n := Node{parent, f}
	x := t.lookup()
	hash := x.hashNode(n)
	id, slot := t.findNode(hash, n)
	if slot < 0 {
		return id
	}
	id = NodeID(len(t.Nodes))
	t.Nodes = appendRow(t.Nodes, n)
	x.nodes.put(slot, hash, int(id))
	return id
}

// appendRow appends to a table, doubling it when it is full: tables of a merge grow to
// tens of thousands of rows, and append's own steps of a quarter copy them too often.
func appendRow[E any](s []E, e E) []E {
	if len(s) == cap(s) {
		s = slices.Grow(s, max(len(s), 64))
	}
	return append(s, e)
}

// extend returns s with n elements, zeros after the old ones, doubling it when it is
// full.
func extend[E any](s []E, n int) []E {
	old := len(s)
	if n > cap(s) {
		s = slices.Grow(s, max(n-old, old))
	}
	s = s[:n]
	clear(s[old:])
	return s
}
