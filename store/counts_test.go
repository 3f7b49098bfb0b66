package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// What finds no room among page views without a trace, and Web Vitals, is counted itself.
func TestDroppedCounts(t *testing.T) {
	t.Parallel()
	var c Counts
	for i := range MaxOutcomes + 3 {
		c.AddViews(fmt.Sprint("/p", i), "unsampled", 2)
	}
	for i := range MaxVitalSets + 5 {
		c.AddVitals("/feed", []rollup.Vital{{Labels: trie.Labels{{Key: "release", Value: fmt.Sprint(i)}}, Name: "lcp", Views: 3}})
	}
	if c.Dropped != 3*2+5*3 {
		t.Errorf("%d were dropped", c.Dropped)
	}
	if views, vitals := c.Take(); len(views) != MaxOutcomes || len(vitals) != MaxVitalSets || !c.Empty() {
		t.Errorf("took %d and %d, and it is empty: %v", len(views), len(vitals), c.Empty())
	}
}

// What can not be stored is not counted.
func TestCountsOfWhatCanNotBe(t *testing.T) {
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
