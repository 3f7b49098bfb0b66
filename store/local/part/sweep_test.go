package part

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

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
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cut(t, path, size)
}

// Whatever a crash has left half-made, all that was committed is there, and more can be.
func TestHalfMade(t *testing.T) {
	t.Parallel()
	const n = 40
	from, part := crashed(t, n)
	for _, f := range halfMade {
		t.Run(fmt.Sprint(f.name, " ", f.size), func(t *testing.T) {
			t.Parallel()
			dir := copyDir(t, from)
			sized(t, filepath.Join(dir, filepath.Base(part), f.name), f.size)
			s := open(t, dir)
			wantEntries(t, s, n)
			put(t, s, noon, n, 2*n)
			closeShelf(t, s)
			wantEntries(t, open(t, dir), 2*n)
		})
	}
}

// The same in a partition that was closed cleanly and is written to again.
func TestHalfMadeClean(t *testing.T) {
	t.Parallel()
	const n = 40
	from, part := filled(t, n)
	for _, f := range halfMade {
		if strings.HasPrefix(f.name, "CLEAN") || strings.HasSuffix(f.name, ".sst") {
			continue // a table too many in a clean partition is damage, and said to be
		}
		t.Run(fmt.Sprint(f.name, " ", f.size), func(t *testing.T) {
			t.Parallel()
			dir := copyDir(t, from)
			sized(t, filepath.Join(dir, filepath.Base(part), f.name), f.size)
			s := open(t, dir)
			put(t, s, noon.Add(time.Minute), n, n+1)
			wantEntries(t, s, n+1)
		})
	}
}

// A damaged key number at the head of a log costs nothing, as there are no keys.
func TestHeadOfLog(t *testing.T) {
	t.Parallel()
	dir, part := crashed(t, 40)
	flip(t, glob(t, part, "*.mem"), 3)
	flip(t, glob(t, part, "*.vlog"), 3)
	wantEntries(t, open(t, dir), 40)
}

// What a deletion has left goes at the next start.
func TestRemoveTrash(t *testing.T) {
	t.Parallel()
	dir, part := filled(t, 10)
	if err := os.Rename(part, part+".deleting"); err != nil {
		t.Fatal(err)
	}
	if err := RemoveTrash(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
