package trie

// Size of a table's entry in bytes, including its part of the index and spare capacity.
const (
	nodeSize   = 32
	frameSize  = 40
	stringSize = 40 // plus its text
	cellSize   = 28 // a weight, with its part of an allocated block
)

// Size returns the approximate size of p in bytes. It visits groups, not nodes, so it is cheap
// enough to call while p grows.
func (p *Profile) Size() int {
	size := p.Trie.Size()
	for i := range p.Groups {
		size += p.Groups[i].Weights.Cells()*cellSize + 8*cap(p.Groups[i].Weights.blocks)
	}
	return size
}

// Size returns the approximate size of t in bytes, including its index.
func (t *Trie) Size() int {
	return len(t.Nodes)*nodeSize + len(t.Frames)*frameSize + len(t.Strings)*stringSize + t.textSize()
}

// textSize returns the number of bytes of all strings. A growing trie keeps count of it.
func (t *Trie) textSize() (size int) {
	if t.index != nil {
		return t.index.text
	}
	for _, s := range t.Strings {
		size += len(s)
	}
	return size
}
