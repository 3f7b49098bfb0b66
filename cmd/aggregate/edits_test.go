package main

import (
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
)

// Functions that differ only by a build constant are counted and listed separately from edited
// functions.
func TestWriteRecompiled(t *testing.T) {
	var w strings.Builder
	err := writeEdits(&w, terminal.Screen{}, query.Edits{Release: "1.1.0", CompareRelease: "1.0.0",
		Counts: map[edits.Kind]int{edits.Recompiled: 1, edits.Unchanged: 5},
		Functions: []query.EditedFunction{{Change: edits.Recompiled, Place: compare.Place{Name: "formatPrice",
			Resource: "src/money.js", Line: 1}, Owner: "app"}}})
	const want = "from 1.0.0 to 1.1.0: 0 functions edited, 0 added, 0 removed, 0 moved; 1 recompiled, 0 around an " +
		"edit, 5 unchanged\n" +
		"recompiled: same source, different code, such as after a change of a build constant\n\n" +
		"FUNCTION                      CHANGE      OWNER\nformatPrice (src/money.js:1)  recompiled  app\n"
	if err != nil || w.String() != want {
		t.Errorf("%v: got\n%s\nnot\n%s", err, w.String(), want)
	}
}
