// Package spelling finds what somebody may have meant who typed something else.
package spelling

import (
	"cmp"
	"slices"
)

// maxBytes bounds how much of a word is looked at: whoever typed more did not mean a short one.
const maxBytes = 600

// Distance is how many bytes must be inserted, removed or replaced to make b of a (Levenshtein). Of each the first
// 600 bytes count.
func Distance(a, b string) int {
	a, b = a[:min(len(a), maxBytes)], b[:min(len(b), maxBytes)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// Sort puts words that are like typed first, and leaves the order of those that are as like as others.
func Sort[T any](words []T, typed string, text func(T) string) {
	slices.SortStableFunc(words, func(a, b T) int { return cmp.Compare(Distance(text(a), typed), Distance(text(b), typed)) })
}

// Likely returns the words of known that may be meant, up to three: those that a third of the typed bytes, and one more, were
// wrong in. Those that are most like it come first.
func Likely(typed string, known []string) []string {
	most := 1 + min(len(typed), 40)/3
	near := slices.DeleteFunc(slices.Clone(known), func(k string) bool { return Distance(k, typed) > most })
	Sort(near, typed, func(s string) string { return s })
	return near[:min(len(near), 3)]
}
