package store

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// space knows how much room there is on the filesystem of a data directory. Badger writes
// through memory maps, and a page of a file for which there is no room ends the process
// with SIGBUS. So whatever takes room is begun only where there is enough of it.
type space struct {
	dir     string
	minFree int64 // negative: nothing is checked
	ballast int64 // bytes that are kept in reserve, 0 for none
	log     *slog.Logger

	// compaction is what the compactions of the partition that is written to may need
	// beside their inputs, in bytes.
	compaction atomic.Int64

	mu      sync.Mutex // guards the fields below
	looked  time.Time
	free    int64 // bytes, when it was looked at
	refused bool  // commits were refused, the last time that somebody asked
}

func newSpace(dir string, o Options) *space {
	s := &space{dir: dir, minFree: o.MinFree, log: o.Logger}
	s.ballast = ballastFor(dir, o)
	return s
}

// look returns the free bytes, as they were up to maxAge ago. Looking takes about a
// microsecond, and a commit, which has to be right about it, a thousand times as long.
func (s *space) look(maxAge time.Duration) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if maxAge > 0 && time.Since(s.looked) < maxAge {
		return s.free, nil
	}
	free, err := freeBytes(s.dir)
	if err != nil {
		return 0, fmt.Errorf("look for free space: %w", err)
	}
	s.looked, s.free = time.Now(), free
	return free, nil
}

// freeBytes returns the space left to this user on the filesystem of dir.
func freeBytes(dir string) (int64, error) {
	free, _, err := diskSpace(dir)
	return free, err
}

// room reports with [ErrNoSpace] that fewer than n bytes are free.
func (s *space) room(n int64, maxAge time.Duration) error {
	if s.minFree < 0 {
		return nil
	}
	free, err := s.look(maxAge)
	if err != nil {
		return err
	}
	if free < n {
		return fmt.Errorf("%w: %d MiB, %d MiB are needed", ErrNoSpace, free>>20, n>>20)
	}
	return nil
}

// writing returns how many bytes must be free for a commit: minFree for the logs and
// tables that come of what is in memory already, and what compactions take.
func (s *space) writing() int64 {
	c := s.compaction.Load()
	if s.minFree > math.MaxInt64-c {
		return math.MaxInt64
	}
	return s.minFree + c
}

// rolling returns how many bytes must be free for rolling up: less than for a commit,
// because retention waits for it, and that frees more. A partition of rollups is small.
func (s *space) rolling() int64 { return s.minFree/2 + s.compaction.Load() }

// low reports whether writing will be refused soon: time to delete what can be deleted.
func (s *space) low() bool {
	return errors.Is(s.room(s.writing()/4*5, time.Second), ErrNoSpace)
}

// commits reports whether there is room for commits, as it was up to maxAge ago.
func (s *space) commits(maxAge time.Duration) error {
	err := s.room(s.writing(), maxAge)
	refused := errors.Is(err, ErrNoSpace)
	s.mu.Lock()
	changed := refused != s.refused
	s.refused = refused
	s.mu.Unlock()
	switch {
	case changed && refused:
		s.log.Error("traces are refused until there is more space", logErr, err)
	case changed:
		s.log.Info("there is space again, traces are accepted")
	}
	return err
}

// compactionOf returns what the next compactions may need, by the bytes of the levels. Two
// run at a time. One takes all of level 0 and what is under it, which are most of it, and
// writes as much again before it deletes them. What the other takes, a table and some ten
// of the next level, is left to [Options.MinFree].
func compactionOf(levels []int64) int64 {
	if len(levels) == 0 {
		return 0
	}
	n := levels[0]
	for _, size := range levels[1:] {
		if size > 0 {
			return n + size
		}
	}
	return n
}

// levelsOf returns the bytes of the levels of an open partition.
func levelsOf(db *badger.DB) (sizes []int64) {
	for _, l := range db.Levels() {
		sizes = append(sizes, l.Size)
	}
	return sizes
}

// levelsIn returns the bytes of the levels of the partition in dir, which is not open.
func levelsIn(dir string) (sizes []int64, err error) {
	levels, err := manifestTables(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sizes = make([]int64, badger.DefaultOptions("").MaxLevels)
	for id, level := range levels {
		fi, err := os.Stat(table.NewFilename(id, dir))
		if err == nil && int(level) < len(sizes) { // preflight says more about one that is missing
			sizes[level] += fi.Size()
		}
	}
	return sizes, nil
}

// Space says how much room there is for a data directory.
type Space struct {
	Free     int64 // bytes of the filesystem that are left to this user
	Needed   int64 // bytes that must be free for traces to be accepted, 0 if that is not checked
	Ballast  int64 // bytes of the ballast that are there
	Refusing bool  // traces are refused for want of space
}

// Space returns how much room there is, as it was up to a second ago.
func (s *Store) Space() Space {
	x := Space{Ballast: ballastBytes(s.dir), Needed: max(0, s.space.writing())}
	x.Free, _ = s.space.look(time.Second) // 0 where it is not known
	x.Refusing = errors.Is(s.space.commits(time.Second), ErrNoSpace)
	if s.space.minFree < 0 {
		x.Needed = 0
	}
	return x
}
