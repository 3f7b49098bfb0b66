package local_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/store/local/part"
)

// lines is a log that counts lines.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

// with returns the lines that contain text.
func (l *lines) with(text string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.buf.String()) {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// gate holds up whoever asks for the time while it is shut.
type gate struct{ shut atomic.Pointer[chan struct{}] }

func (g *gate) Now() time.Time {
	if hold := g.shut.Load(); hold != nil {
		<-*hold
	}
	return noon
}

func (g *gate) close() {
	hold := make(chan struct{})
	g.shut.Store(&hold)
}

func (g *gate) open() { close(*g.shut.Swap(nil)) }

// stuckWith checks what the store says it is stuck with, "" if it is not.
func stuckWith(t *testing.T, s *local.Store, want ...string) {
	t.Helper()
	err := s.Stuck()
	if len(want) == 0 {
		if err != nil {
			t.Errorf("stuck with %v, want not to be", err)
		}
		return
	}
	if !errors.Is(err, store.ErrStuck) {
		t.Errorf("got %v, want that the store is stuck", err)
		return
	}
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("stuck with %v, want also %q", err, text)
		}
	}
}

// A delivery that waits for ten seconds makes the store refuse others, says what waits for
// what, and is forgotten when it goes on.
func TestStuckDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lines
		g := &gate{}
		o := testOptions(t, nil)
		o.Now, o.Logger = g.Now, slog.New(slog.NewTextHandler(&log, nil))
		s := mustOpen(t, t.TempDir(), o)
		mustAppend(t, s, testRecord(0))
		g.close()
		waiting := make(chan error, 1)
		go func() {
			_, err := s.Append(context.Background(), []store.Record{testRecord(1)})
			waiting <- err
		}()
		time.Sleep(9 * time.Second)
		stuckWith(t, s)
		if got := s.OldestWait().Round(time.Second); got != 9*time.Second {
			t.Errorf("the oldest delivery waits for %v, want 9 s", got)
		}
		time.Sleep(3 * time.Second)
		stuckWith(t, s, "delivery has been waiting for its commit for 1", "committer has been")
		if _, err := s.Append(t.Context(), []store.Record{testRecord(2)}); !errors.Is(err, store.ErrStuck) {
			t.Errorf("append: got %v, want that the store is stuck", err)
		}
		time.Sleep(time.Minute)
		stuckWith(t, s, "delivery")
		if got := log.with("goroutine "); len(got) != 1 || !strings.Contains(got[0], "the store is stuck") {
			t.Errorf("%d lines of the log have goroutines, want one: %.300q", len(got), got)
		}
		g.open()
		if err := <-waiting; !errors.Is(err, store.ErrStuck) {
			t.Errorf("the delivery that waited: got %v, want that the store is stuck", err)
		}
		time.Sleep(2 * time.Second)
		stuckWith(t, s)
		mustAppend(t, s, testRecord(2))
		if s.OldestWait() != 0 {
			t.Error("a delivery waits")
		}
		wantAll(t, s, store.Query{}, 0, 3) // also what was given up on
		mustClose(t, s)
	})
}

// Rolling up and maintenance that do not come to a next step for a minute are said, too.
func TestStuckUpkeep(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(*local.Store) error
		want []string
	}{
		"roll":     {func(s *local.Store) error { return s.Roll(context.Background()) }, []string{"rolling up has been at work for 1m"}},
		"maintain": {func(s *local.Store) error { return s.Maintain(context.Background()) }, []string{"maintain has been at work for 1m", "committer has been maintaining for 1m"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &gate{}
				o := testOptions(t, nil)
				o.Now = g.Now
				s := mustOpen(t, t.TempDir(), o)
				mustAppend(t, s, testRecord(0))
				g.close()
				done := make(chan error, 1)
				go func() { done <- tt.do(s) }()
				time.Sleep(59 * time.Second)
				stuckWith(t, s)
				time.Sleep(3 * time.Second)
				stuckWith(t, s, tt.want...)
				g.open()
				if err := <-done; err != nil {
					t.Error(err)
				}
				time.Sleep(2 * time.Second)
				stuckWith(t, s)
				mustClose(t, s)
			})
		})
	}
}

// Maintenance waits for a partition to be closed, which a reader holds up, and says so.
func TestStuckClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock(noon)
		s := mustOpen(t, t.TempDir(), testOptions(t, c))
		mustAppend(t, s, testRecord(0))
		reading, hold := make(chan struct{}), make(chan struct{})
		read := make(chan error, 1)
		go func() {
			read <- s.Parts().Read(context.Background(), s.Parts().All()[0].Partition, func(*part.Txn) error {
				close(reading)
				<-hold
				return nil
			})
		}()
		<-reading
		for range 3 {
			c.Add(time.Hour)
			mustAppend(t, s, testRecord(1)) // no turn waits for a reader
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if err := s.Maintain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("maintain beside a reader that does not end: got %v, want the end of its context", err)
		}
		stuckWith(t, s)
		done := make(chan error, 1)
		go func() { done <- s.Maintain(context.Background()) }()
		time.Sleep(63 * time.Second)
		stuckWith(t, s, "maintain has been waiting for partitions to be closed and deleted for 1m")
		close(hold)
		if err := errors.Join(<-read, <-done); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
		stuckWith(t, s)
		mustClose(t, s)
	})
}

// Close leaves what does not end within a minute as it is, for the next start to recover.
func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := mustOpen(t, dir, testOptions(t, newClock(noon)))
		mustAppend(t, s, testRecords(0, 20)...)
		reading, hold := make(chan struct{}), make(chan struct{})
		read := make(chan error, 1)
		go func() {
			_, err := s.Scan(context.Background(), store.Query{}, func(store.Record) error {
				select {
				case <-reading:
				default:
					close(reading)
				}
				<-hold
				return nil
			})
			read <- err
		}()
		<-reading
		begin := time.Now()
		if err := s.Close(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close beside a scan that does not end: got %v, want that it took too long", err)
		}
		if took := time.Since(begin).Round(time.Second); took != time.Minute {
			t.Errorf("close took %v, want a minute", took)
		}
		copied := mustOpen(t, copyDir(t, dir), testOptions(t, newClock(noon)))
		wantAll(t, copied, store.Query{}, 0, 20)
		mustClose(t, copied)
		close(hold)
		if err := errors.Join(<-read, s.Finish()); err != nil {
			t.Error(err)
		}
	})
}
