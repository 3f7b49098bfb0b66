package commits

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/faultyfs"
)

// If no generation can be created, as on a read-only file system or without free inodes, Failure
// returns the error until a write succeeds. The log retries automatically.
func TestFailureToBegin(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "commits")
	l := open(t, dir, Options{RetryAfter: 20 * time.Millisecond})
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // prevents creating the folder
		t.Fatal(err)
	}
	if err := l.Put(t.Context(), "seg/1", []byte("x")); err == nil {
		t.Fatal("the commit was put")
	}
	for range 5 {
		if l.Failure() == nil {
			t.Fatal("Failure returns nil")
		}
		time.Sleep(30 * time.Millisecond)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); l.Failure() != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still %v", l.Failure())
		}
	}
	if got := l.List("", ""); len(got) > 0 {
		t.Errorf("the attempts left %v", got)
	}
}

// A generation in which a write failed takes no more commits, and its earlier commits can still be
// read.
func TestWriteFails(t *testing.T) {
	f := &faultyfs.FS{}
	dir, want := t.TempDir(), model{"seg/1": []byte("one"), "seg/3": []byte("three")}
	l := open(t, dir, Options{FS: f})
	if err := l.Put(t.Context(), "seg/1", want["seg/1"]); err != nil {
		t.Fatal(err)
	}
	f.Set(faultyfs.Fault{N: 1, Only: faultyfs.On("badger update")})
	if err := l.Put(t.Context(), "seg/2", []byte("two")); err == nil || l.Failure() == nil {
		t.Errorf("got %v, failure %v", err, l.Failure())
	}
	if got := l.generations[0].state; got != failed {
		t.Errorf("state %d", got)
	}
	if err := l.Put(t.Context(), "seg/3", want["seg/3"]); err != nil || l.Failure() != nil {
		t.Fatal(err, l.Failure())
	}
	l.settle()
	if len(l.generations) != 2 || l.generations[0].state != scanned || l.generations[1].state != active {
		t.Errorf("got %d generations", len(l.generations))
	}
	want.check(t, "after a failed write", l)
	killed := image(t, dir, l)
	want.check(t, "killed", open(t, killed, Options{}))
}

// An open generation is kept although all of its commits are deleted, because other commits may be
// on their way to it.
func TestOpenGenerationStays(t *testing.T) {
	l := open(t, t.TempDir(), Options{})
	if err := l.Put(t.Context(), "seg/1", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := l.Delete(t.Context(), "seg/1"); err != nil {
		t.Fatal(err)
	}
	if g := l.generations[0]; g.state != active || g.live != 0 {
		t.Errorf("state %d, %d commits", g.state, g.live)
	} else if _, err := os.Stat(g.path); err != nil {
		t.Error(err)
	}
}

// States change only as the table allows.
func TestTransitions(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an active generation was removed")
		}
	}()
	(&generation{state: active}).to(removed)
}
