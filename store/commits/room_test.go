package commits

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// While the disk is full, the log does not write to Badger. Deletions last until the next start,
// Close returns immediately, and the next start finds all commits that were put. Once there is
// space, generations that were left open are closed and removed.
func TestNoRoom(t *testing.T) {
	var full atomic.Bool
	now := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	dir, want := t.TempDir(), model{}
	o := Options{Now: func() time.Time { return now }, Room: func() bool { return !full.Load() }}
	l := open(t, dir, o)
	put := func(n int) {
		t.Helper()
		key, body := fmt.Sprint("seg/", n), fmt.Append(nil, "body ", n)
		if err := l.Put(t.Context(), key, body); err != nil {
			t.Fatal(err)
		}
		want[key] = body
	}
	put(1)
	put(2)
	full.Store(true)
	now = now.Add(2 * time.Hour)
	put(3) // creates another generation, while the first one cannot be closed
	l.settle()
	want.check(t, "while the disk is full", l)
	if err := l.Delete(t.Context(), "seg/1"); err != nil {
		t.Fatal(err)
	}
	if got := l.List("", ""); len(got) != 2 {
		t.Errorf("after deleting seg/1: got %v", got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir, o)
	want.check(t, "after a start", l) // including seg/1

	put(4)
	now = now.Add(2 * time.Hour)
	put(5)
	l.settle()
	full.Store(false)
	for key := range want {
		if err := l.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir, o)
	if got := l.List("", ""); len(got) > 0 {
		t.Errorf("after deleting all: got %v", got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
