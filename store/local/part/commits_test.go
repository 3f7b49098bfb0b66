package part

import (
	"path/filepath"
	"testing"

	"github.com/fieldtrie/fieldtrie/store/local/record"
)

func TestCommitLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(from, to uint64) {
		t.Helper()
		l, err := openCommitLog(dir)
		if err != nil {
			t.Fatal(err)
		}
		for n := from; n < to; n++ {
			if err := l.append(n, record.AppendCommitKey(nil, n), record.Commit{Traces: uint32(n), Entries: 2, Received: 3}); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	read := func(want ...uint64) {
		t.Helper()
		known, _, err := readCommits(dir)
		if err != nil || len(known) != len(want) {
			t.Fatalf("got %v, %v, want numbers %v", known, err, want)
		}
		for _, n := range want {
			if got, want := known[n], (record.Commit{Traces: uint32(n), Entries: 2, Received: 3}); got != want {
				t.Errorf("commit %d: got %+v, want %+v", n, got, want)
			}
		}
	}
	read()
	write(1, 4)
	read(1, 2, 3)
	path := filepath.Join(dir, commitsFile)
	cut(t, path, 2*commitsRecordSize+5) // torn by a power cut
	read(1, 2)
	write(3, 5)
	read(1, 2, 3, 4)
	flip(t, path, commitsRecordSize+9)
	read(1, 3, 4)
	if _, damaged, _ := readCommits(dir); damaged != 1 {
		t.Errorf("got %d damaged records, want 1", damaged)
	}
}
