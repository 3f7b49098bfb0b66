// Package spelling suggests words for a mistyped word.
package spelling

import (
	"cmp"
	"slices"
)

// maxBytes bounds the part of a word that is compared: a longer word is not a typo of a short one.
const maxBytes = 600

// Distance returns the Levenshtein distance of a and b in bytes. Only the first 600 bytes of each
// count.
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

// Sort sorts words by similarity to typed. It keeps the order of equally similar words.
func Sort[T any](words []T, typed string, text func(T) string) {
	slices.SortStableFunc(words, func(a, b T) int {
		return cmp.Compare(Distance(text(a), typed), Distance(text(b), typed))
	})
}

// Likely returns up to three words of known that are similar to typed, most similar first: their
// distance is at most one more than a third of the bytes of typed.
func Likely(typed string, known []string) []string {
	most := 1 + min(len(typed), 40)/3
	near := slices.DeleteFunc(slices.Clone(known), func(k string) bool { return Distance(k, typed) > most })
	Sort(near, typed, func(s string) string { return s })
	return near[:min(len(near), 3)]
}
