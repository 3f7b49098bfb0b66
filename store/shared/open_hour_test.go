package shared

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// An hour that cannot be closed does not prevent older data from being deleted.
func TestOneOpenHourStopsNothing(t *testing.T) {
	server := fakebucket.New(1)
	at := time.Date(2026, 11, 20, 10, 10, 0, 0, time.UTC)
	now := func() time.Time { return at }
	server.Now = now
	n, err := Open(t.Context(), server.Client().Bucket(now), Options{Shards: 1, Flush: time.Millisecond,
		Retention: 6 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	send := func() {
		var id store.ID
		binary.BigEndian.PutUint64(id.View[:], rnd.Uint64())
		if _, err := n.Append(t.Context(), []store.Record{recordOf(id, rnd)}); err != nil {
			t.Fatal(err)
		}
		n.RollUp(t.Context())
	}
	runs := func() (hours int) {
		m, _, err := n.b.Manifest(t.Context(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range m.Hours {
			if len(h.Runs) > 0 {
				hours++
			}
		}
		return hours
	}
	for range 4 { // hours 10 to 13
		send()
		at = at.Add(time.Hour)
	}
	send()
	send() // hour 14 has two runs, so closing it compacts them
	m, _, _ := n.b.Manifest(t.Context(), 0, 0)
	bad := layout.RunKey(0, layout.HourOf(at), m.Hours[layout.HourOf(at)].Runs[0].ID)
	damage(t, n, bad, false)
	for i := range 3 * 24 {
		at = at.Add(time.Hour)
		n.RollUp(t.Context())
		if c := n.Counters(); i == 3 && (c.Open[0] != 0 || c.Quarantined != 1) {
			t.Errorf("the oldest hour has been over for %v and is not closed, %d objects are quarantined", c.Open[0],
				c.Quarantined)
		}
	}
	if left := runs(); left > 0 {
		t.Errorf("three days later the traces of %d hours are left, with a retention of six hours", left)
	}
}
