package loadgen

import (
	"slices"
	"testing"
	"time"
)

func TestTurns(t *testing.T) {
	minute := time.Date(2026, 11, 21, 13, 1, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return minute.Add(time.Duration(seconds * float64(time.Second))) }
	g := &Generator{turns: turns{partition: time.Minute}, started: at(-70), elapsed: 150 * time.Second}
	for _, x := range []struct{ due, answered float64 }{
		{-75, -59},                      // the turn of a minute ago
		{-30, -29},                      // no turn
		{-3, -2.5},                      // no turn
		{-1, -0.9}, {1, 1.5}, {-10, 20}, // this one
		{50, 130}, // two, the latter after the load
	} {
		g.turns.note(at(x.due), at(x.answered))
	}
	got := g.Turns()
	want := []Turn{
		{At: at(-60), Requests: 1, Longest: 16 * time.Second},
		{At: at(0), Requests: 3, Longest: 30 * time.Second},
		{At: at(60), Requests: 1, Longest: 80 * time.Second},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
