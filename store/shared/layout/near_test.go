package layout

import (
	"testing"
	"time"
)

// An hour may contain duplicates of traces received in the same hour, the one before or the one
// after.
func TestMayHave(t *testing.T) {
	at := time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		first, last time.Duration // after at
		want        bool
	}{
		{0, 0, true},
		{10 * time.Minute, 20 * time.Minute, true},
		{-3 * time.Hour, 5 * time.Hour, true},
		{2*time.Hour - time.Microsecond, 3 * time.Hour, true},
		{2 * time.Hour, 3 * time.Hour, false},
		{-3 * time.Hour, -time.Hour, true},
		{-3 * time.Hour, -time.Hour - time.Microsecond, false},
	} {
		h := &Hour{First: at.Add(tt.first).UnixMicro(), Last: at.Add(tt.last).UnixMicro()}
		if got := h.MayHave(at); got != tt.want {
			t.Errorf("rows from %v to %v: got %t, want %t", tt.first, tt.last, got, tt.want)
		}
	}
}

// Duplicates are searched in the row's hour and the one before, in the hours around the time of
// receipt, and in hours with rows received around that time, such as rows that waited in a spool.
func TestNearby(t *testing.T) {
	received := time.Date(2026, 11, 25, 10, 30, 0, 0, time.UTC)
	m := newManifest()
	m.Hour("20260101T00").Extend(received.UnixMicro())
	m.Hour("20260102T00").Extend(received.Add(-6 * time.Hour).UnixMicro())
	got := m.Nearby("20261125T20", []Row{{Received: received.UnixMicro()}, {Received: received.UnixMicro()}})
	want := []string{"20260101T00", "20261125T09", "20261125T10", "20261125T11", "20261125T19", "20261125T20"}
	for _, name := range want {
		if !got[name] {
			t.Errorf("%s is missing", name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
