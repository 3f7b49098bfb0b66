package local

import (
	"fmt"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// What finds no room among page views without a trace, and Web Vitals, is counted itself.
func TestDroppedCounts(t *testing.T) {
	t.Parallel()
	s := &Store{Reader: &Reader{opts: Options{Now: time.Now}}} // which stores nothing
	for i := range store.MaxOutcomes + 3 {
		s.CountViews(fmt.Sprint("/p", i), "unsampled", 2)
	}
	for i := range store.MaxVitalSets + 5 {
		s.CountVitals("/feed", []rollup.Vital{{Labels: trie.Labels{{Key: "release", Value: fmt.Sprint(i)}}, Name: "lcp", Views: 3}})
	}
	if got := s.outcomes.lost(); got != 3*2+5*3 {
		t.Errorf("%d were dropped", got)
	}
}
