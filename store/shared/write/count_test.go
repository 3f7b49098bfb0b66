package write

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

func newTestWriter(t *testing.T) (*Writer, *layout.Bucket) {
	t.Helper()
	b, err := layout.Create(t.Context(), fakebucket.New(1).Client().Bucket(time.Now), layout.Options{Shards: 1,
		GiveUp: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(b, "0123456789ab", Options{Puts: 1, GiveUp: time.Second, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return w, b
}

// Counts that are dropped for lack of space are themselves counted.
func TestDroppedCounts(t *testing.T) {
	w, _ := newTestWriter(t)
	for i := range store.MaxOutcomes + 3 {
		w.CountViews(fmt.Sprint("/p", i), "unsampled", 2)
	}
	for i := range store.MaxVitalSets + 5 {
		w.CountVitals("/feed", []rollup.Vital{{Labels: trie.Labels{{Key: "release", Value: fmt.Sprint(i)}}, Name: "lcp",
			Views: 3}})
	}
	if got := w.Load().DroppedCounts; got != 3*2+5*3 {
		t.Errorf("got %d dropped counts", got)
	}
}

// Counts that cannot be encoded as a segment wait for the next one.
func TestCountsOutliveFailedSegment(t *testing.T) {
	w, b := newTestWriter(t)
	w.CountViews("/feed", "unsampled", 7)
	w.CountVitals("/feed", []rollup.Vital{{Name: "lcp", Views: 3, Weight: 3}})
	tooMuch := store.Outcome{Page: "/feed", Reason: strings.Repeat("x", block.MaxBlock)}
	w.counting.Views[tooMuch] = 1
	if err := w.StoreCounts(t.Context()); err == nil {
		t.Fatal("a segment was encoded although it is too large")
	}
	delete(w.counting.Views, tooMuch)
	if err := w.StoreCounts(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, err := b.ListSegments(t.Context())
	if err != nil || len(l.List) != 1 {
		t.Fatal(l, err)
	}
	o, err := b.ReadSegment(t.Context(), l.List[0].Segment)
	if err != nil {
		t.Fatal(err)
	}
	got, err := o.OfShard(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	views, vitals := int64(0), 0
	for _, c := range got.Counts {
		views, vitals = views+c.Views, vitals+len(c.Vitals)
	}
	if views != 7 || vitals != 1 {
		t.Errorf("%d page views and %d vitals were stored of 7 and 1", views, vitals)
	}
}
