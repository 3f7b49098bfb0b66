package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Page views without a trace, and Web Vitals, that exceed the limits are counted as dropped.
func TestDroppedCounts(t *testing.T) {
	t.Parallel()
	var c Counts
	for i := range MaxOutcomes + 3 {
		c.AddViews(fmt.Sprint("/p", i), "unsampled", 2)
	}
	for i := range MaxVitalSets + 5 {
		c.AddVitals("/feed", []rollup.Vital{{Labels: trie.Labels{{Key: "release", Value: fmt.Sprint(i)}}, Name: "lcp",
			Views: 3}})
	}
	if c.Dropped != 3*2+5*3 {
		t.Errorf("got %d dropped", c.Dropped)
	}
	if views, vitals := c.Take(); len(views) != MaxOutcomes || len(vitals) != MaxVitalSets || !c.Empty() {
		t.Errorf("took %d and %d, empty: %v", len(views), len(vitals), c.Empty())
	}
}

// Elements that exceed the limit are folded into one, and do not displace Web Vitals with other
// labels.
func TestElementsCounted(t *testing.T) {
	t.Parallel()
	var c Counts
	for i := range 2 * MaxVitalSets {
		c.AddVitals("/feed", []rollup.Vital{{Labels: trie.MakeLabels(rollup.KeyElement, fmt.Sprint(i)), Name: "lcp",
			Views: 1}})
	}
	for i := range MaxVitalSets/2 - 1 {
		c.AddVitals("/feed", []rollup.Vital{{Labels: trie.MakeLabels(rollup.KeyRelease, fmt.Sprint(i)), Name: "lcp",
			Views: 1}})
	}
	other := c.Vitals[VitalsOf{"/feed", LabelSetOf(trie.MakeLabels(rollup.KeyElement, trie.FrameOther))}]
	if c.Dropped != 0 || len(other) != 1 || other[0].Views != 2*MaxVitalSets-MaxVitalSets/2 {
		t.Errorf("got %d dropped, and %+v of other elements", c.Dropped, other)
	}
}

// Invalid counts are ignored.
func TestInvalidCounts(t *testing.T) {
	t.Parallel()
	var c Counts
	c.AddViews("", "unsampled", 1)
	c.AddViews("/feed", "", 1)
	c.AddViews("/feed", strings.Repeat("a", MaxTagValue+1), 1)
	c.AddViews("/feed", "unsampled", 0)
	c.AddVitals("a\x00b", []rollup.Vital{{Name: "lcp", Views: 1}})
	c.AddVitals("/feed", nil)
	if !c.Empty() || c.Dropped != 0 {
		t.Errorf("got %+v", c)
	}
}
