package trie

import "math/bits"

// rangeMinimum answers in constant time what the least of some values in a row is. It is
// a sparse table: level k has the least of each 2^k values in a row.
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

// least returns the least of the values from one place up to, but without, another; of
// none it is as large as an int32 can be.
func (r *rangeMinimum) least(from, to int) int {
	if from >= to {
		return 1<<31 - 1
	}
	k := bits.Len(uint(to-from)) - 1
	return int(min(r.levels[k][from], r.levels[k][to-1<<k]))
}
