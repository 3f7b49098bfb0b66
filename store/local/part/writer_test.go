package part

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4/options"

	"github.com/fieldtrie/fieldtrie/store/local/record"
)

// cleanOnes returns the partitions that are closed cleanly.
func cleanOnes(t *testing.T, s *Shelf) (names []string) {
	t.Helper()
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, p := range s.All() {
		if isClean(s.dir, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// The partition before the newest stays open, since each commit looks there for repeats. The
// one before that is closed behind the writer.
func TestClosingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	want := func(h int, want ...string) {
		t.Helper()
		put(t, s, noon.Add(time.Duration(h)*time.Hour), 10*h, 10*h+10)
		if got := cleanOnes(t, s); !slices.Equal(got, want) {
			t.Errorf("in hour %d: got clean partitions %v, want %v", h, got, want)
		}
	}
	want(0)
	want(1)
	want(2, "20261121T12")
	want(3, "20261121T12", "20261121T13")
	if got := put(t, s, noon.Add(3*time.Hour), 20, 40); got != 0 {
		t.Errorf("%d entries of this partition and the one before are stored again", got)
	}
	if got := put(t, s, noon.Add(3*time.Hour), 10, 20); got != 10 {
		t.Errorf("%d entries of the one before that are stored, want all 10", got)
	}
	for _, p := range s.All() {
		if sealed := p.Name < "20261121T15"; p.Sealed != sealed || p.Writing == sealed || p.Unsettled != (p.Name > "20261121T13") {
			t.Errorf("partition %s: sealed %v, writing %v, unsettled %v", p.Name, p.Sealed, p.Writing, p.Unsettled)
		}
	}
	closeShelf(t, s)
	if got := cleanOnes(t, s); len(got) != 4 {
		t.Errorf("after the end: got clean partitions %v, want all", got)
	}
	wantEntries(t, open(t, dir), 50)
}

// Without commits a partition is sealed when its time is over, and closed when it has been
// over for another width.
func TestSealIdle(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	put(t, s, noon, 0, 10)
	for _, tt := range []struct {
		after        time.Duration
		sealed, done bool
	}{{29 * time.Minute, false, false}, {30 * time.Minute, true, false}, {89 * time.Minute, true, false}, {90 * time.Minute, true, true}} {
		if err := s.Seal(noon.Add(tt.after)); err != nil {
			t.Fatal(err)
		}
		done := len(cleanOnes(t, s)) > 0
		if p := s.All()[0]; p.Sealed != tt.sealed || done != tt.done {
			t.Errorf("%v later: sealed %v, closed %v, want %v and %v", tt.after, p.Sealed, done, tt.sealed, tt.done)
		}
	}
	if _, turned, err := s.Writer(noon); err != nil || !turned || s.Current().Partition().Name != "20261121T13" {
		t.Errorf("a sealed partition is written to again: %v, %v", s.Current().Partition().Name, err)
	}
}

// A partition is closed behind the writer after its last reader, and neither the turns
// nor other readers wait for that.
func TestTurnsWaitForNobody(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	put(t, s, noon, 0, 10)
	first := s.All()[0].Partition
	reading, hold, read := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		read <- s.Read(context.Background(), first, func(*Txn) error {
			close(reading)
			<-hold
			return nil
		})
	}()
	<-reading
	for h := 1; h < 5; h++ {
		put(t, s, noon.Add(time.Duration(h)*time.Hour), 10*h, 10*h+10)
		wantEntries(t, s, 10*h+10)
	}
	if isClean(s.dir, first.Name) {
		t.Error("a partition is closed while it is read")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Settle(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("settle beside a reader: got %v, want the end of its context", err)
	}
	close(hold)
	if err := <-read; err != nil {
		t.Error(err)
	}
	if got := cleanOnes(t, s); len(got) != 3 {
		t.Errorf("got clean partitions %v, want the first three", got)
	}
	wantEntries(t, s, 50)
}

// Neither a commit nor rows are taken for stored where Badger says otherwise.
func TestUnknown(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*Shelf) error{
		"commit": func(s *Shelf) error { _, err := tryPut(s, noon, 10, 20); return err },
		"put":    func(s *Shelf) error { return s.Current().Put([]record.Pair{{Key: []byte("k"), Value: []byte("v")}}) },
	} {
		dir := t.TempDir()
		s, _, err := Open(dir, testOptions(t, dir))
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, noon, 0, 10)
		last := s.All()[0].LastCommit
		if err := s.Current().p.db.Close(); err != nil { // Badger refuses commits from here on
			t.Fatal(err)
		}
		if err := write(s); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: got %v, want that it is not known what was stored", name, err)
		}
		if got := s.All()[0].LastCommit; got != last {
			t.Errorf("%s: last commit %d, want %d as before", name, got, last)
		}
		if err := s.CloseWriters(t.Context(), false); err != nil {
			t.Log(err)
		}
		if isClean(dir, "20261121T12") {
			t.Errorf("%s: the partition was marked clean after an error", name)
		}
		wantEntries(t, open(t, dir), 10)
	}
}

// A commit for which nothing is to be stored is none, and one that fails leaves nothing.
func TestNoCommit(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	put(t, s, noon, 0, 10)
	if n := put(t, s, noon, 0, 10); n != 0 {
		t.Errorf("%d repeats are stored", n)
	}
	stop := errors.New("stop")
	err := s.Current().Commit(func(b *Batch) (bool, error) {
		return true, errors.Join(b.Set(record.AppendIDKey(nil, idOf(11)), valueOf(11)), stop)
	})
	if !errors.Is(err, stop) {
		t.Errorf("got %v, want the error of the function", err)
	}
	if p := s.All()[0]; p.Commits != 1 || p.LastCommit != 1 {
		t.Errorf("got %+v, want one commit", p.Contents)
	}
	wantEntries(t, s, 10)
}

// What no test can show by killing a process, and that nothing gets into the value log.
func TestBadgerOptions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	noise := make([]byte, MaxValue-100)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	put(t, s, noon, 0, 1)
	if err := s.Current().Put([]record.Pair{{Key: []byte("large"), Value: noise}}); err != nil {
		t.Fatal(err)
	}
	if o := s.Current().p.db.Opts(); !o.SyncWrites || o.MemTableSize != smallMem || o.Compression != options.None || o.DetectConflicts {
		t.Errorf("badger is open with %+v", o)
	}
	closeShelf(t, s)
	fi, err := os.Stat(glob(t, filepath.Join(dir, "20261121T12"), "*.vlog"))
	if err != nil || fi.Size() > 1000 {
		t.Errorf("value log of %d bytes, %v, want an empty one", fi.Size(), err)
	}
}

// Many partitions are opened and closed while few handles may be open.
func TestMaxOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := testOptions(t, dir)
	o.MaxOpen = 3
	s := openWith(t, dir, o)
	for h := range 8 {
		put(t, s, noon.Add(time.Duration(h)*time.Hour), 10*h, 10*h+10)
	}
	closeShelf(t, s)
	s = openWith(t, dir, o)
	for range 2 {
		wantEntries(t, s, 80)
	}
	handles := 0
	for _, p := range s.All() {
		if p.db != nil {
			handles++
		}
	}
	if handles > 3 {
		t.Errorf("%d partitions are open, want at most 3", handles)
	}
	// All at once, each is read all the same.
	var within func(n int) error
	within = func(n int) error {
		if n == 8 {
			return nil
		}
		return s.Read(t.Context(), s.All()[n].Partition, func(*Txn) error { return within(n + 1) })
	}
	if err := within(0); err != nil {
		t.Error(fmt.Errorf("read eight partitions at once: %w", err))
	}
}

// A partition may be deleted just when it is to be closed behind the writer. Whichever comes
// first, it is gone in the end.
func TestDeletedWhileClosing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	now := noon
	for round := range 30 {
		put(t, s, now, round*10, round*10+10)
		old := s.Current().Before()
		now = now.Add(time.Hour)
		if _, _, err := s.Writer(now); err != nil { // closes old behind it
			t.Fatal(err)
		}
		if old == nil {
			continue
		}
		s.Remove(old.Name)
		if err := s.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(old.Path()); !os.IsNotExist(err) {
			t.Errorf("partition %s: %v, want that it is gone", old.Name, err)
		}
	}
}
