package shared

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/directory"
)

// A query for part of an hour returns exactly the traces of that part, even after compaction, and
// reads few others.
func TestPartOfHour(t *testing.T) {
	start := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	now := start
	d, err := directory.Open(t.TempDir(), directory.Options{MinFree: -1, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	n, err := Open(t.Context(), d, Options{Shards: 1, Flush: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.Close(t.Context()) }()
	const minutes, each = 40, 5
	received := map[store.ID]time.Time{}
	for range minutes {
		for range each {
			rec := testRecord(byte(len(received)), "/a")
			if _, err := n.Append(t.Context(), []store.Record{rec}); err != nil {
				t.Fatal(err)
			}
			received[rec.ID] = now
		}
		n.RollUp(t.Context())
		now = now.Add(time.Minute)
	}
	r := rand.New(rand.NewPCG(1, 2))
	skipped := uint64(0)
	const queries = 60
	for range queries {
		since := start.Add(time.Duration(r.IntN(minutes*60)) * time.Second)
		until := since.Add(time.Duration(r.IntN(300)) * time.Second)
		got := map[store.ID]bool{}
		stats, err := n.Select(t.Context(), store.Query{Since: since, Until: until}, store.Wanted{},
			func(rec store.Record) error { got[rec.ID] = true; return nil }, func(store.Rolled) error { return nil })
		if err != nil || !stats.Complete() {
			t.Fatalf("got %+v, %v", stats, err)
		}
		for id, at := range received {
			if want := !at.Before(since) && at.Before(until); got[id] != want {
				t.Errorf("from %v to %v: trace %s of %v: got %v", since, until, id, at, got[id])
			}
		}
		skipped += stats.Skipped
	}
	if all := uint64(queries * minutes * each); skipped > all/4 {
		t.Errorf("%d of %d traces were read but did not match", skipped, all)
	}
}
