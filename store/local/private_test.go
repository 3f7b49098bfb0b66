//go:build unix

package local_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Nobody but the owner gets to what a data directory has, also if an earlier release let all
// read it.
func TestDirectoryIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	c := newClock(time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC))
	s := mustOpen(t, dir, testOptions(t, c))
	mustAppend(t, s, testRecord(1, "/feed"))
	mustClose(t, s)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if d.IsDir() {
			mode = 0o755
		}
		return os.Chmod(path, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir, testOptions(t, c))
	mustAppend(t, s, testRecord(2, "/feed"))
	mustClose(t, s)
	dirs := 0
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if e.IsDir() {
			dirs++
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
	}
	if dirs == 0 {
		t.Error("there are no partitions")
	}
}
