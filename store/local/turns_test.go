package local_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/pprof"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Rolling up reads dictionaries that it does not know yet while the hour ends. Neither waits
// for the other for good.
func TestRollWhileSealing(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	o := testOptions(t, c)
	o.RollEvery, o.RollTraces = time.Nanosecond, 1
	s := mustOpen(t, t.TempDir(), o)
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		for n := round * 1000; n < (round+1)*1000; n += 100 { // enough of one page for a new dictionary
			var recs []store.Record
			for k := n; k < n+100; k++ {
				id := traceID(k)
				recs = append(recs, traceRecord(t, fieldTrace(r, id), id))
			}
			mustAppend(t, s, recs...)
		}
		both := make(chan error, 2)
		go func() { both <- s.Roll(context.Background()) }()
		c.Add(time.Hour) // Maintain seals the hour
		go func() { both <- s.Maintain(context.Background()) }()
		for range 2 {
			select {
			case err := <-both:
				if err != nil {
					t.Fatal(err)
				}
			case <-time.After(time.Minute):
				_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
				t.Fatal("rolling up and sealing wait for each other")
			}
		}
	}
}

// A backup whose reader takes its time holds up deletions, and neither rolling up nor queries
// nor the turn of the hour.
func TestBackupHoldsNobody(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	o := rolledOptions(t, c)
	o.Retention = 90 * time.Minute
	s := mustOpen(t, t.TempDir(), o)
	r := rand.New(rand.NewPCG(1, 2))
	put := func(from int) { mustAppend(t, s, fieldRecords(t, r, from, 20)...) }
	put(0)
	maintainAndRoll(t, s)
	c.Add(time.Hour)
	put(20)
	maintainAndRoll(t, s)
	begun, hold := make(chan struct{}), make(chan struct{})
	var once sync.Once
	w := &busyWriter{do: func() {
		once.Do(func() { close(begun) })
		<-hold
	}}
	backup := make(chan error, 1)
	go func() {
		_, err := s.Backup(t.Context(), w)
		backup <- err
	}()
	<-begun
	bounded := func(what string, f func(context.Context) error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if err := f(ctx); err != nil {
			_ = pprof.Lookup("goroutine").WriteTo(t.Output(), 2)
			t.Errorf("%s beside a backup: %v", what, err)
		}
	}
	ask := func(ctx context.Context) error {
		_, err := s.Select(ctx, store.Query{Page: "/feed"}, store.Wanted{Level: rollup.Narrow},
			func(store.Record) error { return nil }, func(store.Rolled) error { return nil })
		return err
	}
	for n := 40; n < 100; n += 20 {
		c.Add(time.Hour)
		put(n)
		bounded("Roll", s.Roll)
		bounded("Maintain", s.Maintain)
		bounded("Roll", s.Roll)
		bounded("Select", ask)
	}
	if err := s.Stuck(); err != nil {
		t.Error(err)
	}
	close(hold)
	if err := <-backup; err != nil {
		t.Error(err)
	}
	want, _ := answer(t, s.Reader, store.Query{Page: "/feed"}, true)
	if got, st := answer(t, s.Reader, store.Query{Page: "/feed", Since: c.Now().Add(-o.Retention)}, false); got != want || !st.Complete() {
		t.Errorf("afterwards:\n%s\n%+v", differences(got, want), st)
	}
	to := filepath.Join(t.TempDir(), "x")
	if _, err := local.Restore(t.Context(), &w.Buffer, to, o, nil); err != nil {
		t.Error(err)
	}
}
