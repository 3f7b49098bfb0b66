package collect

import (
	"slices"
	"strings"
	"testing"
)

// TestRecordSteps checks that no step is ordered so that it undoes the work of another.
func TestRecordSteps(t *testing.T) {
	var names []string
	for _, step := range recordSteps {
		names = append(names, step.name)
	}
	for _, order := range []string{
		"decode, claim view time, thin spans, normalize", // cheap steps that reject many traces come first
		"normalize, fold names",                          // secrets in names are not kept or logged
		"normalize, name pages by site, fold pages",      // sites share the quota of pages
		"name pages by site, tally, fold pages",          // traces are counted under their first page
		"label browser, fold names",
		"fold pages, limit page rate",
		"fold names, validate, add features, encode",
	} {
		last := -1
		for _, name := range strings.Split(order, ", ") {
			at := slices.Index(names, name)
			if at <= last {
				t.Errorf("%s: %s is step %d, after step %d", order, name, at, last)
			}
			last = at
		}
	}
}
