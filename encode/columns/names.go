package columns

import "github.com/fieldtrie/fieldtrie/trie"

// Names are frames in columns, and their strings without duplicates.
type Names struct {
	Strings []string `json:"strings"`
	// Frames are columns, too: indexes into Strings, and numbers from 1, or 0 if unknown.
	Frames Frames `json:"frames"`

	indexes map[string]int // of Strings
}

// Frames are the frames of [Names].
type Frames struct {
	Name     []int    `json:"name"`
	Resource []int    `json:"resource"`
	Line     []uint32 `json:"line"`
	Column   []uint32 `json:"column"`
}

// NewNames returns empty names, without nulls in JSON.
func NewNames() Names {
	return Names{
		Strings: []string{}, Frames: Frames{Name: []int{}, Resource: []int{}, Line: []uint32{}, Column: []uint32{}},
		indexes: map[string]int{},
	}
}

// Add appends a frame to the columns and returns its index. It does not look for duplicates:
// callers have cheaper keys for that.
func (n *Names) Add(f trie.Frame) int {
	n.Frames.Name = append(n.Frames.Name, n.text(f.Name))
	n.Frames.Resource = append(n.Frames.Resource, n.text(f.Resource))
	n.Frames.Line = append(n.Frames.Line, f.Line)
	n.Frames.Column = append(n.Frames.Column, f.Column)
	return len(n.Frames.Name) - 1
}

func (n *Names) text(s string) int {
	i, ok := n.indexes[s]
	if !ok {
		i = len(n.Strings)
		n.indexes[s] = i
		n.Strings = append(n.Strings, s)
	}
	return i
}
