package commits

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/faultyfs"
)

// has reports whether a file below a directory contains a text.
func has(t *testing.T, dir, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		found = found || bytes.Contains(content, []byte(text))
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

// Deleted commits leave the disk without another Put: after MaxAge, or immediately. Commits that
// were not deleted are kept.
func TestPurge(t *testing.T) {
	const text = "planted-name"
	for _, tt := range []struct {
		what       string
		regardless bool
		after      time.Duration
		gone       bool
	}{
		{"too early", false, time.Hour - time.Second, false},
		{"after an hour", false, time.Hour, true},
		{"immediately", true, 0, true},
	} {
		now, dir, want := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC), t.TempDir(), model{"seg/2": []byte("stays")}
		l := open(t, dir, Options{Now: func() time.Time { return now }})
		put := func(key string, body []byte) {
			if err := l.Put(t.Context(), key, body); err != nil {
				t.Fatal(err)
			}
		}
		put("seg/1", []byte(text))
		if err := l.Delete(t.Context(), "seg/1"); err != nil {
			t.Fatal(err)
		}
		if !has(t, dir, text) {
			t.Fatalf("%s: the test does not find the commit", tt.what)
		}
		now = now.Add(tt.after)
		l.Purge(tt.regardless)
		l.settle()
		if got := !has(t, dir, text); got != tt.gone {
			t.Errorf("%s: the commit has left the disk: got %v, want %v", tt.what, got, tt.gone)
		}
		put("seg/2", want["seg/2"])
		l.Purge(true)
		l.settle()
		want.check(t, tt.what, l)
	}
}

// A commit whose Put fails may be durable. If it is deleted, it stays deleted after a start.
func TestDeleteAfterFailedPut(t *testing.T) {
	f := &faultyfs.FS{}
	dir := t.TempDir()
	l := open(t, dir, Options{FS: f})
	if err := l.Put(t.Context(), "seg/1", []byte("keeps the generation")); err != nil {
		t.Fatal(err)
	}
	updated := false
	f.Set(faultyfs.Fault{N: 1, Only: func(op faultyfs.Op) bool { // the operations after the write to Badger
		before := updated
		updated = updated || op.Kind == "badger update"
		return before
	}})
	if err := l.Put(t.Context(), "seg/2", []byte("unknown")); err == nil {
		t.Fatal("the fault did not occur")
	}
	f.Set(faultyfs.Fault{})
	if err := l.Delete(t.Context(), "seg/2"); err != nil {
		t.Fatal(err)
	}
	l = open(t, image(t, dir, l), Options{})
	if list := l.List("", ""); len(list) != 1 || list[0].Key != "seg/1" {
		t.Errorf("after a start: got %v, want only seg/1", list)
	}
}
