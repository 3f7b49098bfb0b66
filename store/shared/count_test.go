package shared

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// What finds no room among counts is counted itself.
func TestDroppedCounts(t *testing.T) {
	n := openNode(t, fakebucket.New(1), Options{Shards: 1})
	for i := range maxOutcomes + 3 {
		n.CountViews(fmt.Sprint("/p", i), "unsampled", 2)
	}
	for i := range maxVitals + 5 {
		n.CountVitals("/feed", []rollup.Vital{{Labels: trie.Labels{{Key: "release", Value: fmt.Sprint(i)}}, Name: "lcp", Views: 3}})
	}
	if got := n.Counters().DroppedCounts; got != 3*2+5*3 {
		t.Errorf("%d were dropped", got)
	}
}

// Counts of which no segment can be made wait for the next one.
func TestCountsOutliveFailedSegment(t *testing.T) {
	n := openNode(t, fakebucket.New(1), Options{Shards: 1})
	n.CountViews("/feed", "unsampled", 7)
	n.CountVitals("/feed", []rollup.Vital{{Name: "lcp", Views: 3, Weight: 3}})
	tooMuch := outcome{"/feed", strings.Repeat("x", block.MaxBlock)}
	n.counting.views[tooMuch] = 1
	if err := n.StoreCounts(t.Context()); err == nil {
		t.Fatal("a segment was made of more than it can hold")
	}
	delete(n.counting.views, tooMuch)
	if err := n.StoreCounts(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, err := n.b.listSegments(t.Context())
	if err != nil || len(l.list) != 1 {
		t.Fatal(l, err)
	}
	o, err := n.b.segment(t.Context(), l, l.list[0].segmentName)
	if err != nil {
		t.Fatal(err)
	}
	b, err := o.shardOf(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	views, vitals := int64(0), 0
	for _, c := range b.counts {
		views, vitals = views+c.views, vitals+len(c.vitals)
	}
	if views != 7 || vitals != 1 {
		t.Errorf("%d page views and %d vitals were stored of 7 and 1", views, vitals)
	}
}
