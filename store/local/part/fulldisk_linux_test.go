package part

import (
	"errors"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/test/scratchdisk"
)

// TestCloseWaitsForRoom closes on a disk that has too little room at first, as while a
// compaction runs: closing waits for it.
func TestCloseWaitsForRoom(t *testing.T) {
	fs := scratchdisk.Tmpfs(t, 128<<20)
	s := open(t, fs.Dir)
	put(t, s, noon, 0, 100)
	fs.Fill(2<<20, 64<<20, 0)
	p := s.Current().p
	if err := s.retireWithin(t.Context(), p, true, 0); !errors.Is(err, disk.ErrNoSpace) {
		t.Fatalf("close on a full disk: got %v, want %v", err, disk.ErrNoSpace)
	}
	time.AfterFunc(200*time.Millisecond, fs.Empty)
	if err := s.CloseWriters(t.Context(), true); err != nil {
		t.Errorf("close while there is no room for a moment: %v", err)
	}
	if c := s.Lookup(p); p.writable() || c.Traces != 100 {
		t.Errorf("after closing: %+v", c)
	}
}
