package collect

import (
	"slices"
	"strings"
	"testing"
)

// A trace is made into a record in an order in which no step undoes what another one is for.
func TestRecordSteps(t *testing.T) {
	var names []string
	for _, step := range recordSteps {
		names = append(names, step.name)
	}
	for _, order := range []string{
		"decode, claim view time, thin spans, normalize", // what costs little and refuses much comes first
		"normalize, fold names",                          // no name is kept, or logged, that may be a secret
		"normalize, name pages by site, fold pages",      // the quota of pages is that of a site
		"name pages by site, tally, fold pages",          // it is counted under the page that it began on
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
