// Package spelling finds the words that somebody who mistyped may have meant.
package spelling

import (
	"cmp"
	"slices"
)

// maxBytes bounds the inspected part of a word: a longer word is no typo of a short one.
const maxBytes = 600

// Distance is the Levenshtein distance of a and b in bytes. Only the first 600 bytes of each count.
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

// Sort puts words similar to typed first, and keeps the order of equally similar ones.
func Sort[T any](words []T, typed string, text func(T) string) {
	slices.SortStableFunc(words, func(a, b T) int { return cmp.Compare(Distance(text(a), typed), Distance(text(b), typed)) })
}

// Likely returns up to three words of known that may be meant, most similar first: those that
// differ from typed in at most one byte more than a third of it.
func Likely(typed string, known []string) []string {
	most := 1 + min(len(typed), 40)/3
	near := slices.DeleteFunc(slices.Clone(known), func(k string) bool { return Distance(k, typed) > most })
	Sort(near, typed, func(s string) string { return s })
	return near[:min(len(near), 3)]
}
