package rollup

import (
	"maps"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

func rowsOf(t *table[int64], of int) map[trie.NodeID]int64 {
	m := map[trie.NodeID]int64{}
	t.of[of].each(func(n trie.NodeID, r int64) { m[n] = r })
	return m
}

// A mapped table shares rows with the original, which must not change.
func TestMappedLeavesItsSource(t *testing.T) {
	of := func(kind byte) (r rows[int64]) {
		set := func(n trie.NodeID, v int64) {
			row, _ := r.at(n)
			*row = v
		}
		switch kind {
		case 'z': // added and subtracted
			set(3, 0)
		case 'x':
			set(3, 7)
		case 'y':
			set(3, 2)
			set(4000, 5)
		}
		return r
	}
	kinds := "-zxy" // '-' has no rows at all
	for i := range 256 {
		from := &table[int64]{}
		name, want := "", map[trie.NodeID]int64{}
		for ; len(name) < 4; i /= 4 {
			name += string(kinds[i%4])
			from.of = append(from.of, of(kinds[i%4]))
			for n, v := range rowsOf(from, len(name)-1) {
				want[n] += v
			}
		}
		got := from.mapped([]int{0, 0, 0, 0}, 1, func(to *int64, r int64) { *to += r })
		if sum := rowsOf(got, 0); !maps.Equal(sum, want) {
			t.Errorf("%s: the sum is %v, want %v", name, sum, want)
		}
		for k := range name {
			fresh := &table[int64]{of: []rows[int64]{of(name[k])}}
			if !maps.Equal(rowsOf(from, k), rowsOf(fresh, 0)) {
				t.Errorf("%s: the rows of %d are now %v", name, k, rowsOf(from, k))
			}
		}
	}
}
