package trie

// The size of a table's entry in bytes, including its part of the index and the slack that
// growing leaves.
const (
	nodeSize   = 32
	frameSize  = 40
	stringSize = 40 // and its text
	cellSize   = 28 // a weight, and its part of a block, as much as is allocated
)

// Size returns about how many bytes p takes. It visits groups, not nodes, so it can be
// called while p grows.
func (p *Profile) Size() int {
	size := p.Trie.Size()
	for i := range p.Groups {
		size += p.Groups[i].Weights.Cells()*cellSize + 8*cap(p.Groups[i].Weights.blocks)
	}
	return size
}

// Size returns about how many bytes t takes, including its index.
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
