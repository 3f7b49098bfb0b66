package query

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode/columns"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// ViewQuery is a query for [Source.View].
type ViewQuery struct {
	selection.Selection        // where to search: a page and a time range make it faster
	ID                  string // of [ViewEntry]
}

// View is the timeline of a page view. Times are in µs since the page's time origin. It is
// complete, whatever features and labels are selected.
type View struct {
	ViewEntry
	Interval uint32 `json:"interval_us"` // between samples
	Start    int64  `json:"start_us"`    // start of the first call
	End      int64  `json:"end_us"`
	// Names and Calls are as in a [columns.Tree], with times instead of weights: call i has frame
	// Frame[i] and is Level[i] calls deep. They are sorted by start, callers before callees.
	columns.Names
	Calls ViewCalls `json:"calls"`
	// Spans are routes, features and labels, sorted by start.
	Spans []ViewSpan `json:"spans"`
	// Long lists the stretches of 50 ms or more with an uninterrupted stack.
	Long []ViewStretch `json:"long_tasks"`
	// Unsampled lists the stretches in which the browser took no samples, between and within
	// traces. The code that ran then is unknown.
	Unsampled []ViewStretch `json:"unsampled"`
	Stats     Stats         `json:"stats"`

	sampled int64 // end of the traces so far
}

// newView returns an empty View that has no nulls in JSON.
func newView() View {
	return View{
		Names: columns.NewNames(),
		Calls: ViewCalls{Frame: []int{}, Level: []int{}, Start: []int64{}, End: []int64{}}, Spans: []ViewSpan{},
		Long: []ViewStretch{}, Unsampled: []ViewStretch{},
	}
}

// ViewCalls has calls in columns.
type ViewCalls struct {
	Frame []int   `json:"frame"`
	Level []int   `json:"level"`
	Start []int64 `json:"start_us"`
	End   []int64 `json:"end_us"`
}

// ViewSpan is a stretch of time with a name.
type ViewSpan struct {
	Kind  string `json:"kind"` // "page", "feature" or "label"
	Name  string `json:"name"` // for a label, KEY=VALUE
	Start int64  `json:"start_us"`
	End   int64  `json:"end_us"`
}

// ViewStretch is a stretch of time.
type ViewStretch struct {
	Start int64 `json:"start_us"`
	End   int64 `json:"end_us"`
}

// viewCalls is the maximum number of calls in a page view.
const viewCalls = 200_000

// NotFoundError reports that What does not exist.
type NotFoundError struct{ What string }

func (e *NotFoundError) Error() string {
	return "there is no " + e.What + " in this time, or it is gone"
}

// View implements [Source].
func (l Local) View(ctx context.Context, q ViewQuery) (View, error) {
	var id [16]byte
	if n, err := hex.Decode(id[:], []byte(q.ID)); err != nil || n != len(id) || len(q.ID) != 2*len(id) {
		return View{}, selection.Refuse("parameter id: %.40q is not 32 hexadecimal digits", q.ID)
	}
	q.Feature, q.Where = "", nil
	var traces []*trie.Trace
	chunks := map[uint32]bool{} // a chunk of several pages is read once per page
	out := newView()
	stats, err := l.eachViewTrace(ctx, q.Selection, func(rec store.Record, decode func() *trie.Trace) error {
		if rec.ID.View != id || chunks[rec.ID.Chunk] {
			return nil
		}
		chunks[rec.ID.Chunk] = true
		if t := decode(); t != nil {
			if len(traces) == 0 {
				out.ViewEntry = *newViewEntry(rec, &t.Context)
			}
			traces = append(traces, t.Canonical()) // a decoded trace is valid until the next one
		}
		return nil
	})
	if err != nil {
		return View{}, err
	}
	if len(traces) == 0 {
		return View{}, &NotFoundError{"page view " + q.ID}
	}
	slices.SortStableFunc(traces, func(a, b *trie.Trace) int { return cmp.Compare(a.Context.Chunk, b.Context.Chunk) })
	out.Stats = stats
	return out, l.fill(&out, q, traces)
}

// fill adds the traces of a page view, which must be in order of time.
func (l Local) fill(v *View, q ViewQuery, traces []*trie.Trace) error {
	n := l.naming(q.Selection)
	var lines []*trie.Timeline
	left := viewCalls
	see := func(string, trie.Frame, int64) {}
	if n != nil {
		see = n.See
	}
	for _, t := range traces {
		line, err := trie.Calls(&trie.Stream{Trace: t}, nil, left)
		if err != nil {
			return selection.Refuse("page view: %w", err)
		}
		left -= len(line.Calls)
		for f := range line.Frames {
			see(t.Context.Release, line.FrameOf(trie.FrameID(f)), 0)
		}
		lines = append(lines, line)
		v.Traces, v.Interval = v.Traces+1, t.Context.Interval
		v.addSpans(t)
		v.addUnsampled(t)
		t.Shares([]trie.Slice{{Start: -1 << 62, End: 1 << 62}}, func(x *trie.Share) {
			if rollup.IsOwn(&t.Trie, x.Node, x.OnTop) {
				v.Own += float64(x.Self) / 1000
			} else if x.HasStack() {
				v.Time += float64(x.Self) / 1000
			}
		})
	}
	var names *naming.Names
	if n != nil {
		names = n.Names()
	}
	w := viewWriter{View: v, frames: map[trie.Frame]int{}}
	for i, line := range lines {
		release := traces[i].Context.Release
		w.add(line.Rewrite(func(f trie.Frame) trie.Frame { return names.Of(release, f) }, false))
	}
	v.countLong(v.Long)
	v.Stats.Names = names.Coverage()
	return nil
}

// countLong counts long tasks and adds their times.
func (v *ViewEntry) countLong(tasks []ViewStretch) {
	for _, long := range tasks {
		v.LongCount, v.LongTime = v.LongCount+1, v.LongTime+float64(long.End-long.Start)/1000
	}
}

// addUnsampled adds the unsampled stretches between the previous traces and t, and within t.
func (v *View) addUnsampled(t *trie.Trace) {
	if len(t.Samples) == 0 {
		return
	}
	interval := int64(t.Context.Interval)
	if first := t.Samples[0].Time; v.sampled > 0 && first-v.sampled > interval {
		v.Unsampled = append(v.Unsampled, ViewStretch{v.sampled, first})
	}
	for start, end := range t.Unsampled() {
		v.Unsampled = append(v.Unsampled, ViewStretch{start, end})
	}
	v.sampled = t.Samples[len(t.Samples)-1].Time + interval
}

func (v *View) addSpans(t *trie.Trace) {
	kinds := map[trie.SpanKind]string{trie.SpanPage: "page", trie.SpanFeature: "feature", trie.SpanLabel: "label"}
	for _, s := range t.Context.Spans {
		v.Spans = append(v.Spans, ViewSpan{kinds[s.Kind], s.Name, s.Start, s.End()})
	}
}

// ViewOf returns a view of a single thread, with the entry e. origin is the zero of its times, on
// the clock of the calls. It returns an error if there are too many calls.
func ViewOf(e ViewEntry, line *trie.Timeline, origin int64) (View, error) {
	if len(line.Calls) > viewCalls {
		return View{}, selection.Refuse("the thread has %d calls, but at most %d can be shown: use a shorter recording",
			len(line.Calls), viewCalls)
	}
	out := newView()
	out.ViewEntry = e
	w := viewWriter{View: &out, origin: origin, frames: map[trie.Frame]int{}}
	w.add(line)
	return out, nil
}

// CountLong counts the long tasks of a thread and adds their times.
func (v *ViewEntry) CountLong(line *trie.Timeline) { v.countLong(longIn(line, 0)) }

// viewWriter writes the calls of a view.
type viewWriter struct {
	*View
	origin int64 // zero of the view's times, on the clock of the calls
	frames map[trie.Frame]int
}

func (w *viewWriter) frame(f trie.Frame) int {
	i, ok := w.frames[f]
	if !ok {
		i = w.Add(f)
		w.frames[f] = i
	}
	return i
}

func (w *viewWriter) add(line *trie.Timeline) {
	level := make([]int, len(line.Nodes))
	for i := 1; i < len(level); i++ {
		level[i] = level[line.Nodes[i].Parent] + 1
	}
	for _, c := range line.Calls {
		c.Start, c.End = c.Start-w.origin, c.End-w.origin
		if len(w.Calls.Frame) == 0 || c.Start < w.Start {
			w.Start = c.Start
		}
		w.End = max(w.End, c.End)
		w.Calls.Frame = append(w.Calls.Frame, w.frame(line.FrameOf(line.Nodes[c.Node].Frame)))
		w.Calls.Level = append(w.Calls.Level, level[c.Node]-1)
		w.Calls.Start = append(w.Calls.Start, c.Start)
		w.Calls.End = append(w.Calls.End, c.End)
	}
	w.Long = append(w.Long, longIn(line, w.origin)...)
}

// longIn returns the long tasks of a thread, with times since origin.
func longIn(line *trie.Timeline, origin int64) (long []ViewStretch) {
	busy, open := ViewStretch{}, false
	end := func() {
		if open && busy.End-busy.Start >= rollup.LongTask {
			long = append(long, busy)
		}
		open = false
	}
	for s := range line.Segments() {
		if s.Node == trie.Root {
			end()
			continue
		}
		if !open {
			busy.Start, open = s.Start-origin, true
		}
		busy.End = s.End - origin
	}
	end()
	return long
}
