package part

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Who waits for the moment at which nobody reads does not keep readers out, so a reader
// may read within a read.
func TestReadWithinRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, t.TempDir())
		put(t, s, noon, 0, 10)
		p := s.All()[0].Partition
		taken := make(chan error, 1)
		err := s.Read(t.Context(), p, func(*Txn) error {
			go func() { taken <- s.take(context.Background(), p) }()
			synctest.Wait() // until it waits for this reader
			select {
			case <-taken:
				t.Error("a partition is taken while it is read")
			default:
			}
			for range 3 {
				if n, err := readAll(t.Context(), s, p); n != 10 || err != nil {
					t.Errorf("read within a read: got %d, %v, want 10", n, err)
				}
			}
			var others sync.WaitGroup
			for range 3 {
				others.Go(func() {
					if _, err := readAll(t.Context(), s, p); err != nil {
						t.Errorf("read beside who waits to close: %v", err)
					}
				})
			}
			others.Wait()
			return nil
		})
		if err := errors.Join(err, <-taken); err != nil {
			t.Error(err)
		}
		s.give(p, func() {})
		wantEntries(t, s, 10)
		closeShelf(t, s)
	})
}

// What goes on in the background may read after the end: it opens nothing again.
func TestReadAfterClose(t *testing.T) {
	s := open(t, t.TempDir())
	put(t, s, noon, 0, 10)
	p := s.All()[0].Partition
	closeShelf(t, s)
	if n, err := readAll(t.Context(), s, p); !errors.Is(err, ErrClosed) || p.db != nil {
		t.Errorf("%d entries, %v, open %t", n, err, p.db != nil)
	}
}

// Every wait ends with its context, and leaves nothing behind.
func TestWaitsHeedContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, t.TempDir())
		put(t, s, noon, 0, 10)
		p := s.All()[0].Partition
		bounded := func(what string, f func(context.Context) error) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begin := time.Now()
			if err := f(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
				t.Errorf("%s: got %v after %v, want the end of its context after a second", what, err, time.Since(begin))
			}
		}
		read := func(ctx context.Context) error { return s.Read(ctx, p, func(*Txn) error { return nil }) }
		take := func(ctx context.Context) error { return s.take(ctx, p) }
		if err := take(t.Context()); err != nil { // a change that does not end
			t.Fatal(err)
		}
		bounded("read during a change", read)
		bounded("change during a change", take)
		s.give(p, func() {})
		err := s.Read(t.Context(), p, func(*Txn) error {
			bounded("change during a read", take)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		for range 2 { // nobody waits for who has given up
			if err := take(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.give(p, func() {})
		}
		wantEntries(t, s, 10)
		closeShelf(t, s)
	})
}

// Who waits for a partition gets it in the order in which they came, and readers wait
// no longer than for one change.
func TestTakersInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, t.TempDir())
		put(t, s, noon, 0, 10)
		p := s.All()[0].Partition
		if err := s.take(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		var order []int
		var all sync.WaitGroup
		for n := range 3 {
			all.Go(func() {
				if err := s.take(t.Context(), p); err != nil {
					t.Error(err)
				}
				order = append(order, n) // guarded by having the partition
				s.give(p, func() {})
			})
			synctest.Wait()
		}
		s.give(p, func() {})
		all.Wait()
		for i, n := range order {
			if i != n {
				t.Errorf("got order %v, want 0, 1, 2", order)
			}
		}
		closeShelf(t, s)
	})
}

// What is pinned stays until it is not any more, and is then deleted.
func TestRemovePinned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	for h := range 3 {
		put(t, s, noon.Add(time.Duration(h)*time.Hour), 10*h, 10*h+10)
	}
	pinned, unpin := s.Pin(func(p *Info) bool { return p.Name == "20261121T12" })
	if len(pinned) != 1 {
		t.Fatalf("got %d partitions, want 1", len(pinned))
	}
	s.Remove("20261121T12", "20261121T13")
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := readAll(t.Context(), s, pinned[0].Partition); n != 10 || err != nil {
		t.Errorf("what is pinned: got %d entries, %v, want 10", n, err)
	}
	wantEntries(t, s, 10)
	unpin()
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(t.Context(), s, pinned[0].Partition); !errors.Is(err, ErrGone) {
		t.Errorf("what was deleted: got %v, want that it is gone", err)
	}
	put(t, s, noon.Add(2*time.Hour), 30, 40) // which would look for repeats in what is gone
	wantEntries(t, s, 20)
	closeShelf(t, s)
	wantEntries(t, open(t, dir), 20)
}
