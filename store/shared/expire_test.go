package shared

import (
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// While the rollups of the hours of a day expire, each part of it is answered, if need be by all of it.
func TestPartOfDayThatExpires(t *testing.T) {
	s := fakebucket.New(1)
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	at := day.Add(10 * time.Minute)
	s.Now = func() time.Time { return at }
	n, err := Open(t.Context(), s.Client().Bucket(s.Now), Options{Shards: 1, Flush: time.Millisecond, Retention: 3 * time.Hour, HourRetention: 30 * time.Hour, DayRetention: 1000 * time.Hour})
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
		st, err := n.Select(t.Context(), store.Query{Since: day.Add(2 * time.Hour), Until: day.Add(8 * time.Hour)}, store.Wanted{},
			func(store.Record) error { return nil }, func(store.Rolled) error { return nil })
		if err != nil || st.Days == 0 && st.Hours+st.Partitions < 6 {
			t.Fatalf("%v: neither the day nor all of six hours is read: %+v, %v", at, st, err)
		}
	}
}
