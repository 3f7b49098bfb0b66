package disk

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Space watches the free space on the filesystem of a data directory. Badger writes
// through memory maps, and a page without room on the disk ends the process with SIGBUS.
// So everything that takes space starts only if there is enough.
type Space struct {
	dir     string
	minFree int64 // negative: nothing is checked
	ballast int64 // bytes in reserve, 0 for none
	log     *slog.Logger

	compaction atomic.Int64 // bytes that compactions may need beside their inputs

	mu      sync.Mutex // guards the fields below
	looked  time.Time
	free    int64 // bytes, when it was looked at
	refused bool  // commits were refused, the last time that somebody asked
}

// SpaceOptions are the requirements on free space.
type SpaceOptions struct {
	// MinFree is how many bytes must be free for a commit, besides those for compactions.
	// A negative value turns all checks off.
	MinFree int64
	// Ballast is how many bytes are reserved in the file BALLAST, at most a 32nd of the
	// filesystem and of MaxDisk; zero or less is none.
	Ballast int64
	MaxDisk int64 // the bound on the data directory, 0 for none
	Log     *slog.Logger
}

// NewSpace returns the Space of the directory dir.
func NewSpace(dir string, o SpaceOptions) *Space {
	return &Space{dir: dir, minFree: o.MinFree, log: o.Log, ballast: ballastFor(dir, o)}
}

// SetCompaction sets how many bytes the compactions of open stores may need besides their
// inputs.
func (s *Space) SetCompaction(n int64) { s.compaction.Store(n) }

// Free returns the free bytes, as they were up to maxAge ago. Asking the filesystem takes
// about a microsecond; a commit needs a current value and takes a thousand times as long.
func (s *Space) Free(maxAge time.Duration) (int64, error) {
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

// freeBytes returns the free space for this user on the filesystem of dir.
func freeBytes(dir string) (int64, error) {
	free, _, err := filesystem(dir)
	return free, err
}

// Room returns [ErrNoSpace] if fewer than n bytes are free.
func (s *Space) Room(n int64, maxAge time.Duration) error {
	if s.minFree < 0 {
		return nil
	}
	free, err := s.Free(maxAge)
	if err != nil {
		return err
	}
	if free < n {
		return fmt.Errorf("%w: %d MiB, %d MiB are needed", ErrNoSpace, free>>20, n>>20)
	}
	return nil
}

// Writing returns how many bytes must be free for a commit: minFree for the logs and
// tables of data already in memory, plus the needs of compactions.
func (s *Space) Writing() int64 {
	c := s.compaction.Load()
	if s.minFree > math.MaxInt64-c {
		return math.MaxInt64
	}
	return s.minFree + c
}

// Rolling returns how many bytes must be free for rolling up. It is less than for a
// commit, because retention, which frees more, waits for rollups. A partition of rollups
// is small.
func (s *Space) Rolling() int64 { return s.minFree/2 + s.compaction.Load() }

// Low reports whether writes will soon be refused, so that it is time to delete data.
func (s *Space) Low() bool {
	return errors.Is(s.Room(s.Writing()/4*5, time.Second), ErrNoSpace)
}

// Admit returns an error if there was no room for commits up to maxAge ago.
func (s *Space) Admit(maxAge time.Duration) error {
	err := s.Room(s.Writing(), maxAge)
	refused := errors.Is(err, ErrNoSpace)
	s.mu.Lock()
	changed := refused != s.refused
	s.refused = refused
	s.mu.Unlock()
	switch {
	case changed && refused:
		s.log.Error("traces are refused until there is more space", "err", err)
	case changed:
		s.log.Info("there is space again, traces are accepted")
	}
	return err
}

// CompactionOf returns the needs of the next compactions, given the bytes of the levels.
// Two run at a time. One compacts all of level 0 and the level below, most of the data,
// and writes as much again before it deletes them. The needs of the other, a table and
// some ten of the next level, are left to [SpaceOptions].
func CompactionOf(levels []int64) int64 {
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

// ErrNoSpace says that too little space is free on the filesystem.
var ErrNoSpace = errors.New("too little free space")

// Room says how much room a filesystem has for traces.
type Room struct {
	Free     int64 // bytes that are left to this user, 0 where that is not known
	Needed   int64 // bytes that must be free for traces to be accepted, 0 if that is not checked
	Refusing bool  // traces are refused for want of space
}

// Full reports whether traces would be refused if n more bytes were taken.
func (r Room) Full(n int64) bool { return r.Needed > 0 && r.Free-n < r.Needed }

// Checked reports whether free space is checked at all.
func (s *Space) Checked() bool { return s.minFree >= 0 }
