package disk

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestRoom(t *testing.T) {
	t.Parallel()
	s := NewSpace(t.TempDir(), 1)
	free, err := s.Free(0)
	if err != nil || free < 1 {
		t.Fatalf("%d bytes are free, %v", free, err)
	}
	if err := s.Room(s.Writing(), 0); err != nil {
		t.Errorf("with one byte to be free: %v", err)
	}
	if err := s.Room(math.MaxInt64, time.Second); !errors.Is(err, ErrNoSpace) {
		t.Errorf("got %v, want that there is too little space", err)
	}
	if s = NewSpace(t.TempDir(), -1); s.Room(math.MaxInt64, 0) != nil || s.Checked() {
		t.Error("space is checked although there is no limit")
	}
	for _, tt := range []struct {
		room Room
		more int64
		full bool
	}{{Room{Free: 10, Needed: 5}, 5, false}, {Room{Free: 10, Needed: 5}, 6, true}, {Room{}, 1 << 40, false}} {
		if got := tt.room.Full(tt.more); got != tt.full {
			t.Errorf("%+v with %d more: full %v", tt.room, tt.more, got)
		}
	}
}
