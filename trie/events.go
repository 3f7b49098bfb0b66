package trie

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// Nest sorts events into the order required by [Thread] and makes them nest, since time must not
// count twice. If two events cross, it clips the one that loses less: either the earlier one ends
// where the later begins, or the later one ends where the earlier ends. A measure that crosses
// anything is dropped, because pages measure across tasks. A measure outside all events is also
// dropped: it measures what the page waited for. Nest works in place. It returns the remaining
// events and the numbers of clipped and dropped ones.
func Nest(events []Event) (nested []Event, clipped, dropped int) {
	slices.SortStableFunc(events, compareEvents)
	n := nesting{events: events, drop: make([]bool, len(events))}
	for i := range events {
		n.add(i)
	}
	nested = events[:0]
	for i, e := range events {
		if n.drop[i] {
			dropped++
			continue
		}
		nested = append(nested, e)
	}
	return nested, n.clipped, dropped
}

func compareEvents(a, b Event) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(outermost(a), outermost(b)), cmp.Compare(b.End, a.End))
}

// outermost orders events that begin at the same time: tasks come first, because they are nested in
// no other event.
func outermost(e Event) int {
	if kindOf(e.Name) == task {
		return 0
	}
	return 1
}

// nesting is the state of [Nest]. Each open event is nested in the one before it, so the last one
// ends first, and a binary search finds those that end before a time.
type nesting struct {
	events   []Event
	drop     []bool
	open     []int // indexes of open events, except measures
	measures []int // indexes of open measures; each is nested in all of open that began before it
	clipped  int
}

// add opens event i, the next in order of start.
func (n *nesting) add(i int) {
	e := &n.events[i]
	n.open, n.measures = n.without(n.open, e.Start+1), n.without(n.measures, e.Start+1)
	if e.Measure {
		if n.drop[i] = n.crosses(n.open, e) || n.crosses(n.measures, e) || len(n.open) == 0; !n.drop[i] {
			n.measures = append(n.measures, i)
		}
		return
	}
	kept := n.without(n.measures, e.End)
	for _, k := range n.measures[len(kept):] {
		n.drop[k] = true
	}
	n.measures = kept
	if n.crosses(n.open, e) {
		n.clip(e)
	}
	n.open = append(n.open, i)
}

// without returns the open events of list that end at end or later.
func (n *nesting) without(list []int, end int64) []int {
	for len(list) > 0 && n.events[list[len(list)-1]].End < end {
		list = list[:len(list)-1]
	}
	return list
}

// crosses reports whether e outlives one of the open events of list.
func (n *nesting) crosses(list []int, e *Event) bool {
	return len(list) > 0 && n.events[list[len(list)-1]].End < e.End
}

// clip ends e, or the events that it crosses, so that nothing crosses.
func (n *nesting) clip(e *Event) {
	crossed := sort.Search(len(n.open), func(k int) bool { return n.events[n.open[k]].End < e.End })
	outer, inner := &n.events[n.open[crossed]], &n.events[n.open[len(n.open)-1]]
	if outer.End-e.Start < e.End-inner.End && e.Start > outer.Start {
		for _, k := range n.open[crossed:] {
			n.events[k].End = min(n.events[k].End, e.Start)
			n.clipped++
		}
		n.open = n.open[:crossed]
	} else {
		e.End = inner.End
		n.clipped++
	}
}

// eventKind is the relation of an event to the functions called during it.
type eventKind uint8

const (
	// container: functions may run in it, but need not.
	container eventKind = iota
	// task: functions run in it, and none from before it: the stack was empty.
	task
	// invocation: the browser calls a function, and the event ends when that returns.
	invocation
	// microtasks: both of these.
	microtasks
	// native: work of the browser in which no function runs, unless an invocation is nested in it.
	// The stack does not change meanwhile.
	native
	// compiling: native work on a script that cannot run before it is over.
	compiling
)

// eventKinds are the kinds of Chromium's events, by name; V8's events have prefixes. The
// invocations are taken from front_end/models/trace/types/TraceEvents.ts in Chrome DevTools.
var eventKinds = map[string]eventKind{
	"RunTask": task, "RunMicrotasks": microtasks,

	"FunctionCall": invocation, "EvaluateScript": invocation, "EventDispatch": invocation,
	"v8.evaluateModule": invocation, "v8.run": invocation, "v8.callFunction": invocation,
	"v8.newInstance": invocation, "v8.callModuleMethod": invocation,
	"V8.Execute": invocation, "V8Console::runTask": invocation,

	"v8.compile": compiling, "v8.compileModule": compiling,
	"v8.deserializeModule": compiling, "v8.produceCache": compiling,

	"UpdateLayoutTree": native, "RecalculateStyles": native, "Layout": native,
	"UpdateLayerTree": native, "UpdateLayer": native, "Layerize": native,
	"PrePaint": native, "Paint": native, "PaintSetup": native, "PaintImage": native,
	"CompositeLayers": native, "Commit": native, "RasterTask": native, "HitTest": native,
	"ParseHTML": native, "ParseAuthorStyleSheet": native, "ParseMetaData": native,
	"MinorGC": native, "MajorGC": native, "GCEvent": native, "ThreadState::performIdleLazySweep": native,
	"Decode Image": native, "ImageDecodeTask": native, "Resize Image": native,
}

// calls reports whether the event called the functions in it.
func (k eventKind) calls() bool { return k == invocation || k == microtasks }

// fresh reports whether an event begins with no function running.
func (k eventKind) fresh() bool { return k == task || k == microtasks }

func kindOf(name string) eventKind {
	if k, ok := eventKinds[name]; ok {
		return k
	}
	for _, prefix := range [...]string{"V8.", "v8.", "BlinkGC.", "CppGC."} {
		if strings.HasPrefix(name, prefix) {
			return native // garbage collection, parsing, optimising
		}
	}
	return container
}
