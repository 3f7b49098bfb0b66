package rollup

import "github.com/fieldtrie/fieldtrie/trie"

// table holds two numbers for each node of each cell or touch. A page view has nodes that
// lie together, so it is a table of blocks of which only those with numbers are there:
// adding to it is the inner loop of rolling up, and a hash table takes twice as long.
type table struct {
	of []rowBlocks // by cell or touch
}

// rowBlocks are the rows of one cell or touch: node n is in block n / blockRows.
type rowBlocks []*[blockRows]row

type row struct{ a, b int64 }

const blockRows = 16

// at returns the row of a node. It is good until the next call.
func (t *table) at(of int, n trie.NodeID) *row {
	if of >= len(t.of) {
		t.of = extended(t.of, of+1)
	}
	blocks := t.of[of]
	i := int(n / blockRows)
	if i >= len(blocks) {
		blocks = extended(blocks, i+1)
		t.of[of] = blocks
	}
	if blocks[i] == nil {
		blocks[i] = new([blockRows]row)
	}
	return &blocks[i][n%blockRows]
}

// each calls f with the rows that are not zero, by node.
func (b rowBlocks) each(f func(n trie.NodeID, r row)) {
	for i, block := range b {
		if block == nil {
			continue
		}
		for k, r := range block {
			if r != (row{}) {
				f(trie.NodeID(i*blockRows+k), r)
			}
		}
	}
}

// used reports whether a row is not zero.
func (b rowBlocks) used() bool {
	for _, block := range b {
		if block != nil && *block != ([blockRows]row{}) {
			return true
		}
	}
	return false
}

// mapped returns the table with the rows of each cell or touch added to those of to; those
// for which to is negative are left out. Where there is nothing to add up, it shares rows.
func (t *table) mapped(to []int, n int) *table {
	out := &table{of: make([]rowBlocks, n)}
	owned := make([]bool, n)
	for of, blocks := range t.of {
		if of >= len(to) || to[of] < 0 {
			continue
		}
		i := to[of]
		if out.of[i] == nil {
			out.of[i] = blocks
			continue
		}
		if !owned[i] {
			first := out.of[i]
			out.of[i], owned[i] = nil, true
			first.each(func(n trie.NodeID, r row) { *out.at(i, n) = r })
		}
		blocks.each(func(n trie.NodeID, r row) {
			x := out.at(i, n)
			x.a += r.a
			x.b += r.b
		})
	}
	return out
}
