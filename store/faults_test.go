package store

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Maintain, and with it sealing, retention and rolling up, gets its turn under a queue that
// is always full.
func TestMaintainUnderLoad(t *testing.T) {
	s := mustOpen(t, t.TempDir(), testOptions(t, nil))
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var next atomic.Int64
	for range 64 {
		all.Go(func() {
			for ctx.Err() == nil {
				n := int(next.Add(20)) // 12 such batches fill a group, and a 13th never fits
				if _, err := s.Append(context.Background(), testRecords(n, n+20)); err != nil && !errors.Is(err, ErrBusy) {
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
	c := newClock(noon)
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, c))
	mustAppend(t, s, testRecord(0))
	c.Add(time.Hour)
	if err := os.Mkdir(filepath.Join(dir, "20261121T13"), 0o700); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, testRecord(1))
	wantAll(t, s, Query{}, 0, 2)
}

// After a commit that went wrong nothing is written any more: page views without a trace
// would take the number of the commit whose fate is unknown.
func TestNothingAfterFailure(t *testing.T) {
	s := mustOpen(t, t.TempDir(), testOptions(t, newClock(noon)))
	mustAppend(t, s, testRecord(1))
	s.CountViews("/feed", "unsampled", 3)
	s.fail(os.ErrInvalid)
	before := s.writer.next
	if err := s.storeOutcomes(t.Context(), 0); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("storing page views after a failure: got %v, want the failure", err)
	}
	if got := s.writer.next; got != before {
		t.Errorf("next commit %d, want %d as before", got, before)
	}
}

// Whoever calls Close finds the directory closed when it returns.
func TestCloseTwice(t *testing.T) {
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

// A partition before that could not be read once is searched for repeats the next time.
func TestRepeatsAfterFault(t *testing.T) {
	c := newClock(noon)
	s := mustOpen(t, t.TempDir(), testOptions(t, c))
	mustAppend(t, s, testRecords(0, 10)...)
	c.Add(time.Hour)
	mustAppend(t, s, testRecord(10))
	fault := func(err error) {
		s.shelf.mu.Lock()
		defer s.shelf.mu.Unlock()
		s.shelf.parts[0].fault = err
	}
	fault(fs.ErrPermission)
	mustAppend(t, s, testRecord(11))
	fault(nil)
	if got := mustAppend(t, s, testRecords(0, 10)...); got.Duplicates != 10 {
		t.Errorf("got %+v, want 10 repeats", got)
	}
}

// A damaged block that the look for repeats meets does not stop the store: the next start
// would meet it again.
func TestDamageBesideRepeats(t *testing.T) {
	const n = 300
	_, part := filled(t, n)
	whole, err := os.ReadFile(glob(t, part, "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		c := newClock(noon)
		dir := copyDir(t, filepath.Dir(part))
		b := append([]byte(nil), whole...)
		for range 8 {
			b[r.IntN(len(b)*3/4)] ^= 0x55
		}
		if err := os.WriteFile(glob(t, filepath.Join(dir, "20261121T12"), "*.sst"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		s := mustOpen(t, dir, testOptions(t, c))
		if _, err := s.Append(t.Context(), testRecords(n/2, n+50)); err != nil {
			t.Errorf("append beside damage: %v", err)
		}
		mustClose(t, s)
	}
}
