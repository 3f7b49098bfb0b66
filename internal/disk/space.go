package disk

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrNoSpace says that too little space is free on the filesystem.
var ErrNoSpace = errors.New("too little free space")

// Space watches the free space on the filesystem of a data directory. Badger writes
// through memory maps, and a page without room on the disk ends the process with SIGBUS.
// So everything that takes space starts only if there is enough.
type Space struct {
	dir     string
	minFree int64

	mu     sync.Mutex // guards the fields below
	looked time.Time
	free   int64 // bytes, when it was looked at
	inodes int64 // and inodes
}

// minInodes is how many inodes must be free for rolling up, and twice as many for a commit. A file
// system without inodes refuses new files, however many bytes are free.
const minInodes = 128

// NewSpace returns the Space of the directory dir, of which minFree bytes must be free for a commit. A negative
// value turns all checks off.
func NewSpace(dir string, minFree int64) *Space { return &Space{dir: dir, minFree: minFree} }

// Checked reports whether free space is checked at all.
func (s *Space) Checked() bool { return s.minFree >= 0 }

// Free returns the free bytes, as they were up to maxAge ago. Asking the filesystem takes
// about a microsecond; a commit needs a current value and takes a thousand times as long.
func (s *Space) Free(maxAge time.Duration) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if maxAge > 0 && time.Since(s.looked) < maxAge {
		return s.free, nil
	}
	free, inodes, err := freeSpace(s.dir)
	if err != nil {
		return 0, fmt.Errorf("look for free space: %w", err)
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

// Rolling returns how many bytes must be free for rolling up. It is less than for a
// commit, because retention, which frees more, waits for rollups.
func (s *Space) Rolling() int64 { return s.minFree / 2 }

// Room says how much room a filesystem has for traces.
type Room struct {
	Free     int64 // bytes that are left to this user, 0 where that is not known
	Needed   int64 // bytes that must be free for traces to be accepted, 0 if that is not checked
	Refusing bool  // traces are refused for want of space
}

// Full reports whether traces would be refused if n more bytes were taken.
func (r Room) Full(n int64) bool { return r.Needed > 0 && r.Free-n < r.Needed }
