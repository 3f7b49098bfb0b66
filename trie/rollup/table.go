package rollup

import (
	"unsafe"

	"github.com/fieldtrie/fieldtrie/trie"
)

// table has a row for each node of each cell or touch. The nodes of a page view are close together,
// so it is a table of blocks that are allocated on demand. Adding is the inner loop of rolling up,
// and a hash table takes twice as long.
type table[R comparable] struct {
	of   []rows[R] // by cell or touch
	size int       // bytes of blocks and groups
}

// rows are those of one cell or touch: node n is in block n / blockRows, in group n /
// groupRows, so rows of a few nodes take little memory however many nodes there are.
type rows[R comparable] []*[groupBlocks]*[blockRows]R

const (
	blockRows   = 8
	groupBlocks = 64
	groupRows   = blockRows * groupBlocks
	pointerSize = 8
)

// weight is the weight of a node in a cell.
type weight struct{ self, samples int64 }

// at returns the row of a node. The pointer is valid until the next call.
func (t *table[R]) at(of int, n trie.NodeID) *R {
	if of >= len(t.of) {
		t.of = extended(t.of, of+1)
	}
	row, size := t.of[of].at(n)
	t.size += size
	return row
}

// at returns the row of a node, and the number of bytes allocated for it.
func (s *rows[R]) at(n trie.NodeID) (row *R, size int) {
	i := int(n / groupRows)
	if i >= len(*s) {
		more := i + 1 - len(*s)
		*s = append(*s, make([]*[groupBlocks]*[blockRows]R, more)...)
		size += more * pointerSize
	}
	group := (*s)[i]
	if group == nil {
		group = new([groupBlocks]*[blockRows]R)
		(*s)[i] = group
		size += int(unsafe.Sizeof(*group))
	}
	block := group[n/blockRows%groupBlocks]
	if block == nil {
		block = new([blockRows]R)
		group[n/blockRows%groupBlocks] = block
		size += int(unsafe.Sizeof(*block))
	}
	return &block[n%blockRows], size
}

// each calls f with each row that is not zero, in the order of nodes.
func (s rows[R]) each(f func(n trie.NodeID, r R)) {
	var zero R
	for i, group := range s {
		if group == nil {
			continue
		}
		for k, block := range group {
			if block == nil {
				continue
			}
			for j, r := range block {
				if r != zero {
					f(trie.NodeID(i*groupRows+k*blockRows+j), r)
				}
			}
		}
	}
}

// used reports whether a row is not zero.
func (s rows[R]) used() bool {
	used := false
	s.each(func(trie.NodeID, R) { used = true })
	return used
}

// mapped returns a table in which the rows of each cell or touch are added to those of to; rows
// with a negative to are dropped. Tables share rows if nothing is added up.
func (t *table[R]) mapped(to []int, n int, add func(to *R, r R)) *table[R] {
	out := &table[R]{of: make([]rows[R], n)}
	shared := make([]bool, n) // by cell or touch: its rows are shared with t
	for of, from := range t.of {
		if of >= len(to) || to[of] < 0 {
			continue
		}
		i := to[of]
		if out.of[i] == nil {
			out.of[i], shared[i] = from, true
			continue
		}
		if shared[i] {
			first := out.of[i]
			out.of[i], shared[i] = nil, false
			first.each(func(n trie.NodeID, r R) { *out.at(i, n) = r })
		}
		from.each(func(n trie.NodeID, r R) { add(out.at(i, n), r) })
	}
	return out
}
