package disk

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrNoSpace is returned if too little space is free on the file system.
var ErrNoSpace = errors.New("too little free space")

// Space watches the free space on the file system of a data directory. Badger writes through memory
// maps, and a page fault without free disk space ends the process with SIGBUS. So every operation
// that needs space checks it first.
type Space struct {
	dir     string
	minFree int64

	mu     sync.Mutex // guards the fields below
	looked time.Time
	free   int64 // bytes, when last checked
	inodes int64 // when last checked
}

// minInodes is the number of free inodes needed for rolling up; a commit needs twice as many.
// Without free inodes a file system cannot create files, however many bytes are free.
const minInodes = 128

// NewSpace returns the Space of the directory dir. A commit needs minFree free bytes. A negative
// value turns all checks off.
func NewSpace(dir string, minFree int64) *Space { return &Space{dir: dir, minFree: minFree} }

// Checked returns false if [NewSpace] was called with a negative minFree.
func (s *Space) Checked() bool { return s.minFree >= 0 }

// Free returns the free bytes, from a check at most maxAge ago. A check takes about a microsecond.
// A commit needs a current value and takes a thousand times as long.
func (s *Space) Free(maxAge time.Duration) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if maxAge > 0 && time.Since(s.looked) < maxAge {
		return s.free, nil
	}
	free, inodes, err := freeSpace(s.dir)
	if err != nil {
		return 0, fmt.Errorf("check free space: %w", err)
	}
	s.looked, s.free, s.inodes = time.Now(), free, inodes
	return free, nil
}

// Room returns [ErrNoSpace] if fewer than n bytes are free, or too few inodes.
func (s *Space) Room(n int64, maxAge time.Duration) error {
	if !s.Checked() {
		return nil
	}
	free, err := s.Free(maxAge)
	if err != nil {
		return err
	}
	if free < n {
		return fmt.Errorf("%w: %d MiB, %d MiB are needed", ErrNoSpace, free>>20, n>>20)
	}
	s.mu.Lock()
	inodes := s.inodes
	s.mu.Unlock()
	least := int64(minInodes)
	if n >= s.minFree {
		least *= 2
	}
	if inodes < least {
		return fmt.Errorf("%w: %d inodes, %d are needed", ErrNoSpace, inodes, least)
	}
	return nil
}

// Writing returns how many bytes must be free for a commit.
func (s *Space) Writing() int64 { return s.minFree }

// Rolling returns the free bytes needed for rolling up. They are fewer than for a commit, because
// retention, which frees space, waits for rollups.
func (s *Space) Rolling() int64 { return s.minFree / 2 }

// Room is the free space for traces.
type Room struct {
	Free     int64 // bytes free for this user, 0 if unknown
	Needed   int64 // free bytes needed to accept traces, 0 if not checked
	Refusing bool  // traces are refused for lack of space
}

// Full reports whether traces would be refused after another n bytes were used.
func (r Room) Full(n int64) bool { return r.Needed > 0 && r.Free-n < r.Needed }
