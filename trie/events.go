package trie

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// Nest brings events into the order that [Thread] asks for and sees to it that none
// crosses another, since time must not count twice. Of two that cross one is clipped, so
// that the least is lost: the earlier one ends where the later begins, or the later one
// where the earlier ends. A measure is dropped if it crosses anything, as pages measure
// across tasks, or if it lies in nothing: then it says what the page waited for. It works
// in place and returns what is left, and how many it clipped and dropped.
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

// outermost orders events that begin at the same time: a task lies in nothing else then.
func outermost(e Event) int {
	if kindOf(e.Name) == task {
		return 0
	}
	return 1
}

// nesting is the state of [Nest]. Events that are open lie each in the one before, so the last
// ends first, and a search finds those that end before a time.
type nesting struct {
	events   []Event
	drop     []bool
	open     []int // places in events of those that are open, but for measures
	measures []int // likewise of measures; each lies in all of open that began before it
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

// without returns those of a list of open events that do not end before a time.
func (n *nesting) without(list []int, end int64) []int {
	for len(list) > 0 && n.events[list[len(list)-1]].End < end {
		list = list[:len(list)-1]
	}
	return list
}

// crosses reports whether e outlives one of a list of open events.
func (n *nesting) crosses(list []int, e *Event) bool {
	return len(list) > 0 && n.events[list[len(list)-1]].End < e.End
}

// clip ends e, or those that it crosses, so that it crosses nothing.
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

// eventKind says what an event has to do with the functions that are called while it
// lasts.
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
	// native: work of the browser in which no function runs, unless an invocation lies
	// in it. What was called stands still.
	native
	// compiling is native work on a script that did not run before it was over.
	compiling
)

// eventKinds are the kinds of the events of Chromium, by name; those of V8 have
// prefixes. Which are invocations is said in front_end/models/trace/types/TraceEvents.ts
// of Chrome DevTools.
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

// calls reports whether the functions in an event were called by it.
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
