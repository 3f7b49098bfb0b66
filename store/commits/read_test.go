package commits

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/faultyfs"
)

// If the files of a generation cannot be read when it ends, no commit is lost: reads fail, but do
// not report damage; its folder is kept, and later reads succeed.
func TestFilesCannotBeRead(t *testing.T) {
	for _, cause := range []error{syscall.EMFILE, syscall.EIO} {
		for _, kind := range []string{faultyfs.ReadDir, faultyfs.Open, faultyfs.Read} {
			t.Run(cause.Error()+" of "+kind, func(t *testing.T) {
				dir, f := t.TempDir(), &faultyfs.FS{}
				now := time.Now()
				o := Options{FS: f, Now: func() time.Time { return now }}
				l, want := open(t, dir, o), model{}
				put := func(key string) {
					t.Helper()
					want[key] = []byte("body of " + key)
					if err := l.Put(t.Context(), key, want[key]); err != nil {
						t.Fatal(err)
					}
				}
				put("seg/1")
				put("seg/2")
				old := l.generations[0]
				f.Set(faultyfs.Fault{N: 1, Stays: true, Err: cause, Only: func(op faultyfs.Op) bool {
					return op.Kind == kind && strings.HasPrefix(op.Path, old.path)
				}})
				now = now.Add(2 * time.Hour)
				put("seg/3") // creates another generation
				l.settle()
				for range 3 {
					_, err := l.Get(t.Context(), "seg/1", 100)
					if !errors.Is(err, cause) || errors.Is(err, ErrDamaged) {
						t.Errorf("got %v", err)
					}
				}
				if err := l.Delete(t.Context(), "seg/2"); err != nil {
					t.Fatal(err)
				}
				delete(want, "seg/2")
				if _, err := os.Stat(old.path); err != nil {
					t.Fatal(err)
				}
				if _, err := Open(dir, Options{FS: f, ReadOnly: true}); !errors.Is(err, cause) {
					t.Errorf("a start without readable files: %v", err)
				}
				f.Set(faultyfs.Fault{})
				want.check(t, "after the fault", l)
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				l = open(t, dir, o)
				want.check(t, "after a start", l)
				if err := l.Delete(t.Context(), "seg/1"); err != nil {
					t.Fatal(err)
				}
				if _, err := os.Stat(old.path); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("all of its commits are deleted: %v", err)
				}
			})
		}
	}
}

// If Badger does not find a commit, or panics, the commit is read from the files.
func TestBadgerDoesNotFind(t *testing.T) {
	f := &faultyfs.FS{}
	l := open(t, t.TempDir(), Options{FS: f})
	body := bytes.Repeat([]byte("body "), maxPart/4) // several parts
	if err := l.Put(t.Context(), "seg/1", body); err != nil {
		t.Fatal(err)
	}
	f.Set(faultyfs.Fault{N: 1, Only: faultyfs.On("badger view")})
	if got, err := l.Get(t.Context(), "seg/1", 1<<22); err != nil || !bytes.Equal(got, body) || len(f.Failed()) != 1 {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	f.Set(faultyfs.Fault{N: 1, Stays: true, Only: faultyfs.On("badger view", faultyfs.ReadDir)})
	if got, err := l.Get(t.Context(), "seg/1", 1<<22); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("got %d bytes, %v, want a read error", len(got), err)
	}
}

// ErrDamaged is returned together with the bytes of the commit. Missing files are neither damage
// nor a deletion.
func TestDamagedBytes(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	l := open(t, dir, Options{Now: func() time.Time { return now }})
	body := bytes.Repeat([]byte("some text "), 1000)
	for _, key := range []string{"seg/1", "seg/2"} {
		if err := l.Put(t.Context(), key, body); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(2 * time.Hour)
	if err := l.Put(t.Context(), "seg/3", body); err != nil {
		t.Fatal(err)
	}
	l.settle()
	tables, err := filepath.Glob(filepath.Join(l.generations[0].path, "*.sst"))
	if err != nil || len(tables) != 1 {
		t.Fatalf("%q, %v", tables, err)
	}
	whole, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	harmed := bytes.Clone(whole)
	harmed[bytes.Index(harmed, body)+5000] ^= 1
	if err := os.WriteFile(tables[0], harmed, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, again := range []bool{false, true} { // scanned before the damage, and after it
		got, err := l.Get(t.Context(), "seg/1", 1<<20)
		if !errors.Is(err, ErrDamaged) || len(got) != len(body) || !bytes.Equal(got[:5000], body[:5000]) {
			t.Errorf("scanned again: %v: got %d bytes, %v", again, len(got), err)
		}
		l.changed(l.generations[0])
	}
	if got, err := l.Get(t.Context(), "seg/2", 1<<20); err != nil || !bytes.Equal(got, body) {
		t.Errorf("the other commit: %d bytes, %v", len(got), err)
	}
	if err := os.Rename(l.generations[0].path, filepath.Join(dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	_, err = l.Get(t.Context(), "seg/2", 1<<20)
	if !errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want a read error", err)
	}
	if err := os.Rename(filepath.Join(dir, "elsewhere"), l.generations[0].path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tables[0], whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Get(t.Context(), "seg/1", 1<<20); err != nil || !bytes.Equal(got, body) {
		t.Errorf("after the files were restored: got %d bytes, %v", len(got), err)
	}
}
