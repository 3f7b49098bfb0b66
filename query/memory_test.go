package query

import (
	"errors"
	"testing"
)

// All responses in the making have so much memory together, of which large ones leave some to
// small ones.
func TestAnswersShareMemory(t *testing.T) {
	m := NewMemory(100 << 20)
	l := Local{Memory: m}
	large, other, small := l.room(), l.room(), l.room()
	if err := large.fits(70 << 20); err != nil {
		t.Fatal(err)
	}
	if err := large.fits(60 << 20); err != nil || m.Used() != 60<<20 { // what is flushed takes less
		t.Fatalf("%d bytes are used, %v", m.Used(), err)
	}
	_, crowded := errors.AsType[*CrowdedError](other.fits(17 << 20))
	if !crowded || m.Used() != 60<<20 {
		t.Errorf("a second large answer fits beside the first: %d bytes are used", m.Used())
	}
	if err := small.fits(16 << 20); err != nil {
		t.Errorf("a small answer does not fit: %v", err)
	}
	large.release()
	if err := other.fits(50 << 20); err != nil {
		t.Errorf("when the first is done the second does not fit: %v", err)
	}
	other.release()
	small.release()
	if m.Used() != 0 {
		t.Errorf("%d bytes are used by nobody", m.Used())
	}
}
