package compare

import (
	"cmp"
	"slices"
)

// adjust returns for each p-value the smallest false discovery rate at which it is a
// discovery, after Benjamini and Hochberg, "Controlling the False Discovery Rate", J. R.
// Statist. Soc. B 57 (1995), with the weights of Genovese, Roeder and Wasserman, "False
// Discovery Control with p-Value Weighting", Biometrika 93 (2006): a p-value counts
// divided by its weight. The mean of the weights is 1, and they must not depend on the
// p-values.
func adjust(p, weight []float64) []float64 {
	weighted := make([]float64, len(p))
	for i := range p {
		weighted[i] = p[i] / weight[i]
	}
	return adjustEqual(weighted)
}

// weights returns the weights of tests, given the time of both sides for each. One half is
// distributed equally and the other by time, so that a thousand tiny functions do not hide
// one with much time, and these need a p-value at most half as large as without weights.
// Without a change, the time of both sides together is independent of the difference
// between them.
func weights(time []float64) []float64 {
	total := 0.0
	for _, t := range time {
		total += t
	}
	out := make([]float64, len(time))
	for i, t := range time {
		out[i] = 1
		if total > 0 {
			out[i] = 0.5 + 0.5*float64(len(time))*t/total
		}
	}
	return out
}

// adjustEqual is adjust with equal weights.
func adjustEqual(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(p[i], p[j]), cmp.Compare(i, j)) })
	q := make([]float64, len(p))
	least := 1.0
	for rank, i := range slices.Backward(order) {
		least = min(least, p[i]*float64(len(p))/float64(rank+1))
		q[i] = least
	}
	return q
}
