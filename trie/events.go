package trie

import (
	"cmp"
	"slices"
	"strings"
)

// Nest brings events into the order that [Thread] asks for and sees to it that none
// crosses another: one that ends after the one that it began in is clipped, since time
// must not count twice, and a measure that crosses anything but a measure is dropped, as
// pages measure across tasks. It works in place and returns what is left, and how many it
// clipped and dropped.
func Nest(events []Event) (nested []Event, clipped, dropped int) {
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	var open []int // places in events
	drop := make([]bool, len(events))
	for i := range events {
		e := &events[i]
		for len(open) > 0 && events[open[len(open)-1]].End <= e.Start {
			open = open[:len(open)-1]
		}
		for k := len(open) - 1; k >= 0 && !drop[i] && events[open[k]].End < e.End; k-- {
			switch o := &events[open[k]]; {
			case e.Measure:
				drop[i] = true
			case o.Measure:
				drop[open[k]] = true
				open = slices.Delete(open, k, k+1)
			default:
				e.End = o.End
				clipped++
			}
		}
		if !drop[i] {
			open = append(open, i)
		}
	}
	nested = events[:0]
	for i, e := range events {
		if drop[i] {
			dropped++
			continue
		}
		nested = append(nested, e)
	}
	return nested, clipped, dropped
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
