package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func mustLock(t *testing.T, dir string) *Lock {
	t.Helper()
	l, err := OpenLock(dir, "disktest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Release() })
	return l
}

// Readers share a directory, a writer has it exclusively, and errors name the holder.
func TestLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b, c := mustLock(t, dir), mustLock(t, dir), mustLock(t, dir)
	for _, l := range []*Lock{a, b} {
		if err := l.Shared(0); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(what string, err error) {
		t.Helper()
		if e, ok := errors.AsType[*InUseError](err); !ok || e.PID != os.Getpid() || e.Program != "disktest" ||
			e.Dir != dir {
			t.Errorf("%s: got %v, want that this process has the directory open", what, err)
		}
	}
	refused("a writer while there are readers", c.Exclusive("write", 0))
	waited := make(chan error, 1)
	go func() { waited <- c.Exclusive("write", time.Minute) }() // readers are short-lived
	if err := errors.Join(a.Release(), b.Release()); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Fatalf("a writer after the readers: %v", err)
	}
	a, b = mustLock(t, dir), mustLock(t, dir)
	refused("a reader during a write lock", a.Shared(time.Minute)) // it does not wait for a writer
	refused("a writer during a write lock", b.Exclusive("write", time.Minute))
	if err := c.Release(); err != nil {
		t.Fatal(err)
	}
	// A reader that recovers is short-lived, so others wait for it.
	if err := a.Exclusive("recover", 0); err != nil {
		t.Fatal(err)
	}
	go func() { waited <- b.Shared(time.Minute) }()
	if err := a.Shared(0); err != nil { // downgrade the same lock
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Errorf("a reader in parallel with one that recovers: %v", err)
	}
}

// A new holder may not have signed yet: the note is still the previous writer's.
func TestLockUnsigned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gone, recovers, reader := mustLock(t, dir), mustLock(t, dir), mustLock(t, dir)
	if err := errors.Join(gone.Exclusive("write", 0), gone.Release(), tryFlock(recovers.f, true)); err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 1)
	go func() { waited <- reader.Shared(time.Minute) }()
	time.Sleep(signWait / 5) // longer than one retry
	if err := errors.Join(recovers.sign("recover"), unlock(recovers.f)); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Errorf("got %v, want that the reader waits for the note", err)
	}
}

// A reader without write permission still shares the lock.
func TestLockReadOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, LockFile), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := mustLock(t, dir).Shared(0); err != nil {
		t.Error(err)
	}
}

// Removing or replacing the lock file does not let another process in. Where a directory cannot be
// locked, the holder notices.
func TestLockFileRemoved(t *testing.T) {
	t.Parallel()
	for _, byFile := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, LockFile)
		open := func() *Lock {
			l := mustLock(t, dir)
			if byFile {
				l.folder.Close()
				l.folder = nil
			}
			return l
		}
		first := open()
		if err := errors.Join(first.Exclusive("write", 0), first.Check()); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		second := open()
		err := second.Exclusive("write", 0)
		if _, inUse := errors.AsType[*InUseError](err); inUse == byFile || (first.Check() != nil) != byFile {
			t.Errorf("by the file: %v: the second has %v, the first has %v", byFile, err, first.Check())
		}
	}
}
