package local_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
)

// TestRolloversUnderLoad has hours pass while traces come, partitions are sealed and rolled
// up, and queries run. SOAK_ROLLOVERS says how many.
func TestRolloversUnderLoad(t *testing.T) {
	t.Parallel()
	rollovers := rounds(t, "SOAK_ROLLOVERS", 30)
	records, err := realTraces()
	if err != nil {
		t.Fatal(err)
	}
	c := newClock(noon)
	o := rolledOptions(t, c)
	o.Logger = nil
	dir := t.TempDir()
	s := mustOpen(t, dir, o)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all, writers sync.WaitGroup
	var next atomic.Int64
	const clients, perHour = 4, 12
	turns := make(chan struct{}) // one for each trace
	for range clients {
		writers.Go(func() {
			for range turns {
				n := int(next.Add(1))
				rec, err := realRecord(records, n)
				if err == nil {
					_, err = s.Append(context.Background(), []store.Record{rec})
				}
				if err != nil {
					t.Errorf("append %d: %v", n, err)
				}
			}
		})
	}
	all.Go(func() {
		for ctx.Err() == nil {
			if err := s.Roll(ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("roll: %v", err)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	all.Go(func() {
		for ctx.Err() == nil {
			st, err := s.Scan(ctx, store.Query{Since: c.Now().Add(-3 * time.Hour)}, func(store.Record) error { return nil })
			if err == nil && !st.Complete() {
				t.Errorf("a scan is incomplete: %+v", st)
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	for range rollovers {
		c.Add(time.Hour)
		for range perHour { // all but one for each client are stored when the hour ends
			turns <- struct{}{}
		}
	}
	close(turns)
	writers.Wait()
	cancel()
	all.Wait()
	wantOnce(t, s, int(next.Load()))
	c.Add(48 * time.Hour)
	if err := s.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	rollAll(t, s)
	want, _ := answer(t, s.Reader, store.Query{}, true)
	if got, st := answer(t, s.Reader, store.Query{}, false); got != want || st.Partitions != 0 || !st.Complete() {
		t.Errorf("rollups answer otherwise:\n%.2000s\n%+v", differences(got, want), st)
	}
	mustClose(t, s)
	r, err := local.OpenReader(dir, o) // each partition read-only
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	wantOnce(t, r, int(next.Load()))
	st, err := r.Status()
	if err != nil || len(st.Partitions) < rollovers {
		t.Errorf("%d partitions, %v", len(st.Partitions), err)
	}
}

// wantOnce checks that the traces 1 to n are there, once each.
func wantOnce(t *testing.T, s scanner, n int) {
	t.Helper()
	seen := map[store.ID]int{}
	st, err := s.Scan(context.Background(), store.Query{}, func(r store.Record) error { seen[r.ID]++; return nil })
	if err != nil || !st.Complete() {
		t.Errorf("scan: %+v, %v", st, err)
	}
	for i := 1; i <= n; i++ {
		if seen[traceID(i)] != 1 {
			t.Errorf("trace %d is there %d times", i, seen[traceID(i)])
		}
	}
	if len(seen) != n {
		t.Errorf("%d traces, want %d", len(seen), n)
	}
}
