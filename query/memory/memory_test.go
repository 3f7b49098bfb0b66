package memory

import (
	"errors"
	"testing"
)

// All responses share one limit, and large ones leave a part to small ones.
func TestAnswersShareMemory(t *testing.T) {
	m := NewBound(100 << 20)
	large, other, small := m.Room(0), m.Room(0), m.Room(0)
	if err := large.Fits(70 << 20); err != nil {
		t.Fatal(err)
	}
	if err := large.Fits(60 << 20); err != nil || m.Used() != 60<<20 { // a response shrinks after a flush
		t.Fatalf("%d bytes are used, %v", m.Used(), err)
	}
	_, crowded := errors.AsType[*CrowdedError](other.Fits(17 << 20))
	if !crowded || m.Used() != 60<<20 {
		t.Errorf("a second large response fits: %d bytes are used", m.Used())
	}
	if err := small.Fits(16 << 20); err != nil {
		t.Errorf("a small response does not fit: %v", err)
	}
	large.Release()
	if err := other.Fits(50 << 20); err != nil {
		t.Errorf("after the first response is done, the second does not fit: %v", err)
	}
	other.Release()
	small.Release()
	if m.Used() != 0 {
		t.Errorf("%d bytes are still reserved", m.Used())
	}
}

// Memory that no response reserved shows in the heap. Large responses stop when little memory is
// left, and all stop when almost none is left.
func TestHeap(t *testing.T) {
	b := NewBound(1 << 30)
	var live int64
	b.Watch(func() (int64, int64) { return live, 1000 })
	for _, x := range []struct {
		live         int64
		large, small bool // whether a response of this size may go on
	}{{550, true, true}, {551, false, true}, {800, false, true}, {801, false, false}} {
		live = x.live
		large, little := b.Room(0), b.Room(0)
		for what, c := range map[string]struct {
			err error
			ok  bool
		}{"large": {large.Fits(small + 1), x.large}, "small": {little.Fits(small), x.small}, "just begun": {b.Check(),
			x.small}} {
			if _, crowded := errors.AsType[*CrowdedError](c.err); crowded == c.ok {
				t.Errorf("%d of 1000 bytes are live: a %s response gets %v", x.live, what, c.err)
			}
		}
		live = 1000
		large.Release() // releasing always works
		little.Release()
		if b.Used() != 0 {
			t.Errorf("%d bytes are still reserved", b.Used())
		}
	}
	if none := (*Bound)(nil); none.Check() != nil || none.Room(0).Fits(small+1) != nil {
		t.Error("without a bound, a response is refused")
	}
}
