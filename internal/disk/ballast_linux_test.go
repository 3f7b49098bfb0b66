package disk

import (
	"errors"
	"testing"

	"github.com/fieldtrie/fieldtrie/test/scratchdisk"
)

// On a full disk the ballast is given up where that makes room enough.
func TestBallastIsReleased(t *testing.T) {
	fs := scratchdisk.Tmpfs(t, 64<<20)
	s := NewSpace(fs.Dir, SpaceOptions{MinFree: 1, Ballast: 2 << 20, Log: quiet()})
	s.PutBallast()
	if got := BallastBytes(fs.Dir); got != 2<<20 {
		t.Skipf("a ballast of %d bytes: tmpfs does not set space aside here", got)
	}
	fs.Fill(1<<20, 1<<20, 0)
	if err := s.Room(2<<20, 0); !errors.Is(err, ErrNoSpace) {
		t.Fatalf("got %v, want a full disk", err)
	}
	if err := s.Ensure(16 << 20); !errors.Is(err, ErrNoSpace) || BallastBytes(fs.Dir) == 0 {
		t.Errorf("got %v, want that the ballast stays where it would not do", err)
	}
	if err := s.Ensure(2 << 20); err != nil || BallastBytes(fs.Dir) != 0 {
		t.Errorf("got %v and a ballast of %d bytes, want that it is released", err, BallastBytes(fs.Dir))
	}
}
