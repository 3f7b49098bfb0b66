package tables

import (
	"github.com/fieldtrie/fieldtrie/internal/lru"
	"github.com/fieldtrie/fieldtrie/symbols"
)

// newCache returns a cache of decoded tables by the hash of their script, of at
// most most bytes.
func newCache(most int) *lru.Cache[*symbols.Table] {
	return lru.New[*symbols.Table](int64(most), nil)
}

// sizeOf returns the approximate size of a table in bytes.
func sizeOf(t *symbols.Table) int64 {
	const function, source = 88 + 8, 56 // a row and its place, a row of sources
	n := len(t.Functions)*function + len(t.Sources)*source
	for i := range t.Functions {
		n += len(t.Functions[i].Name) / 2 // texts are shared
	}
	return int64(n)
}
