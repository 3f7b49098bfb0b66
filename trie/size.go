package trie

// What an entry of a table takes, in bytes: with its part of the index, and with the room
// that growing leaves.
const (
	nodeSize   = 32
	frameSize  = 40
	stringSize = 40 // and its text
	cellSize   = 25 // a weight, and its part of a block
)

// Size returns about how many bytes p takes. It looks at each group and not at each node, so
// it may be asked for while p grows.
func (p *Profile) Size() int {
	size := p.Trie.Size()
	for i := range p.Groups {
		size += p.Groups[i].Weights.Cells() * cellSize
	}
	return size
}

// Size returns about how many bytes t takes, with what finds nodes and frames in it.
func (t *Trie) Size() int {
	return len(t.Nodes)*nodeSize + len(t.Frames)*frameSize + len(t.Strings)*stringSize + t.textSize()
}

// textSize returns how many bytes all strings have. It is known of a trie that grows.
func (t *Trie) textSize() (size int) {
	if t.index != nil {
		return t.index.text
	}
	for _, s := range t.Strings {
		size += len(s)
	}
	return size
}
