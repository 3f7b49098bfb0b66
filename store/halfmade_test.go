package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// crashed returns a data directory that a process with n traces was killed on, and the
// path of its partition.
func crashed(t testing.TB, n int) (dir, part string) {
	t.Helper()
	from := t.TempDir()
	s := mustOpen(t, from, testOptions(t, newClock(noon)))
	mustAppend(t, s, testRecords(0, n)...)
	dir = filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, s)
	return dir, filepath.Join(dir, "20261121T12")
}

// halfMade are files as a kill in the middle of making or deleting them leaves them.
var halfMade = []struct {
	name string
	size int64
}{
	{"00002.mem", 0},            // created, not sized; or emptied, not removed
	{"00002.mem", 2 * smallMem}, // sized, without a head
	{"00002.mem", 7},
	{"00000.mem", 0},
	{"000002.vlog", 0},
	{"000002.vlog", 2 * valueLogFileSize},
	{"000002.vlog", 7},
	{"000000.vlog", 0},
	{"000009.sst", 0},
	{"000009.sst", 1 << 20},
	{"MANIFEST-REWRITE", 0},
	{"REWRITE-KEYREGISTRY", 0},
	{"KEYREGISTRY", 0},
	{"KEYREGISTRY", 20},
	{"KEYREGISTRY", 28},
	{"DISCARD", 0},
	{"DISCARD", 100},
	{"COMMITS", 0},
	{"CLEAN.tmp", 0},
	{"CLEAN", 0},
}

// sized makes a file of so many zero bytes.
func sized(t testing.TB, path string, size int64) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// Whatever a crash has left half-made, all that was acknowledged is there.
func TestHalfMade(t *testing.T) {
	const n = 40
	from, _ := crashed(t, n)
	for _, f := range halfMade {
		t.Run(fmt.Sprint(f.name, " ", f.size), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			sized(t, filepath.Join(dir, "20261121T12", f.name), f.size)
			s := mustOpen(t, dir, testOptions(t, newClock(noon)))
			wantAll(t, s, Query{}, 0, n)
			mustAppend(t, s, testRecords(n, 2*n)...)
			mustClose(t, s)
			s = mustOpen(t, dir, testOptions(t, newClock(noon)))
			wantAll(t, s, Query{}, 0, 2*n)
			if set, _ := filepath.Glob(filepath.Join(dir, "*.corrupt")); len(set) > 0 {
				t.Errorf("set aside: %s", set)
			}
			mustClose(t, s)
		})
	}
}

// The same in a partition that was closed cleanly and is written to again.
func TestHalfMadeClean(t *testing.T) {
	const n = 40
	for _, f := range halfMade {
		if strings.HasPrefix(f.name, "CLEAN") || strings.HasSuffix(f.name, ".sst") {
			continue // a table too many in a clean partition is damage, and said to be
		}
		dir, part := filled(t, n)
		sized(t, filepath.Join(part, f.name), f.size)
		s := mustOpen(t, dir, testOptions(t, newClock(noon.Add(time.Minute))))
		mustAppend(t, s, testRecord(n))
		wantAll(t, s, Query{}, 0, n+1)
		mustClose(t, s)
	}
}

// A damaged key number at the head of a log costs nothing, as there are no keys.
func TestHeadOfLog(t *testing.T) {
	dir, part := crashed(t, 40)
	flip(t, glob(t, part, "*.mem"), 3)
	flip(t, glob(t, part, "*.vlog"), 3)
	s := mustOpen(t, dir, testOptions(t, newClock(noon)))
	wantAll(t, s, Query{}, 0, 40)
}

// Partitions of rollups are opened for writing as well, and recovered.
func TestHalfMadeRollups(t *testing.T) {
	from, want := rolledDir(t, 3)
	for _, f := range halfMade {
		if f.name == "COMMITS" {
			continue
		}
		t.Run(fmt.Sprint(f.name, " ", f.size), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			for _, p := range []string{"20261121.hours", "202611.days"} {
				path := filepath.Join(dir, p)
				if _, err := os.Stat(path); err != nil {
					t.Fatal(err)
				}
				if err := os.Remove(filepath.Join(path, cleanFile)); err != nil {
					t.Fatal(err)
				}
				sized(t, filepath.Join(path, f.name), f.size)
			}
			wantAnswer(t, dir, want)
			if set, _ := filepath.Glob(filepath.Join(dir, "*.corrupt")); len(set) > 0 {
				t.Errorf("set aside: %s", set)
			}
		})
	}
}
