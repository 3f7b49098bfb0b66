package part

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

const (
	thisHour = "20261121T12"
	nextHour = "20261121T13"
)

// almost is when the next partition is made, turn is when it is used.
var (
	turn   = noon.Truncate(time.Hour).Add(time.Hour)
	almost = turn.Add(-maxLead)
)

// prepared returns a shelf with 20 entries whose next partition is made ahead.
func prepared(t *testing.T) *Shelf {
	t.Helper()
	s := open(t, t.TempDir())
	put(t, s, noon, 0, 10)
	put(t, s, almost, 10, 20)
	settle(t, s)
	wantFiles(t, s.dir, thisHour, nextHour, nextHour+aheadSuffix)
	return s
}

func settle(t *testing.T, s *Shelf) {
	t.Helper()
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// wantFiles checks what there is in a data directory.
func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got files %q, want %q", got, want)
	}
}

// wantParts checks which partitions a shelf has.
func wantParts(t *testing.T, s *Shelf, want ...string) {
	t.Helper()
	var got []string
	for _, p := range s.All() {
		got = append(got, p.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got partitions %q, want %q", got, want)
	}
}

// The next partition is made shortly before the turn. Nobody sees it until then.
func TestAhead(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	put(t, s, noon, 0, 10)
	put(t, s, almost.Add(-time.Nanosecond), 10, 20)
	settle(t, s)
	wantFiles(t, s.dir, thisHour)
	put(t, s, almost, 20, 30)
	settle(t, s)
	wantFiles(t, s.dir, thisHour, nextHour, nextHour+aheadSuffix)
	wantParts(t, s, thisHour)
	made := s.ahead.w.p
	put(t, s, turn.Add(-time.Nanosecond), 30, 40)
	wantParts(t, s, thisHour)

	if n := put(t, s, turn, 20, 50); n != 10 {
		t.Errorf("%d entries are stored, want 10: the others are repeats", n)
	}
	wantParts(t, s, thisHour, nextHour)
	wantFiles(t, s.dir, thisHour, nextHour)
	if got := s.Current(); got.Partition() != made || got.Before().Name != thisHour {
		t.Errorf("commits go to %s after %s, want to what was made ahead", got.Partition().Name, got.Before().Name)
	}
	wantEntries(t, s, 50)
	closeShelf(t, s)
	wantEntries(t, open(t, s.dir), 50)
}

// The turn may come while the partition is still being made.
func TestAheadAtTheLastMoment(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	now, n := noon, 0
	for range 5 {
		now = StartOf(now, time.Hour).Add(time.Hour - time.Nanosecond)
		put(t, s, now, n, n+10)
		put(t, s, now, n+10, n+20)
		n += 20
		now = now.Add(time.Nanosecond)
	}
	put(t, s, now, n, n+10)
	settle(t, s)
	if got := len(s.All()); got != 6 {
		t.Errorf("got %d partitions, want 6", got)
	}
	wantEntries(t, s, n+10)
}

// Others may wait for what goes on in the background while more of it begins.
func TestSettleWhileTurning(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	stop := make(chan struct{})
	var waiting sync.WaitGroup
	for range 4 {
		waiting.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := s.Settle(t.Context()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for h := range 20 {
		put(t, s, almost.Add(time.Duration(h)*time.Hour), 10*h, 10*h+10)
	}
	close(stop)
	waiting.Wait()
	wantEntries(t, s, 200)
}

// Whenever a crash comes, the next start finds what was committed and removes what was made
// ahead. Who only reads does not see it.
func TestAheadCrash(t *testing.T) {
	t.Parallel()
	from := prepared(t).dir
	type moment struct {
		name   string
		change func(next string) error
	}
	moments := []moment{
		{"all is made", func(string) error { return nil }},
		{"only marked", os.RemoveAll},
		{"an empty directory", func(next string) error { return errors.Join(os.RemoveAll(next), os.Mkdir(next, 0o700)) }},
		{"being removed", func(next string) error { return os.Rename(next, next+disk.TrashSuffix) }},
		{"removed and made again", func(next string) error { return os.CopyFS(next+disk.TrashSuffix, os.DirFS(next)) }},
	}
	for _, f := range halfMade {
		moments = append(moments, moment{fmt.Sprint(f.name, " ", f.size), func(next string) error {
			return errors.Join(os.WriteFile(filepath.Join(next, f.name), nil, 0o600), os.Truncate(filepath.Join(next, f.name), f.size))
		}})
	}
	for _, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			dir := copyDir(t, from)
			if err := m.change(filepath.Join(dir, nextHour)); err != nil {
				t.Fatal(err)
			}
			reader, dirty, err := Open(dir, testOptions(t, dir))
			if err != nil || len(dirty) != 1 {
				t.Fatalf("got %d partitions to recover, %v, want 1", len(dirty), err)
			}
			wantParts(t, reader, thisHour)
			if err := RemoveTrash(dir); err != nil {
				t.Fatal(err)
			}
			wantFiles(t, dir, thisHour)
			s := open(t, dir)
			wantEntries(t, s, 20)
			put(t, s, almost.Add(time.Second), 20, 30)
			put(t, s, turn, 30, 40)
			wantParts(t, s, thisHour, nextHour)
			wantEntries(t, s, 40)
		})
	}
}

// A release that does not know the mark may have used the partition.
func TestAheadUsed(t *testing.T) {
	t.Parallel()
	dir, part := crashed(t, 20)
	if err := os.WriteFile(part+aheadSuffix, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := RemoveTrash(dir); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, thisHour)
	wantEntries(t, open(t, dir), 20)
}

// A crash after the turn and before the first commit leaves a partition without any. It is
// written to.
func TestAheadCrashAtTheTurn(t *testing.T) {
	t.Parallel()
	from := prepared(t)
	if _, turned, err := from.Writer(turn); err != nil || !turned {
		t.Fatalf("turned %v, %v", turned, err)
	}
	dir := copyDir(t, from.dir)
	if err := RemoveTrash(dir); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	wantParts(t, s, thisHour, nextHour)
	put(t, s, turn, 20, 30)
	wantParts(t, s, thisHour, nextHour)
	wantEntries(t, s, 30)
}

// What was made ahead is removed when its time passes without commits, and used when the
// clock gets there in the end.
func TestAheadAndTheClock(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, s *Shelf)
		want []string // files; the newest gets commits
	}{
		{"it jumps over the partition", func(t *testing.T, s *Shelf) { put(t, s, turn.Add(2*time.Hour), 20, 30) }, []string{thisHour, "20261121T15"}},
		{"it goes back", func(t *testing.T, s *Shelf) {
			put(t, s, noon, 20, 25)
			put(t, s, almost, 25, 26)
			put(t, s, turn.Add(time.Minute), 26, 30)
		}, []string{thisHour, nextHour}},
		{"nothing comes at first", func(t *testing.T, s *Shelf) {
			seal(t, s, turn.Add(30*time.Minute))
			wantFiles(t, s.dir, thisHour, nextHour, nextHour+aheadSuffix)
			put(t, s, turn.Add(40*time.Minute), 20, 30)
		}, []string{thisHour, nextHour}},
		{"nothing comes in its time", func(t *testing.T, s *Shelf) {
			seal(t, s, turn.Add(time.Hour))
			wantFiles(t, s.dir, thisHour)
			put(t, s, turn.Add(-time.Minute), 20, 30) // and then the clock goes back
		}, []string{thisHour, nextHour}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			tt.do(t, s)
			settle(t, s)
			wantFiles(t, s.dir, tt.want...)
			wantParts(t, s, tt.want...)
			wantEntries(t, s, 30)
			closeShelf(t, s)
			wantFiles(t, s.dir, tt.want...)
		})
	}
}

func seal(t *testing.T, s *Shelf, now time.Time) {
	t.Helper()
	if err := s.Seal(now); err != nil {
		t.Fatal(err)
	}
}

// A clock that went back behind the partition that is written to ends no partition.
func TestNothingAhead(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	put(t, s, noon, 0, 10)
	put(t, s, almost.Add(-2*time.Hour), 10, 20)
	put(t, s, almost.Add(-time.Hour), 20, 30)
	settle(t, s)
	wantFiles(t, s.dir, thisHour)
}

// Close removes what was made ahead.
func TestAheadClosed(t *testing.T) {
	t.Parallel()
	for _, clean := range []bool{true, false} {
		s := prepared(t)
		if err := s.CloseWriters(t.Context(), clean); err != nil {
			t.Error(err)
		}
		wantFiles(t, s.dir, thisHour)
		wantEntries(t, open(t, s.dir), 20)
	}
}

// Where the partition can not be made ahead it is made at the turn.
func TestAheadFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, tt := range []struct {
		name         string
		damage, mend func(s *Shelf) error
	}{
		{"no room", func(s *Shelf) error { s.o.Space.SetCompaction(1 << 60); return nil },
			func(s *Shelf) error { s.o.Space.SetCompaction(0); return nil }},
		{"no mark", func(s *Shelf) error { return os.Mkdir(filepath.Join(s.dir, nextHour+aheadSuffix), 0o700) },
			func(*Shelf) error { return nil }},
		{"something is there", func(s *Shelf) error { return os.WriteFile(filepath.Join(s.dir, nextHour), nil, 0o600) },
			func(s *Shelf) error { return os.Remove(filepath.Join(s.dir, nextHour)) }},
		{"nothing to begin with", func(s *Shelf) error {
			s.o.Begin = func(put func([]record.Pair) error) error {
				return errors.Join(put([]record.Pair{{Key: []byte("k"), Value: []byte("v")}}), broken)
			}
			return nil
		}, func(*Shelf) error { return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t, t.TempDir())
			put(t, s, noon, 0, 10)
			if err := tt.damage(s); err != nil {
				t.Fatal(err)
			}
			put(t, s, almost, 10, 20)
			settle(t, s)
			if s.ahead == nil || s.ahead.err == nil {
				t.Error("the next partition is made")
			}
			if err := tt.mend(s); err != nil {
				t.Fatal(err)
			}
			put(t, s, turn, 20, 30)
			wantFiles(t, s.dir, thisHour, nextHour)
			wantEntries(t, s, 30)
		})
	}
}
