package trie

import "math/bits"

// rangeMinimum finds the least of consecutive values in constant time. It is a sparse
// table: level k has the least of each 2^k consecutive values.
type rangeMinimum struct{ levels [][]int32 }

func newRangeMinimum(values []int32) *rangeMinimum {
	r := &rangeMinimum{levels: [][]int32{values}}
	for width := 1; 2*width <= len(values); width *= 2 {
		last := r.levels[len(r.levels)-1]
		next := make([]int32, len(values)-2*width+1)
		for i := range next {
			next[i] = min(last[i], last[i+width])
		}
		r.levels = append(r.levels, next)
	}
	return r
}

// least returns the least of the values in [from, to); for an empty range, the largest
// int32.
func (r *rangeMinimum) least(from, to int) int {
	if from >= to {
		return 1<<31 - 1
	}
	k := bits.Len(uint(to-from)) - 1
	return int(min(r.levels[k][from], r.levels[k][to-1<<k]))
}
