package part

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

// A flipped byte of a write-ahead log costs what comes behind it, which Badger drops without a
// word. How much that was is said, and remembered.
func TestLoss(t *testing.T) {
	t.Parallel()
	dir, part := crashed(t, 200)
	log := glob(t, part, "*.mem")
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, record.AppendIDKey(nil, idOf(105))) // in the 11th commit
	if at < 0 {
		t.Fatal("entry 105 is not in the log")
	}
	flip(t, log, at+3)
	want := "partition 20261121T12: expected at least 200 traces in 20 commits, found 100 in 10: 100 lost"
	for range 2 {
		s := open(t, dir)
		p := s.All()[0]
		if got := p.Loss(p.Name); got != want || p.LastCommit != 20 {
			t.Errorf("got %q, last commit %d, want %q", got, p.LastCommit, want)
		}
		if n, err := readAll(t.Context(), s, p.Partition); n != 100 || err != nil {
			t.Errorf("got %d entries, %v, want 100", n, err)
		}
		closeShelf(t, s)
	}
	// It is written to again: numbers of lost commits are not used twice, and a second crash
	// does not report the loss of the first anew.
	s := open(t, dir)
	put(t, s, noon, 200, 210)
	again := open(t, copyDir(t, dir))
	if p := again.All()[0]; p.Traces != 110 || p.LostTraces != 100 || p.LastCommit != 21 {
		t.Errorf("after another crash: got %+v, want 110 traces and 100 lost", p.Contents)
	}
}

// Badger deletes tables that the manifest does not name. If it has lost its end they are data:
// they are kept beside.
func TestOrphans(t *testing.T) {
	t.Parallel()
	dir, part := filled(t, 20)
	table := glob(t, part, "*.sst")
	whole, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	// What a compaction has left goes.
	orphan := filepath.Join(part, "000099.sst")
	if err := os.WriteFile(orphan, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	remove(t, filepath.Join(part, cleanFile))
	s := open(t, dir)
	wantEntries(t, s, 20)
	closeShelf(t, s)
	if m, _ := filepath.Glob(orphan + "*"); len(m) != 0 {
		t.Errorf("the orphan is still there: %v", m)
	}
	// What is lost otherwise stays.
	cut(t, filepath.Join(part, "MANIFEST"), 8)
	remove(t, filepath.Join(part, cleanFile))
	s = open(t, dir)
	if p := s.All()[0]; p.Traces != 0 || p.LostTraces != 20 {
		t.Errorf("without a manifest: got %+v, want 20 lost", p.Contents)
	}
	if got, err := os.ReadFile(table + orphanSuffix); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("the table was not kept: %v", err)
	}
}

// Logs that were made with a larger memtable are replayed with that, or Badger would end the
// process.
func TestSmallerMemTable(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	o := testOptions(t, from)
	o.MemTableSize = 32 << 20
	s := openWith(t, from, o)
	for n := 0; n < 20_000; n += 2000 {
		put(t, s, noon, n, n+2000)
	}
	dir := copyDir(t, from)
	closeShelf(t, s)
	wantEntries(t, open(t, dir), 20_000)
}

// What can not be recovered for a reason of the machine stays where it is, and is tried again.
func TestRetry(t *testing.T) {
	t.Parallel()
	dir, _ := crashed(t, 20)
	s, dirty, err := Open(dir, testOptions(t, dir))
	if err != nil || len(dirty) != 1 {
		t.Fatalf("got %d partitions to recover, %v, want 1", len(dirty), err)
	}
	s.SetFault(dirty[0], disk.ErrNoSpace)
	if _, err := readAll(t.Context(), s, dirty[0]); !errors.Is(err, disk.ErrNoSpace) {
		t.Errorf("read what is not recovered: got %v, want that there is too little space", err)
	}
	if got := s.Faults(); len(got) != 1 || got[dirty[0].Name] == nil {
		t.Errorf("got faults %v, want one", got)
	}
	s.Retry()
	if got := s.Faults(); len(got) != 0 {
		t.Errorf("got faults %v, want none after another try", got)
	}
	wantEntries(t, s, 20)
	closeShelf(t, s)
}

// A crash leaves two partitions open for writing at most: both are recovered.
func TestTwoToRecover(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	s := open(t, from)
	for h := range 4 {
		put(t, s, noon.Add(time.Duration(h)*time.Hour), 10*h, 10*h+10)
	}
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir := copyDir(t, from)
	again, dirty, err := Open(dir, testOptions(t, dir))
	if err != nil || len(dirty) != 2 {
		t.Fatalf("got %d partitions to recover, %v, want 2", len(dirty), err)
	}
	again.Recover(dirty)
	wantEntries(t, again, 40)
	if n := put(t, again, noon.Add(3*time.Hour), 20, 50); n != 10 {
		t.Errorf("%d entries are stored, want 10: the others are repeats", n)
	}
	closeShelf(t, again)
	for _, p := range again.All() {
		if !isClean(dir, p.Name) {
			t.Errorf("partition %s is not clean after it was closed", p.Name)
		}
	}
}
