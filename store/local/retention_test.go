package local

import (
	"strings"
	"testing"
	"time"
)

func namesOf(list []lifetime) string {
	var names []string
	for _, l := range list {
		names = append(names, l.name)
	}
	return strings.Join(names, "|")
}

func TestExpired(t *testing.T) {
	t.Parallel()
	parts := []lifetime{
		{name: "old", start: at(0), last: at(1)},
		{name: "written with a clock that was ahead", start: at(0), last: at(9)},
		{name: "unknown, over", start: at(1)},
		{name: "unknown, not over", start: at(2)},
		{name: "open", start: at(0), last: at(0), open: true},
		{name: "needed", start: at(0), last: at(1), needed: true},
	}
	for _, tt := range []struct {
		now       time.Time
		retention time.Duration
		want      string
	}{
		{at(100), 0, ""},
		{at(3), 2 * time.Hour, ""},
		{at(3).Add(1), 2 * time.Hour, "old"},
		{at(5), 2 * time.Hour, "old|unknown, over"},
		{at(5).Add(1), 2 * time.Hour, "old|unknown, over|unknown, not over|needed"},
		{at(-5), 2 * time.Hour, ""},
		{at(100), time.Hour, "old|written with a clock that was ahead|unknown, over|unknown, not over|needed"},
	} {
		if got := namesOf(expired(parts, tt.now, time.Hour, keep{traces: tt.retention})); got != tt.want {
			t.Errorf("at %v with retention %v: got %q, want %q", tt.now, tt.retention, got, tt.want)
		}
	}
}

func TestOverBudget(t *testing.T) {
	t.Parallel()
	parts := []lifetime{
		{name: "t1", start: at(1), bytes: 10}, {name: "t0", start: at(0), bytes: 10}, {name: "t2", start: at(2), bytes: 10, open: true},
		{name: "h0", kind: hours, start: at(0), bytes: 10}, {name: "h1", kind: hours, start: at(24), bytes: 10, needed: true},
		{name: "h2", kind: hours, start: at(48), bytes: 10},
		{name: "d0", kind: days, start: at(0), bytes: 10}, {name: "d1", kind: days, start: at(999), bytes: 10},
	}
	for _, tt := range []struct {
		budget int64
		want   string
	}{{0, ""}, {80, ""}, {79, "t0"}, {70, "t0"}, {60, "t0|t1"}, {50, "t0|t1|h0"}, {40, "t0|t1|h0|d0"}, {1, "t0|t1|h0|d0"}} {
		if got := namesOf(overBudget(parts, tt.budget)); got != tt.want {
			t.Errorf("budget %d: got %q, want %q", tt.budget, got, tt.want)
		}
	}
}
