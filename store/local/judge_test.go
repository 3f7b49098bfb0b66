package local

import (
	"log/slog"
	"strings"
	"testing"
	"time"
)

// A process that did not run for a while has kept nobody waiting: the time is taken off.
func TestSleepIsNoTrouble(t *testing.T) {
	t.Parallel()
	w := newWatch(Options{Logger: slog.New(slog.DiscardHandler)})
	now := time.Now()
	x := w.begin("delivery", waitLimit)
	x.step("waiting for its commit")
	look := func(d time.Duration) error {
		now = now.Add(d)
		w.look(now)
		if p := w.trouble.Load(); p != nil {
			return *p
		}
		return nil
	}
	for _, d := range []time.Duration{watchEvery, time.Hour, watchEvery, 20 * time.Minute, watchEvery} {
		if err := look(d); err != nil {
			t.Errorf("a look %v later: %v", d, err)
		}
	}
	var err error
	for range waitLimit / watchEvery {
		err = look(watchEvery)
	}
	if err == nil || !strings.Contains(err.Error(), "delivery has been waiting for its commit for 1") {
		t.Errorf("got %v, want that the delivery waits for some ten seconds", err)
	}
	x.step("goes on")
	x.since = now
	if err := look(watchEvery); err != nil {
		t.Errorf("after a step: %v", err)
	}
	x.end()
}

// A step that takes long is no trouble as long as it goes on.
func TestStepGoesOn(t *testing.T) {
	t.Parallel()
	w := newWatch(Options{Logger: slog.New(slog.DiscardHandler)})
	x := w.begin("roll", stepLimit)
	x.step("rolling up page /feed")
	x.since = time.Now().Add(-2 * stepLimit)
	if err, _ := w.judge(time.Now()); err == nil {
		t.Error("it does not go on, and is not said to be stuck")
	}
	x.goOn()
	if err, _ := w.judge(time.Now()); err != nil || x.at != "rolling up page /feed" {
		t.Errorf("it goes on with %q: %v", x.at, err)
	}
}

// What many wait for is said once, with how many they are.
func TestSummary(t *testing.T) {
	t.Parallel()
	list := map[string]waits{"a is": {2, 12 * time.Second}, "b is": {1, 7 * time.Second}}
	if got, want := summary(list), "a is for 12s (2 of them); b is for 7s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	many := make(map[string]waits)
	for i := range 1000 {
		many[strings.Repeat("x", i)] = waits{number: 1}
	}
	if got := strings.Count(summary(many), ";"); got != 19 {
		t.Errorf("%d things are said, want 20", got+1)
	}
}
