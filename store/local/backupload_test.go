package local_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
)

// Traces that come at the same moment are in a backup by whole commits and in their order,
// and counted alike by rollups and by traces.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	o := testOptions(t, c)
	o.RollEvery, o.RollTraces = time.Nanosecond, 1
	s := mustOpen(t, t.TempDir(), o)
	l := &load{s: s, c: c}
	times := 4
	if testing.Short() {
		times = 2
	}
	for range times {
		done := l.begin(t)
		before := map[store.ID]bool{}
		l.acked.Range(func(id, _ any) bool { before[id.(store.ID)] = true; return true })
		var b bytes.Buffer
		stats, err := s.Backup(t.Context(), &b)
		done()
		if err != nil {
			t.Fatal(err)
		}
		checkLoaded(t, o, &b, before, stats)
	}
}

// load is what clients and the clock do to a store.
type load struct {
	s     *local.Store
	c     *clock
	acked sync.Map // IDs
	sent  int      // batches, by each client
}

// begin has clients send a number of batches, and time passes with each. It returns when it is well
// under way, and what it returns waits for its end.
func (l *load) begin(t *testing.T) (done func()) {
	const clients, batches, size = 4, 30, 3
	stored := make(chan struct{}, clients*batches)
	over := make(chan struct{})
	var work, all sync.WaitGroup
	first := l.sent
	l.sent += batches
	for g := range clients {
		work.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), uint64(first)))
			for n := first; n < first+batches; n++ {
				recs := fieldRecords(t, r, g*100_000+n*size, size)
				if _, err := l.s.Append(t.Context(), recs); err != nil {
					t.Error(err)
				}
				for _, rec := range recs {
					l.acked.Store(rec.ID, true)
				}
				l.c.Add(time.Minute)
				stored <- struct{}{}
			}
		})
	}
	all.Go(func() { work.Wait(); close(over) })
	all.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
			}
			if err := errors.Join(l.s.Roll(t.Context()), l.s.Maintain(t.Context())); err != nil {
				t.Error(err)
			}
		}
	})
	for range clients * batches / 4 {
		<-stored
	}
	return all.Wait
}

func checkLoaded(t *testing.T, o local.Options, backup io.Reader, before map[store.ID]bool, stats local.BackupStats) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "restored")
	if _, err := local.Restore(t.Context(), backup, to, o, nil); err != nil {
		t.Fatal(err)
	}
	r, err := local.OpenReader(to, o)
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, r)
	seen := map[store.ID]int{}
	st, err := r.Scan(t.Context(), store.Query{}, func(rec store.Record) error { seen[rec.ID]++; return nil })
	if err != nil || !st.Complete() || uint64(len(seen)) != stats.Traces {
		t.Errorf("scan of %d traces, the backup has %d: %+v %v", len(seen), stats.Traces, st, err)
	}
	for id := range before {
		if seen[id] != 1 {
			t.Errorf("trace %s, acknowledged before, is there %d times", id, seen[id])
		}
	}
	for id := range seen { // each client waits for one trace before it sends the next
		if k := id.Chunk % 100_000; k > 2 && seen[traceID(int(id.Chunk)-3)] == 0 {
			t.Errorf("trace %d is there and not %d", id.Chunk, id.Chunk-3)
		}
	}
	for _, q := range []store.Query{{}, {Page: "/feed"}} {
		got, gs := answer(t, r, q, false)
		want, _ := answer(t, r, q, true)
		if got != want || !gs.Complete() {
			t.Errorf("by rollups, by traces:\n%s\n%+v", differences(got, want), gs)
		}
	}
}
