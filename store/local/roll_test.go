package local_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

// Rolled up or not, at any time, with any interruption, the answers are those of the traces.
func TestRollupsEqualTraces(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 7))
			c := newClock(noon.Add(-30 * time.Minute))
			o := testOptions(t, c)
			o.RollEvery, o.RollTraces = time.Nanosecond, 1
			dir := t.TempDir()
			s := mustOpen(t, dir, o)
			check := func() {
				t.Helper()
				now := c.Now()
				for _, q := range []store.Query{{Page: "/feed"}, {}, {Page: "/feed", Since: now.Add(-100 * time.Minute)},
					{Page: "/feed", Until: now.Add(-25 * time.Hour)}, {Since: now.Add(-50 * time.Hour), Until: now.Add(-3 * time.Hour)}} {
					got, stats := answer(t, s.Reader, q, false)
					want, _ := answer(t, s.Reader, q, true)
					if got != want {
						t.Fatalf("%+v at %v:\n%s\n%+v", q, now, differences(got, want), stats)
					}
					if !stats.Complete() {
						t.Fatalf("%+v at %v: incomplete: %+v", q, now, stats)
					}
				}
			}
			roll := func() {
				s.SetStint(time.Duration(r.IntN(2)) * time.Second) // without time it does not come to everything
				rollAll(t, s)
			}
			view := uint64(0)
			var views []store.ID
			chunks := map[store.ID]uint32{}
			for range 40 {
				var recs []store.Record
				for range 1 + r.IntN(12) {
					id := store.ID{}
					view++
					id.View[0], id.View[1], id.View[15] = byte(r.IntN(256)), byte(view>>8), byte(view)
					if len(views) > 0 && r.IntN(3) > 0 { // another chunk of a view that is there
						id = views[r.IntN(len(views))]
					} else {
						views = append(views, id)
					}
					chunks[id]++
					id.Chunk = chunks[id] - 1
					if r.IntN(4) == 0 {
						id.Chunk = 1000 - id.Chunk // out of order
					}
					recs = append(recs, traceRecord(t, fieldTrace(r, id), id))
				}
				mustAppend(t, s, recs...)
				switch r.IntN(8) {
				case 0, 1, 2:
					roll()
				case 3:
					c.Add(time.Duration(r.IntN(90)) * time.Minute)
				case 4:
					c.Add(time.Duration(r.IntN(20)) * time.Hour)
					if err := s.Maintain(t.Context()); err != nil {
						t.Fatal(err)
					}
				case 5:
					mustClose(t, s)
					s = mustOpen(t, dir, o)
				case 6:
					check()
				}
			}
			check()
			c.Add(48 * time.Hour)
			if err := s.Maintain(t.Context()); err != nil {
				t.Fatal(err)
			}
			rollAll(t, s)
			check()
			_, stats := answer(t, s.Reader, store.Query{}, false)
			if stats.Days == 0 || stats.Partitions != 0 {
				t.Errorf("at the end days are read, and no traces: %+v", stats)
			}
		})
	}
}

// What an earlier process has left is counted, and rolled up without anything that comes. What ends in good order leaves
// nothing.
func TestRollAfterStart(t *testing.T) {
	t.Parallel()
	for _, ends := range []string{"at once", "in good order"} {
		t.Run(ends, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 9))
			c := newClock(noon)
			o := testOptions(t, c)
			dir, keys := t.TempDir(), 0
			s := mustOpen(t, dir, o)
			store := func(n int) {
				for range n {
					id := store.ID{Chunk: uint32(keys)}
					rec := traceRecord(t, fieldTrace(r, id), id)
					mustAppend(t, s, rec)
					keys += len(rec.Pages)
				}
			}
			store(100)
			left := keys
			if ends == "in good order" {
				if err := s.RollUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				left = 0
			}
			if got := s.Counters().Unrolled; got != left {
				t.Errorf("%d wait at the end, want %d", got, left)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			c.Add(time.Minute)
			s = mustOpen(t, dir, o)
			before := keys
			if ends == "at once" {
				store(10) // before the first roll
			}
			canceled, cancel := context.WithCancel(t.Context())
			cancel()
			_ = s.Roll(canceled)
			mustRoll(t, s)
			got := s.Counters()
			if got.RolledUp != uint64(left+keys-before) || got.Unrolled != 0 {
				t.Errorf("%d of %d are rolled up, and %d wait", got.RolledUp, left+keys-before, got.Unrolled)
			}
		})
	}
}

// What waits to be rolled up counts until it is, also where that is closed meanwhile.
func TestUnrolled(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 7))
	c := newClock(noon)
	o := testOptions(t, c)
	o.RollEvery, o.RollTraces = time.Nanosecond, 1
	s := mustOpen(t, t.TempDir(), o)
	s.SetStint(0) // one step at a time
	keys := 0
	store := func(n int) {
		for range n {
			id := store.ID{Chunk: uint32(keys)}
			rec := traceRecord(t, fieldTrace(r, id), id)
			mustAppend(t, s, rec)
			keys += len(rec.Pages)
		}
	}
	unrolled := func() int {
		t.Helper()
		got := s.Counters()
		if got.RolledUp+uint64(got.Unrolled) != uint64(keys) {
			t.Errorf("%d rolled up and %d not, of %d", got.RolledUp, got.Unrolled, keys)
		}
		return got.Unrolled
	}
	store(100)
	if got := unrolled(); got != keys {
		t.Errorf("%d of %d are not rolled up before it is begun", got, keys)
	}
	if err := s.Roll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := unrolled(); got == 0 || got == keys {
		t.Errorf("%d of %d are not rolled up after a step", got, keys)
	}
	c.Add(2 * time.Hour)
	store(1) // the rest is rolled up with what is closed
	rollAll(t, s)
	if got := unrolled(); got != 0 {
		t.Errorf("%d of %d are not rolled up at the end", got, keys)
	}
}
