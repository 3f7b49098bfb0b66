package loadgen

import "math/rand/v2"

// PageName returns the name of the page with a rank, from 0, the page with the most
// views: /page-a, /page-b … /page-z, /page-aa. It has no digits, so that no part of it
// looks like an identifier.
func PageName(rank int) string {
	var letters []byte
	for n := rank + 1; n > 0; n = (n - 1) / 26 {
		letters = append(letters, 'a'+byte((n-1)%26))
	}
	name := []byte("/page-")
	for i := len(letters) - 1; i >= 0; i-- {
		name = append(name, letters[i])
	}
	return string(name)
}

// pageNames returns the names of the first n pages.
func pageNames(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = PageName(i)
	}
	return out
}

// newZipf returns a source of ranks of pages: rank k has frequency (k+1)^-s.
func newZipf(rnd *rand.Rand, s float64, pages int) *rand.Zipf {
	return rand.NewZipf(rnd, s, 1, uint64(pages-1))
}
