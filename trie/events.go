package trie

import (
	"cmp"
	"slices"
	"strings"
)

// Nest brings events into the order that [Thread] asks for and sees to it that none
// crosses another, since time must not count twice. Of two that cross one is clipped, so
// that the least is lost: the earlier one ends where the later begins, or the later one
// where the earlier ends. A measure is dropped if it crosses anything, as pages measure
// across tasks, or if it lies in nothing: then it says what the page waited for. It works
// in place and returns what is left, and how many it clipped and dropped.
func Nest(events []Event) (nested []Event, clipped, dropped int) {
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(outermost(a), outermost(b)), cmp.Compare(b.End, a.End))
	})
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

// outermost orders events that begin at the same time: a task lies in nothing else then.
func outermost(e Event) int {
	if kindOf(e.Name) == task {
		return 0
	}
	return 1
}

// nesting is the state of [Nest].
type nesting struct {
	events  []Event
	drop    []bool
	open    []int // places in events; each lies in the one before
	clipped int
}

// add opens event i, the next in order of start.
func (n *nesting) add(i int) {
	e := &n.events[i]
	for len(n.open) > 0 && n.events[n.open[len(n.open)-1]].End <= e.Start {
		n.open = n.open[:len(n.open)-1]
	}
	crossed := len(n.open) // from here on
	for crossed > 0 && n.events[n.open[crossed-1]].End < e.End {
		crossed--
	}
	if e.Measure {
		inside := slices.ContainsFunc(n.open, func(k int) bool { return !n.events[k].Measure })
		if n.drop[i] = crossed < len(n.open) || !inside; !n.drop[i] {
			n.open = append(n.open, i)
		}
		return
	}
	last := crossed // what crosses and is no measure
	for _, k := range n.open[crossed:] {
		if n.events[k].Measure {
			n.drop[k] = true
			continue
		}
		n.open[last] = k
		last++
	}
	n.open = n.open[:last]
	if crossed < last {
		outer, inner := &n.events[n.open[crossed]], &n.events[n.open[last-1]]
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
	n.open = append(n.open, i)
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
