package rollup

import (
	"cmp"
	"math/bits"
	"slices"
)

// sparse holds two numbers for each of many keys. Adding to it is the inner loop of rolling
// up, and a map takes three times as long.
type sparse struct {
	slots []int32 // place in rows plus one, 0 is free; the length is a power of two
	rows  []row
}

type row struct {
	key  uint64 // cell or touch, then node
	a, b int64
}

func keyOf(of int, node uint32) uint64 { return uint64(of)<<32 | uint64(node) }

// at returns the row of key, which it makes if it is not there. It is good until the next
// call.
func (s *sparse) at(key uint64) *row {
	if 4*(len(s.rows)+1) > 3*len(s.slots) {
		s.grow()
	}
	mask := len(s.slots) - 1
	i := s.home(key)
	for ; s.slots[i] != 0; i = (i + 1) & mask {
		if r := &s.rows[s.slots[i]-1]; r.key == key {
			return r
		}
	}
	s.rows = append(s.rows, row{key: key})
	s.slots[i] = int32(len(s.rows))
	return &s.rows[len(s.rows)-1]
}

// home returns the slot where the search for key begins. The keys are numbers that we
// give, so nobody can choose them to collide.
func (s *sparse) home(key uint64) int {
	h := key * 0x9e3779b97f4a7c15
	return int((h ^ h>>29) * 0xbf58476d1ce4e5b9 >> (64 - bits.TrailingZeros(uint(len(s.slots)))))
}

func (s *sparse) grow() {
	s.slots = make([]int32, max(256, 2*len(s.slots)))
	mask := len(s.slots) - 1
	for n := range s.rows {
		i := s.home(s.rows[n].key)
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = int32(n + 1)
	}
}

// mapped returns the rows that are not zero, with the upper half of their keys replaced by
// to, sorted by key, each key once.
func (s *sparse) mapped(to []int) []row {
	out := make([]row, 0, len(s.rows))
	for _, r := range s.rows {
		if r.a != 0 || r.b != 0 {
			r.key = keyOf(to[r.key>>32], uint32(r.key))
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(x, y row) int { return cmp.Compare(x.key, y.key) })
	n := 0
	for _, r := range out {
		if n > 0 && out[n-1].key == r.key {
			out[n-1].a += r.a
			out[n-1].b += r.b
			continue
		}
		out[n] = r
		n++
	}
	return slices.DeleteFunc(out[:n], func(r row) bool { return r.a == 0 && r.b == 0 })
}
