package shared

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// Runs of closed hours are packed once, and query results stay the same. A damaged or lost run is
// left alone, and does not block others.
func TestPack(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		t.Run(fmt.Sprint("deleted ", deleted), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := openNode(t, fakebucket.New(1), Options{Flush: time.Millisecond, Shards: 1})
				for i := range byte(3) {
					appendTo(t, n, 3*i+1, 3*i+2)
					n.round(t.Context(), roll.Work{})
					time.Sleep(time.Hour)
				}
				before := keysUnder(t, n, "raw/")
				if len(before) != 3 {
					t.Fatalf("runs %v", before)
				}
				slices.SortFunc(before, func(a, b string) int {
					return strings.Compare(layout.HourOfKey(a), layout.HourOfKey(b))
				})
				damage(t, n, before[2], deleted)
				time.Sleep(5 * time.Minute) // until all hours are closed
				settleNode(t.Context(), n, 4)
				m, _, err := n.b.Manifest(t.Context(), 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				named := m.Names(0)
				if named[before[0]] || named[before[1]] || !named[before[2]] || len(m.Removed) == 0 {
					t.Errorf("the manifest names %v of %v", named, before)
				}
				settleNode(t.Context(), n, 8)
				if m, _, err := n.b.Manifest(t.Context(), 0, 0); err != nil || !maps.Equal(m.Names(0), named) {
					t.Errorf("packed runs are packed again: %v", err)
				}
				time.Sleep(time.Hour)
				settleNode(t.Context(), n, 4)
				if got := fmt.Sprint(countOf(t, n)); got != "map[1:1 2:1 4:1 5:1]" {
					t.Error(got)
				}
			})
		})
	}
}
