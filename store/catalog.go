package store

import (
	"cmp"
	"time"
)

// CatalogEntry says how many traces of a page carry a tag.
type CatalogEntry struct {
	Page        string
	Tag         Tag // the zero Tag stands for all traces of the page
	Traces      uint64
	First, Last time.Time // receive times
}

// CompareEntries orders a catalogue: by page, then by tag.
func CompareEntries(a, b CatalogEntry) int {
	return cmp.Or(cmp.Compare(a.Page, b.Page), CompareTags(a.Tag, b.Tag))
}
