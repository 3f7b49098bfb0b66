package v8

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

// eventsOf returns all events written for lines.
func eventsOf(lines []*trie.Timeline) []chromeEvent {
	c := newChromeWriter(lines)
	events := c.names()
	for _, at := range c.order() {
		events = append(events, c.event(at))
	}
	return events
}

// TestChromeTrace checks that the events of a thread are sorted and nested, and that events of one
// function do not touch.
func TestChromeTrace(t *testing.T) {
	lines := fixture.SomeTimelines()
	events := eventsOf(lines)
	var names, calls int
	open := map[int64][]chromeEvent{} // by thread
	last := map[string]float64{}      // end of a function's last call
	for i, e := range events {
		if e.Phase == "M" {
			if names++; names != i+1 {
				t.Error("the name of a thread follows its calls")
			}
			continue
		}
		calls++
		if i > 0 && events[i-1].Phase == "X" && e.TS < events[i-1].TS {
			t.Errorf("%s: begins before %s", e.Name, events[i-1].Name)
		}
		start, end := float64(e.TS), float64(e.TS)+*e.Dur
		stack := open[e.TID]
		for len(stack) > 0 && float64(stack[len(stack)-1].TS)+*stack[len(stack)-1].Dur <= start {
			stack = stack[:len(stack)-1]
		}
		if n := len(stack); n > 0 && float64(stack[n-1].TS)+*stack[n-1].Dur < end {
			t.Errorf("%s crosses %s", e.Name, stack[n-1].Name)
		}
		open[e.TID] = append(stack, e)
		if last[e.Name] == start {
			t.Errorf("two calls of %s touch at %v", e.Name, start)
		}
		last[e.Name] = end
	}
	if names != 3 || calls != 6 {
		t.Errorf("got %d names, %d calls", names, calls)
	}
}

// TestChromeTraceClock checks that no event is at 0 or earlier, which readers treat as missing.
// Otherwise times are unchanged.
func TestChromeTraceClock(t *testing.T) {
	for first, want := range map[int64]int64{-50: 1, 0: 1, 1: 1, 70: 70} {
		line := &trie.Timeline{Trie: *trie.New()}
		line.Calls = []trie.Call{{Node: line.Insert(fixture.FrameMain), Start: first, End: first + 10}}
		events := eventsOf([]*trie.Timeline{line})
		if got := events[len(events)-1].TS; got != want {
			t.Errorf("%d: got %d, want %d", first, got, want)
		}
	}
}
