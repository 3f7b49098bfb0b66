package trie

import (
	"fmt"
	"slices"
	"testing"
)

// streamAt returns a stream with samples of a at two times. The last sample covers 10 µs.
func streamAt(source string, first, last int64) Stream {
	t := &Trace{Trie: *New(), Gapless: true, End: last + 10}
	a := t.Insert(Frame{Name: "a"})
	t.Samples = []Sample{{Time: first, Node: a}, {Time: last, Node: a}}
	return Stream{Source: source, Trace: t}
}

func TestChosen(t *testing.T) {
	none := Stream{Trace: &Trace{Trie: *New()}}
	for _, tt := range []struct {
		name    string
		streams []Stream
		want    string
	}{
		{"nothing", nil, "[]"},
		{"no samples", []Stream{none}, "[]"},
		{"one", []Stream{none, streamAt("", 0, 10)}, "[1]"},
		{"overlapping streams", []Stream{streamAt("Inspector", 0, 100), streamAt("", 50, 95), streamAt("Internal", 90,
			200)}, "[2]"},
		{"the first of equal streams", []Stream{streamAt("", 0, 100), streamAt("", 0, 100)}, "[0]"},
		{"touching", []Stream{streamAt("", 0, 100), streamAt("", 100, 200)}, "[0]"},
		{"in time order", []Stream{streamAt("", 300, 400), streamAt("", 0, 100), streamAt("Internal", 150, 250)},
			"[1 2 0]"},
		{"a stream that overlaps a selected one", []Stream{streamAt("", 0, 100), streamAt("Internal", 90, 200),
			streamAt("", 210, 300), streamAt("", 205, 400)}, "[1 2]"},
		{"a stream between two others", []Stream{streamAt("", 0, 100), streamAt("", 200, 300), streamAt("", 120, 180),
			streamAt("", 110, 210)}, "[0 2 1]"},
	} {
		thread := Thread{Streams: tt.streams}
		got := thread.Chosen(nil)
		if fmt.Sprint(got) != tt.want || (thread.Best() >= 0) != slices.Contains(got, thread.Best()) {
			t.Errorf("%s: got %v, want %s with %d", tt.name, got, tt.want, thread.Best())
		}
	}
	thread := Thread{Streams: []Stream{streamAt("Internal", 0, 100), streamAt("Inspector", 50, 150)}}
	if got := thread.Chosen(func(s *Stream) bool { return s.Source == "Inspector" }); !slices.Equal(got, []int{1}) {
		t.Errorf("the streams that match: got %v", got)
	}
}

func TestParts(t *testing.T) {
	event := func(name string, start, end, anchor int64) Event {
		return Event{Frame: Frame{Name: name}, Start: start, End: end, Anchor: anchor}
	}
	thread := Thread{
		Streams: []Stream{streamAt("", 0, 100), streamAt("", 200, 300), streamAt("", 305, 400)},
		Events: []Event{
			event("task", 0, 500, 1), event("call", 10, 300, 2), event("layout", 154, 156, 0),
			event("mark", 155, 155, 3), event("layout", 302, 303, 0),
		},
	}
	got := ""
	parts, err := thread.Parts(thread.Chosen(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		got += fmt.Sprintf("%d-%d:", p.Stream.Trace.Samples[0].Time, p.Stream.Trace.End)
		for _, e := range p.Events {
			got += fmt.Sprintf(" %s %d-%d %d", e.Name, e.Start, e.End, e.Anchor)
		}
		got += "\n"
	}
	const want = "0-110: task 0-155 1 call 10-155 2 layout 154-155 0\n" +
		"200-305: task 155-305 0 call 155-300 0 layout 155-156 0 mark 155-155 3 layout 302-303 0\n" +
		"305-410: task 305-500 0\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if thread.Events[0].End != 500 || thread.Streams[1].Trace.End != 310 {
		t.Error("the thread was changed")
	}
	if p, _ := thread.Parts(nil); len(p) != 1 || p[0].Stream != nil || len(p[0].Events) != 5 {
		t.Errorf("without streams: %v", p)
	}

	// In one timeline the events are complete again.
	var lines []*Timeline
	for _, p := range parts {
		lines = append(lines, callsOf(t, p.Stream, p.Events))
	}
	line := Concat(lines...)
	checkCalls(t, line)
	tasks := 0
	for _, c := range line.Calls {
		if line.Frame(c.Node).Name == "task" {
			tasks++
		}
	}
	if tasks != 1 || line.Self() != 500 {
		t.Errorf("%d tasks, %d µs:\n%s", tasks, line.Self(), described(line))
	}
}
