package layout

import (
	"testing"
	"time"
)

// IsOver includes the moment at which the hour and the delay end.
func TestIsOver(t *testing.T) {
	end := time.Date(2026, 11, 25, 11, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		after time.Duration // after its end
		since time.Duration
		want  bool
	}{
		{-time.Nanosecond, 0, false}, {0, 0, true}, {time.Nanosecond, 0, true},
		{2*time.Minute - 1, 2 * time.Minute, false}, {2 * time.Minute, 2 * time.Minute, true},
	} {
		if got := IsOver("20261125T10", tt.since, end.Add(tt.after)); got != tt.want {
			t.Errorf("%v after its end, since %v: got %t, want %t", tt.after, tt.since, got, tt.want)
		}
	}
	if IsOver("20261125", 0, end) || IsOver("", 0, end) {
		t.Error("an invalid hour is over")
	}
}

// An hour expires once its last moment is older than the retention. A retention of 0 keeps it
// indefinitely.
func TestExpired(t *testing.T) {
	end := time.Date(2026, 11, 25, 11, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		kept, after time.Duration // after its end
		want        bool
	}{
		{time.Hour, time.Hour, false}, {time.Hour, time.Hour + 1, true}, {time.Hour, 0, false},
		{0, time.Hour, false}, {0, 1e6 * time.Hour, false}, {-time.Hour, time.Hour, false},
	} {
		if got := Expired("20261125T10", tt.kept, end.Add(tt.after)); got != tt.want {
			t.Errorf("kept for %v, %v after its end: got %t, want %t", tt.kept, tt.after, got, tt.want)
		}
	}
}

// The longest retention that any node was configured with applies. A retention of 0 is the longest.
func TestLongest(t *testing.T) {
	for _, tt := range []struct{ kept, own, want int64 }{
		{5, 3, 5}, {3, 5, 5}, {5, 0, 0}, {0, 5, 0}, {0, 0, 0},
	} {
		of := func(v int64) Retention { return Retention{Traces: v, Hours: 2 * v, Days: 3 * v} }
		kept := of(tt.kept)
		m := &Manifest{Kept: &kept}
		if got := m.Longest(of(tt.own)); got != of(tt.want) {
			t.Errorf("kept for %d, configured %d: got %+v, want %d", tt.kept, tt.own, got, tt.want)
		}
	}
	own := Retention{Traces: 1, Hours: 2, Days: 3}
	if got := (&Manifest{}).Longest(own); got != own {
		t.Errorf("a shard without a retention: got %+v, want %+v", got, own)
	}
}
