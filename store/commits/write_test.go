package commits

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/faultyfs"
)

// That no generation can be begun, as on a read-only file system or without free inodes, is a
// failure. It lasts until a write succeeds, and the log retries automatically.
func TestFailureToBegin(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "commits")
	l := open(t, dir, Options{RetryAfter: 20 * time.Millisecond})
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // so no folder can be made there
		t.Fatal(err)
	}
	if err := l.Put(t.Context(), "seg/1", []byte("x")); err == nil {
		t.Fatal("it was put")
	}
	for range 5 {
		if l.Failure() == nil {
			t.Fatal("the failure is forgotten")
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
		t.Errorf("%v is left of the attempts", got)
	}
}

// A generation in which a write failed takes no more commits, and those before are read from it.
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

// An open generation stays, although all of its commits are deleted: others are on their way to it.
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

// States change along the table, and no other way.
func TestTransitions(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a generation that takes commits was removed")
		}
	}()
	(&generation{state: active}).to(removed)
}
