package disk

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Commits are refused where there is too little space for them and for compactions, and it is
// said once.
func TestAdmit(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o := SpaceOptions{MinFree: 1, Log: slog.New(slog.NewTextHandler(&log, nil))}
	s := NewSpace(t.TempDir(), o)
	for range 2 {
		if err := s.Admit(0); err != nil {
			t.Errorf("with one byte to be free: %v", err)
		}
	}
	s.SetCompaction(1 << 60)
	for range 3 {
		if err := s.Admit(time.Second); !errors.Is(err, ErrNoSpace) {
			t.Errorf("got %v, want that there is too little space", err)
		}
	}
	if !s.Low() || s.Writing() != 1+1<<60 {
		t.Errorf("low %v, %d bytes are needed", s.Low(), s.Writing())
	}
	s.SetCompaction(0)
	if err := s.Admit(0); err != nil || s.Low() {
		t.Errorf("when there is space again: %v, low %v", err, s.Low())
	}
	if a, b := strings.Count(log.String(), "traces are refused"), strings.Count(log.String(), "there is space again"); a != 1 || b != 1 {
		t.Errorf("said %d and %d times, want once each:\n%s", a, b, log.String())
	}
	o.MinFree = math.MaxInt64
	s = NewSpace(t.TempDir(), o)
	s.SetCompaction(math.MaxInt64)
	if got := s.Writing(); got != math.MaxInt64 {
		t.Errorf("got %d bytes that are needed, want no overflow", got)
	}
	o.MinFree = -1
	s = NewSpace(t.TempDir(), o)
	s.SetCompaction(math.MaxInt64)
	if err := s.Admit(0); err != nil || s.Checked() {
		t.Errorf("when nothing is checked: %v", err)
	}
}

func TestCompactionOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		levels []int64
		want   int64
	}{{nil, 0}, {[]int64{5}, 5}, {[]int64{5, 0, 0, 7, 9}, 12}, {[]int64{0, 3}, 3}, {[]int64{4, 0}, 4}} {
		if got := CompactionOf(tt.levels); got != tt.want {
			t.Errorf("levels %v: got %d, want %d", tt.levels, got, tt.want)
		}
	}
}

// A ballast is put in place where there is ample room, and given up for what brings a
// directory in order.
func TestBallast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const size = 1 << 20
	s := NewSpace(dir, SpaceOptions{MinFree: 1, Ballast: size, Log: quiet()})
	for range 2 {
		s.PutBallast()
	}
	if got := BallastBytes(dir); got != size {
		if got == 0 {
			t.Skip("this filesystem does not set space aside")
		}
		t.Errorf("got a ballast of %d bytes, want %d", got, size)
	}
	if err := s.Ensure(1); err != nil || BallastBytes(dir) != size {
		t.Errorf("with ample room: %v, a ballast of %d bytes", err, BallastBytes(dir))
	}
	free, err := s.Free(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Ensure(free * 2); !errors.Is(err, ErrNoSpace) || BallastBytes(dir) != size {
		t.Errorf("got %v and a ballast of %d bytes, want that it stays where it would not do", err, BallastBytes(dir))
	}
	// Less of it where the data directory is bounded, none where none is wanted.
	if got := ballastFor(dir, SpaceOptions{Ballast: size, MaxDisk: 320}); got != 10 {
		t.Errorf("got a ballast of %d bytes of 320, want a 32nd", got)
	}
	NewSpace(dir, SpaceOptions{MinFree: 1, Log: quiet()}).PutBallast()
	if _, err := os.Stat(filepath.Join(dir, ballastFile)); !os.IsNotExist(err) {
		t.Errorf("a ballast that is not wanted is still there: %v", err)
	}
}
