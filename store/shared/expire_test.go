package shared

import (
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// While the hourly rollups of a day expire, every part of the day can still be queried, if
// necessary from the rollups of the whole day.
func TestPartOfDayThatExpires(t *testing.T) {
	s := fakebucket.New(1)
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	at := day.Add(10 * time.Minute)
	s.Now = func() time.Time { return at }
	n, err := Open(t.Context(), s.Client().Bucket(s.Now), Options{Shards: 1, Flush: time.Millisecond,
		Retention: 3 * time.Hour, HourRetention: 30 * time.Hour, DayRetention: 1000 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for hour := range byte(12) {
		appendTo(t, n, hour)
		n.RollUp(t.Context())
		at = at.Add(time.Hour)
	}
	for range 80 {
		at = at.Add(time.Hour)
		n.RollUp(t.Context())
		st, err := n.Select(t.Context(), store.Query{Since: day.Add(2 * time.Hour), Until: day.Add(8 * time.Hour)},
			store.Wanted{},
			func(store.Record) error { return nil }, func(store.Rolled) error { return nil })
		if err != nil || st.Days == 0 && st.Hours+st.Partitions < 6 {
			t.Fatalf("%v: read neither the day nor all six hours: %+v, %v", at, st, err)
		}
	}
}

// The retention can be changed while a node is running.
func TestSetRetention(t *testing.T) {
	at := time.Date(2026, 11, 20, 0, 10, 0, 0, time.UTC)
	for _, shorten := range []bool{false, true} {
		s := fakebucket.New(1)
		now := at
		s.Now = func() time.Time { return now }
		o := Options{Shards: 1, Flush: time.Millisecond, Retention: 30 * time.Hour, HourRetention: 1000 * time.Hour,
			DayRetention: 1000 * time.Hour, Shorten: shorten}
		n, err := Open(t.Context(), s.Client().Bucket(s.Now), o)
		if err != nil {
			t.Fatal(err)
		}
		appendTo(t, n, 1)
		n.RollUp(t.Context())
		count := func() (traces int) {
			if _, err := n.Scan(t.Context(), store.Query{Since: at.Add(-time.Hour), Until: now},
				func(store.Record) error {
					traces++
					return nil
				}); err != nil {
				t.Fatal(err)
			}
			return traces
		}
		for range 6 {
			now = now.Add(time.Hour)
			n.RollUp(t.Context())
		}
		all := count()
		if all == 0 {
			t.Fatal("there are no traces")
		}
		set := func(d time.Duration) {
			o.Retention = d
			if err := n.SetRetention(o); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				n.RollUp(t.Context())
			}
		}
		if set(3 * time.Hour); count() != 0 {
			t.Error("traces older than the new retention are returned")
		}
		// A bucket keeps the longest retention of all nodes, unless a node has Shorten set.
		want := all
		if shorten {
			want = 0
		}
		if set(30 * time.Hour); count() != want {
			t.Errorf("shorten %v: got %d traces, want %d", shorten, count(), want)
		}
		if o.Retention = time.Hour; n.SetRetention(o) == nil {
			t.Error("a retention of an hour is accepted")
		}
		if count() != want {
			t.Error("a rejected retention has an effect")
		}
	}
}
