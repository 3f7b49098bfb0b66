package store

import (
	"cmp"
	"time"
)

// CatalogEntry is the number of traces of a page with a tag.
type CatalogEntry struct {
	Page        string
	Tag         Tag // the zero Tag counts all traces of the page
	Traces      uint64
	First, Last time.Time // receive times of the first and the last of them
}

// CompareEntries orders entries by page, then by tag.
func CompareEntries(a, b CatalogEntry) int {
	return cmp.Or(cmp.Compare(a.Page, b.Page), CompareTags(a.Tag, b.Tag))
}
