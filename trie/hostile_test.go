package trie

import (
	"errors"
	"testing"
)

// chain returns a trace with a stack of depth frames and samples of nodes.
func chain(depth, samples int, node func(i int) NodeID) *Stream {
	t := &Trace{Trie: *New(), Gapless: true, End: int64(samples)}
	f := t.Intern(Frame{Name: "f"})
	n := Root
	for range depth {
		n = t.Child(n, f)
	}
	for i := range samples {
		t.Samples = append(t.Samples, Sample{Time: int64(i), Node: node(i)})
	}
	return &Stream{Trace: t}
}

// Stacks are as deep as there are samples, here and below. Walking the stack for each sample or
// event would take minutes.
func TestCallsDeep(t *testing.T) {
	const n = 200_000
	s := chain(n, n, func(i int) NodeID { return NodeID(n - i%2) })
	line := callsOf(t, s, nil)
	if len(line.Calls) != n-1+n/2 || line.Self() != n {
		t.Errorf("%d calls, %d µs", len(line.Calls), line.Self())
	}
	// An event interrupts each sample.
	events := []Event{{Frame: Frame{Name: "RunTask"}, Start: 0, End: n}}
	for i := range int64(n / 2) {
		events = append(events, Event{Frame: Frame{Name: "Layout"}, Start: 2 * i, End: 2*i + 1})
	}
	m := NewMerger()
	if err := m.AddCalls(s, events, m.Group(nil)); err != nil {
		t.Fatal(err)
	}
	if self, _ := m.Profile().Groups[0].Sum(); self != n {
		t.Errorf("merged %d µs", self)
	}
}

// Events of the browser's own work are nested, and samples are in the innermost.
func TestCallsInNativeEvents(t *testing.T) {
	const n = 200_000
	s := chain(2, n, func(i int) NodeID { return NodeID(1 + i%2) })
	var events []Event
	for range n {
		events = append(events, Event{Frame: Frame{Name: "Layout"}, Start: 0, End: n})
	}
	if line := callsOf(t, s, events); line.Self() != n {
		t.Errorf("%d µs", line.Self())
	}
}

// Two alternating deep stacks begin and end completely, which no algorithm can shorten.
func TestTooManyCalls(t *testing.T) {
	const depth, samples = 20_000, 500
	s := chain(depth, samples, func(i int) NodeID { return NodeID(depth * (i % 2)) })
	_, err := Calls(s, nil, MaxCalls)
	if want, ok := errors.AsType[*TooManyCallsError](err); !ok || want.Most > someCalls+callsEach*(samples+3) {
		t.Errorf("got %v", err)
	}
	m := NewMerger()
	if err := m.AddCalls(s, nil, m.Group(nil)); err == nil || m.Profile().Traces != 0 {
		t.Errorf("merged %d traces, %v", m.Profile().Traces, err)
	}
	if _, err := Calls(chain(2, 100, func(i int) NodeID { return NodeID(1 + i%2) }), nil, 20); err == nil {
		t.Error("more calls than allowed")
	}
	// The depths that browsers record are within the limit.
	deep := chain(MaxStackDepth, 20_000, func(i int) NodeID { return NodeID(MaxStackDepth * (i % 2)) })
	if line := callsOf(t, deep, nil); len(line.Calls) != MaxStackDepth*10_000 {
		t.Errorf("%d calls", len(line.Calls))
	}
}

// Parts cut events that last beyond a stream.
func TestTooManyParts(t *testing.T) {
	thread := Thread{}
	var streams []int
	for i := range 2_000 {
		at := int64(i) * 1000
		thread.Events = append(thread.Events, Event{Start: 0, End: 1e7})
		thread.Streams = append(thread.Streams, Stream{Trace: &Trace{Trie: *New(), Gapless: true,
			Samples: []Sample{{Time: at}}, End: at + 1}})
		streams = append(streams, i)
	}
	if _, err := thread.Parts(streams); err == nil {
		t.Error("no error")
	}
}

// Existing groups must not be scanned for each new one, or for each page view.
func TestManyGroups(t *testing.T) {
	const n = 100_000
	m := NewMerger()
	tr := chain(1, 1, func(int) NodeID { return 1 }).Trace
	for i := range n {
		g := m.Group(Labels{{"thread", string(rune('a'+i%7)) + string(rune(i))}})
		m.AddTrace(tr, func(Slice) int { return g })
	}
	if p := m.Profile(); p.Views != n || len(p.Groups) < n/2 {
		t.Errorf("%d views, %d groups", p.Views, len(p.Groups))
	}
}
