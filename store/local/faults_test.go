package local_test

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
)

// Maintain, and with it sealing, retention and rolling up, gets its turn under a queue that
// is always full.
func TestMaintainUnderLoad(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), testOptions(t, nil))
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var next atomic.Int64
	for range 64 {
		all.Go(func() {
			for ctx.Err() == nil {
				n := int(next.Add(20)) // 12 such batches fill a group, and a 13th never fits
				if _, err := s.Append(context.Background(), testRecords(n, n+20)); err != nil && !errors.Is(err, store.ErrBusy) {
					t.Error(err)
					return
				}
			}
		})
	}
	for s.Counters().Commits < 20 {
		time.Sleep(time.Millisecond)
	}
	asked, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Maintain(asked); err != nil {
		t.Errorf("Maintain beside a full queue: %v", err)
	}
	stop()
	all.Wait()
}

// A directory that an interrupted attempt has made is no obstacle.
func TestPartitionMadeBefore(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, c))
	mustAppend(t, s, testRecord(0))
	c.Add(time.Hour)
	if err := os.Mkdir(filepath.Join(dir, "20261121T13"), 0o700); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, testRecord(1))
	wantAll(t, s, store.Query{}, 0, 2)
}

// Whoever calls Close finds the directory closed when it returns.
func TestCloseTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, newClock(noon)))
	mustAppend(t, s, testRecords(0, 200)...)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			mustClose(t, s)
			if _, err := os.Stat(filepath.Join(dir, "20261121T12", "CLEAN")); err != nil {
				t.Errorf("after Close: %v", err)
			}
		})
	}
	all.Wait()
}

// After a commit that went wrong nothing is acknowledged and nothing is written any more, not
// even page views without a trace: they would take the number of the commit whose fate is
// unknown. The next start finds out what is there.
func TestFailure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := rolledOptions(t, newClock(noon))
	s := mustOpen(t, dir, o)
	mustAppend(t, s, testRecords(0, 10)...)
	s.CountViews("/feed", "unsampled", 3)
	last := s.Parts().All()[0].LastCommit
	s.Fail(errors.New("disk on fire"))
	for what, err := range map[string]error{"Append": appendErr(t, s), "Roll": s.Roll(t.Context()), "Err": s.Err()} {
		if err == nil || !strings.Contains(err.Error(), "store has stopped: disk on fire") {
			t.Errorf("%s after a failure: got %v, want that the store has stopped", what, err)
		}
	}
	wantAll(t, s, store.Query{}, 0, 10) // reading goes on
	s.Close()
	if _, err := os.Stat(filepath.Join(dir, "20261121T12", "CLEAN")); err == nil {
		t.Error("the partition was marked clean after a failure")
	}
	s = mustOpen(t, dir, o)
	if got := s.Parts().All()[0].LastCommit; got != last {
		t.Errorf("last commit %d, want %d as before", got, last)
	}
	wantAll(t, s, store.Query{}, 0, 10)
	mustAppend(t, s, testRecord(10))
	wantAll(t, s, store.Query{}, 0, 11)
}

func appendErr(t *testing.T, s *local.Store) error {
	t.Helper()
	_, err := s.Append(t.Context(), []store.Record{testRecord(0)})
	return err
}

// What waits in the queue when a commit fails is not acknowledged, though it could be written.
func TestQueuedAtFailure(t *testing.T) {
	t.Parallel()
	o := testOptions(t, newClock(noon))
	var held atomic.Bool
	hold, entered := make(chan struct{}), make(chan struct{}, 1)
	o.Now = func() time.Time { // the committer asks for the time at the start of a commit
		if held.Load() {
			select {
			case entered <- struct{}{}:
			default:
			}
			<-hold
		}
		return noon
	}
	s := mustOpen(t, t.TempDir(), o)
	mustAppend(t, s, testRecord(0))
	held.Store(true)
	var all sync.WaitGroup
	for n := 1; n < 3; n++ {
		all.Go(func() {
			res, err := s.Append(t.Context(), testRecords(n, n+1))
			if err == nil || err.Error() != "store has stopped: disk on fire" || res != (store.AppendResult{}) {
				t.Errorf("got %+v, %v, want nothing but that the store has stopped", res, err)
			}
		})
	}
	<-entered
	for s.Counters().QueuedTraces < 2 {
		time.Sleep(time.Millisecond)
	}
	s.Fail(errors.New("disk on fire"))
	held.Store(false)
	close(hold)
	all.Wait()
	if seen, _ := scanIDs(t, s, store.Query{}); len(seen) != 1 {
		t.Errorf("got %d traces, want only that from before", len(seen))
	}
}

// A partition before that could not be read once is searched for repeats the next time.
func TestRepeatsAfterFault(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	s := mustOpen(t, t.TempDir(), testOptions(t, c))
	mustAppend(t, s, testRecords(0, 10)...)
	c.Add(time.Hour)
	mustAppend(t, s, testRecord(10))
	before := s.Parts().All()[0].Partition
	s.Parts().SetFault(before, fs.ErrPermission)
	mustAppend(t, s, testRecord(11))
	s.Parts().SetFault(before, nil)
	if got := mustAppend(t, s, testRecords(0, 10)...); got.Duplicates != 10 {
		t.Errorf("got %+v, want 10 repeats", got)
	}
}

// A damaged block of the partition that a restart would go on with costs what is in it, and
// does not stop the store: the partition is left as it is, and the next one is begun.
func TestDamagedNewest(t *testing.T) {
	t.Parallel()
	const n = 300
	from, _ := filled(t, n)
	whole, err := os.ReadFile(glob(t, filepath.Join(from, "20261121T12"), "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		dir := copyDir(t, from)
		b := append([]byte(nil), whole...)
		for range 8 {
			b[r.IntN(len(b)*3/4)] ^= 0x55
		}
		if err := os.WriteFile(glob(t, filepath.Join(dir, "20261121T12"), "*.sst"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		s := mustOpen(t, dir, testOptions(t, newClock(noon)))
		for range 2 { // the next start meets it again
			if _, err := s.Append(t.Context(), testRecords(n/2, n+50)); err != nil {
				t.Errorf("append beside damage: %v", err)
			}
			if got, want := names(t, s), []string{"20261121T12 closed", "20261121T13 writing"}; !slices.Equal(got, want) {
				t.Errorf("got partitions %v, want %v", got, want)
			}
			seen, st := scanIDs(t, s, store.Query{})
			for k := n; k < n+50; k++ { // a repeat may be one of what is damaged by now
				if seen[traceID(k)] == 0 {
					t.Errorf("trace %d, acknowledged after the damage, is not there", k)
				}
			}
			if st.Complete() {
				t.Errorf("a scan of what is damaged calls itself complete: %+v", st)
			}
			mustClose(t, s)
			s = mustOpen(t, dir, testOptions(t, newClock(noon)))
		}
	}
}
