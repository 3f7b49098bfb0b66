package trie

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sampled returns a gapless stream of samples 100 µs apart, the first at 100: each is a stack such
// as "a;b", "" for none, "gc:a" for a collection while a ran.
func sampled(stacks ...string) *Stream {
	t := &Trace{Trie: *New(), Gapless: true}
	for i, text := range stacks {
		s := Sample{Time: int64(i+1) * 100}
		text, gc := strings.CutPrefix(text, "gc:")
		if gc {
			s.Marker = MarkerGC
		}
		if text != "" {
			s.Node = t.Insert(named(strings.Split(text, ";")...)...)
		}
		t.Samples = append(t.Samples, s)
	}
	t.End = int64(len(stacks)+1) * 100
	return &Stream{Trace: t}
}

// described returns the calls of t as text, a line each: depth, name, start, end.
func described(t *Timeline) string {
	depths := t.Depths()
	var b strings.Builder
	for _, c := range t.Calls {
		fmt.Fprintf(&b, "%s%s %d-%d\n", strings.Repeat("  ", int(depths[c.Node])-1), t.Frame(c.Node).Name,
			c.Start, c.End)
	}
	return b.String()
}

func TestCalls(t *testing.T) {
	task := func(events ...Event) []Event {
		return append([]Event{{Frame: Frame{Name: "RunTask"}, Start: 50, End: 900}}, events...)
	}
	for _, tt := range []struct {
		name   string
		stream *Stream
		events []Event
		want   string
	}{
		{"nothing", nil, nil, ""},
		{
			"only samples", sampled("a", "a;b", "a;c", "", "a"), nil,
			"a 100-400\n  b 200-300\n  c 300-400\na 500-600\n",
		},
		{
			"recursion", sampled("a", "a;a", "a;a;a", "a"), nil,
			"a 100-500\n  a 200-400\n    a 300-400\n",
		},
		{
			"one (program) within a call is a repeat", sampled("a;b", "(program)", "a;c", "(program)",
				"(program)", "a"), nil,
			"a 100-400\n  b 100-300\n  c 300-400\n(program) 400-600\na 600-700\n",
		},
		{
			"(program) between two calls stays", sampled("a", "(program)", "b"), nil,
			"a 100-200\n(program) 200-300\nb 300-400\n",
		},
		{
			"garbage collection is on top of the interrupted call", sampled("a;b", "gc:a;b", "a"), nil,
			"a 100-400\n  b 100-300\n    (gc) 200-300\n",
		},
		{
			"a call begins and ends with the event that caused it", sampled("", "a", "a", ""),
			task(Event{Frame: Frame{Name: "FunctionCall"}, Start: 120, End: 350}),
			"RunTask 50-900\n  FunctionCall 120-350\n    a 120-350\n",
		},
		{
			"no function runs before it is compiled", sampled("", "a", ""),
			task(Event{Frame: Frame{Name: "EvaluateScript"}, Start: 110, End: 290},
				Event{Frame: Frame{Name: "v8.compile"}, Start: 120, End: 150}),
			"RunTask 50-900\n  EvaluateScript 110-290\n    v8.compile 120-150\n    a 150-290\n",
		},
		{
			"the time before the first sample is not that of functions", sampled("a", ""),
			task(Event{Frame: Frame{Name: "FunctionCall"}, Start: 60, End: 190}),
			"RunTask 50-900\n  FunctionCall 60-190\n    a 100-190\n",
		},
		{
			"a sample within a layout identifies its caller", sampled("a", "a;b", "a"),
			task(Event{Frame: Frame{Name: "FunctionCall"}, Start: 90, End: 390}, Event{Frame: Frame{Name: "Layout"},
				Start: 150, End: 220}),
			"RunTask 50-900\n  FunctionCall 90-390\n    a 100-390\n      b 150-300\n        Layout 150-220\n",
		},
		{
			"a marker does not repeat an event", sampled("a", "gc:a", "a"),
			task(Event{Frame: Frame{Name: "FunctionCall"}, Start: 90, End: 390}, Event{Frame: Frame{Name: "MinorGC"},
				Start: 150, End: 220}),
			"RunTask 50-900\n  FunctionCall 90-390\n    a 100-390\n      MinorGC 150-220\n",
		},
		{
			"a layout between samples belongs to the earlier stack", sampled("a", "a;b", "a"),
			task(Event{Frame: Frame{Name: "FunctionCall"}, Start: 90, End: 390}, Event{Frame: Frame{Name: "Layout"},
				Start: 110, End: 120}),
			"RunTask 50-900\n  FunctionCall 90-390\n    a 100-390\n      Layout 110-120\n      b 200-300\n",
		},
		{
			"the stack does not change during browser work", sampled("a", "b", "b"),
			task(Event{Frame: Frame{Name: "FunctionCall"}, Start: 90, End: 390}, Event{Frame: Frame{Name: "Paint"},
				Start: 95, End: 250}),
			"RunTask 50-900\n  FunctionCall 90-390\n    Paint 95-250\n    b 300-390\n",
		},
		{
			"a call within a call: calls below it continue", sampled("a", "a;b;c", "a;d;c", "a"),
			task(Event{Frame: Frame{Name: "FunctionCall"}, Start: 90, End: 490},
				Event{Frame: Frame{Name: "EventDispatch"}, Start: 150, End: 350}),
			"RunTask 50-900\n  FunctionCall 90-490\n    a 100-490\n      EventDispatch 150-350\n" +
				"        b 150-300\n          c 150-300\n        d 300-350\n          c 300-350\n",
		},
		{
			"no call outlives its task", sampled("a", "a", "a"),
			[]Event{{Frame: Frame{Name: "RunTask"}, Start: 90, End: 150}, {Frame: Frame{Name: "RunTask"}, Start: 160,
				End: 250}},
			"RunTask 90-150\n  a 100-150\nRunTask 160-250\n  a 200-250\na 300-400\n",
		},
		{
			"microtasks run after the function", sampled("a", "b"),
			task(Event{Frame: Frame{Name: "FunctionCall"}, Start: 90, End: 290},
				Event{Frame: Frame{Name: "RunMicrotasks"}, Start: 180, End: 280}),
			"RunTask 50-900\n  FunctionCall 90-290\n    a 100-180\n    RunMicrotasks 180-280\n      b 180-280\n",
		},
		{
			"a measure need not begin and end in the same call", sampled("a;f", "a;f", "a;g", "a;g"),
			[]Event{
				{Frame: Frame{Name: "FunctionCall"}, Start: 90, End: 490},
				{Frame: Frame{Name: "mine"}, Start: 150, End: 350, Measure: true},
			},
			"FunctionCall 90-490\n  a 100-490\n    f 100-150\n    mine 150-350\n      f 150-300\n      g 300-350\n  " +
				"  g 400-490\n",
		},
		{
			"functions that no sample in an event has are no callers of it", sampled("x", "s;q", "t;u", "t;u"),
			task(Event{Frame: Frame{Name: "FunctionCall"}, Start: 90, End: 490},
				Event{Frame: Frame{Name: "EvaluateScript"}, Start: 250, End: 480}),
			"RunTask 50-900\n  FunctionCall 90-490\n    x 100-200\n    s 200-250\n      q 200-250\n    " +
				"EvaluateScript 250-480\n      t 250-480\n        u 250-480\n",
		},
		{
			"a task within a function: an alert", sampled("a", "a;t", "a"),
			task(Event{Frame: Frame{Name: "FunctionCall"}, Start: 90, End: 390},
				Event{Frame: Frame{Name: "RunTask"}, Start: 150, End: 250}, Event{Frame: Frame{Name: "FunctionCall"},
					Start: 160, End: 240}),
			"RunTask 50-900\n  FunctionCall 90-390\n    a 100-390\n      RunTask 150-250\n        FunctionCall " +
				"160-240\n          t 160-240\n",
		},
		{
			"a collection in a later task interrupts no call", sampled("a", "gc:a", ""),
			[]Event{{Frame: Frame{Name: "RunTask"}, Start: 90, End: 150}, {Frame: Frame{Name: "RunTask"}, Start: 160,
				End: 290}, {Frame: Frame{Name: "MinorGC"}, Start: 170, End: 280}},
			"RunTask 90-150\n  a 100-150\nRunTask 160-290\n  MinorGC 170-280\n",
		},
		{
			"a measure outside tasks is a wait of the page", sampled("a", ""),
			[]Event{{Frame: Frame{Name: "RunTask"}, Start: 90, End: 150}, {Frame: Frame{Name: "load"}, Start: 80,
				End: 1000, Measure: true}},
			"RunTask 90-150\n  a 100-150\n",
		},
		{
			"(program) is time outside events", sampled("(program)", "(program)", ""),
			[]Event{{Frame: Frame{Name: "RunTask"}, Start: 150, End: 190}},
			"(program) 100-150\nRunTask 150-190\n(program) 200-300\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events, _, _ := Nest(tt.events)
			got := checkTimeline(t, tt.stream, events)
			if described(got) != tt.want {
				t.Errorf("got:\n%swant:\n%s", described(got), tt.want)
			}
		})
	}
}

// If two functions are on one stack, a sample had both, whatever the events are.
func TestCallsAreSampled(t *testing.T) {
	names := []string{"RunTask", "FunctionCall", "EvaluateScript", "TimerFire", "RunMicrotasks", "EventDispatch"}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 5))
		trace := &Trace{Trie: *New(), Gapless: true}
		nodes := []NodeID{Root}
		for range 1 + r.IntN(12) {
			nodes = append(nodes, trace.Child(nodes[r.IntN(len(nodes))],
				trace.Intern(Frame{Name: string(rune('a' + r.IntN(5)))})))
		}
		prefixes := map[string]bool{"": true}
		for i := range 1 + r.IntN(20) {
			n := nodes[r.IntN(len(nodes))]
			trace.Samples = append(trace.Samples, Sample{Time: int64(10 * i), Node: n})
			for ; n != Root; n = trace.Nodes[n].Parent {
				prefixes[stackText(&trace.Trie, n, nil)] = true
			}
			trace.End = int64(10*i + 10)
		}
		var events []Event
		for range r.IntN(10) {
			start := int64(r.IntN(200))
			events = append(events, Event{Frame: Frame{Name: names[r.IntN(len(names))]}, Start: start,
				End: start + int64(1+r.IntN(90))})
		}
		events, _, _ = Nest(events)
		l := callsOf(t, &Stream{Trace: trace}, events)
		isEvent := map[NodeID]bool{}
		for _, c := range l.Calls {
			if c.Event {
				isEvent[c.Node] = true
			}
		}
		for _, c := range l.Calls {
			if text := stackText(&l.Trie, c.Node, isEvent); !prefixes[text] {
				t.Fatalf("seed %d: no sample has %q:\n%s", seed, text, described(l))
			}
		}
	}
}

// stackText returns the stack of n as text, root first, without the nodes in skip.
func stackText(t *Trie, n NodeID, without map[NodeID]bool) string {
	var names []string
	for a := range t.Stack(n) {
		if !without[a] {
			names = append(names, t.Frame(a).Name)
		}
	}
	slices.Reverse(names)
	return strings.Join(names, ";")
}

// Unsampled time is kept in addition to the calls.
func TestAddCallsIdle(t *testing.T) {
	s := sampled("a", "", "", "a")
	s.Trace.Samples[1].Marker = MarkerIdle
	m := NewMerger()
	if err := m.AddCalls(s, []Event{{Frame: Frame{Name: "RunTask"}, Start: 90, End: 150},
		{Frame: Frame{Name: "RunTask"}, Start: 350, End: 900}}, m.Group(nil)); err != nil {
		t.Fatal(err)
	}
	g := m.Profile().Groups[0]
	if self, _ := g.Sum(); self != 60+550 || g.Coverage.Stackless != 200 || g.Coverage.Idle != 100 {
		t.Errorf("self %d, coverage %+v", self, g.Coverage)
	}
}

// An anchor is an exact stack: the layout is nested in b although no sample saw b.
func TestCallsAnchor(t *testing.T) {
	s := sampled("a", "a")
	s.Anchors = map[int64]NodeID{7: s.Trace.Insert(named("a", "b")...)}
	got := callsOf(t, s, []Event{
		{Frame: Frame{Name: "RunTask"}, Start: 50, End: 400}, {Frame: Frame{Name: "FunctionCall"}, Start: 90, End: 290},
		{Frame: Frame{Name: "Layout"}, Start: 150, End: 160, Anchor: 7},
	})
	want := "RunTask 50-400\n  FunctionCall 90-290\n    a 100-290\n      b 150-200\n        Layout 150-160\n"
	if described(got) != want {
		t.Errorf("got:\n%swant:\n%s", described(got), want)
	}
}

// A field trace has unsampled gaps, in which no calls are assumed.
func TestCallsUnsampled(t *testing.T) {
	trace := &Trace{Trie: *New(), Context: Context{Interval: 10}}
	a := trace.Insert(named("a")...)
	trace.Samples = []Sample{{Time: 0, Node: a}, {Time: 100, Node: a}, {Time: 110, Marker: MarkerGC}}
	got := callsOf(t, &Stream{Trace: trace}, nil)
	if want := "a 0-30\na 100-110\n(gc) 110-120\n"; described(got) != want {
		t.Errorf("got:\n%swant:\n%s", described(got), want)
	}
}

func TestNest(t *testing.T) {
	events, clipped, dropped := Nest([]Event{
		{Frame: Frame{Name: "late"}, Start: 90, End: 110},
		{Frame: Frame{Name: "outer"}, Start: 0, End: 100},
		{Frame: Frame{Name: "crossing measure"}, Start: 50, End: 120, Measure: true},
		{Frame: Frame{Name: "measure"}, Start: 10, End: 60, Measure: true},
		{Frame: Frame{Name: "in measure"}, Start: 20, End: 30},
		{Frame: Frame{Name: "crossed measure"}, Start: 85, End: 95, Measure: true},
	})
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprint(e.Name, " ", e.Start, "-", e.End))
	}
	want := []string{"outer 0-100", "measure 10-60", "in measure 20-30", "late 90-100"}
	if !slices.Equal(got, want) || clipped != 1 || dropped != 2 {
		t.Errorf("got %q, %d clipped, %d dropped", got, clipped, dropped)
	}
}

// checkTimeline checks the guarantees of the type: calls nest, and their self times sum to the time
// that they cover.
func checkTimeline(t *testing.T, s *Stream, events []Event) *Timeline {
	t.Helper()
	l := callsOf(t, s, events)
	if err := l.Validate(); err != nil {
		t.Fatal(err)
	}
	var open []Call
	var covered int64
	for i, c := range l.Calls {
		if c.Start >= c.End {
			t.Fatalf("call %d: %+v has no duration", i, c)
		}
		if i > 0 && c.Start < l.Calls[i-1].Start {
			t.Fatalf("call %d: %+v begins before the previous one", i, c)
		}
		for len(open) > 0 && open[len(open)-1].End <= c.Start {
			open = open[:len(open)-1]
		}
		parent := Root
		if len(open) > 0 {
			parent = open[len(open)-1].Node
			if c.End > open[len(open)-1].End {
				t.Fatalf("call %d: %+v outlives %+v", i, c, open[len(open)-1])
			}
		} else {
			covered += c.End - c.Start
		}
		if l.Nodes[c.Node].Parent != parent {
			t.Fatalf("call %d: %+v is not called by node %d", i, c, parent)
		}
		open = append(open, c)
	}
	m := NewMerger()
	if err := m.AddCalls(s, events, m.Group(nil)); err != nil {
		t.Fatal(err)
	}
	p := m.Profile()
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	var self int64
	if len(p.Groups) > 0 {
		self, _ = p.Groups[0].Sum()
	}
	if self != covered || l.Self() != covered {
		t.Fatalf("self times sum to %d and %d, the calls cover %d", self, l.Self(), covered)
	}
	return l
}

// For random events and samples, calls nest and no time is lost or added: all events are covered,
// and without events all stacks are.
func TestCallsConserve(t *testing.T) {
	names := []string{"RunTask", "FunctionCall", "Layout", "V8.GCScavenger", "v8.compile", "EvaluateScript",
		"TimerFire", "RunMicrotasks", "mine"}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 4))
		trace := &Trace{Trie: *New(), Gapless: true}
		var nodes []NodeID
		nodes = append(nodes, Root, trace.Insert(named(FrameProgram)...))
		for range r.IntN(12) {
			parent := nodes[r.IntN(len(nodes))]
			nodes = append(nodes, trace.Child(parent, trace.Intern(Frame{Name: string(rune('a' + r.IntN(4)))})))
		}
		time := int64(r.IntN(10))
		var sampledTime int64
		for range r.IntN(20) {
			trace.Samples = append(trace.Samples, Sample{Time: time, Node: nodes[r.IntN(len(nodes))]})
			time += int64(r.IntN(20))
		}
		trace.End = time
		for i, s := range trace.Samples {
			end := trace.End
			if i+1 < len(trace.Samples) {
				end = trace.Samples[i+1].Time
			}
			if s.Node != Root {
				sampledTime += end - s.Time
			}
		}
		stream := &Stream{Trace: trace, Anchors: map[int64]NodeID{1: nodes[r.IntN(len(nodes))],
			2: nodes[r.IntN(len(nodes))]}}
		plain := checkTimeline(t, stream, nil)
		if plain.Self() != sampledTime {
			t.Fatalf("seed %d: %d µs, the samples cover %d", seed, plain.Self(), sampledTime)
		}
		var events []Event
		for range r.IntN(12) {
			start := int64(r.IntN(150))
			events = append(events, Event{
				Frame: Frame{Name: names[r.IntN(len(names))]}, Start: start, End: start + int64(r.IntN(80)),
				Anchor:  int64(r.IntN(4)),
				Measure: r.IntN(5) == 0,
			})
		}
		events, _, _ = Nest(events)
		both := checkTimeline(t, stream, events)
		// Each event is complete.
		for _, e := range events {
			if e.Start == e.End {
				continue
			}
			found := slices.ContainsFunc(both.Calls, func(c Call) bool {
				return c.Event && c.Start == e.Start && c.End == e.End && both.Frame(c.Node).Name == e.Name
			})
			if !found {
				t.Fatalf("seed %d: event %+v is missing in\n%s", seed, e, described(both))
			}
		}
	}
}
