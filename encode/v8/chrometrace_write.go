package v8

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// chromeEvent is an event of the Trace Event Format of Chromium.
type chromeEvent struct {
	Name  string      `json:"name"`
	Phase string      `json:"ph"`
	Cat   string      `json:"cat"`
	PID   int64       `json:"pid"`
	TID   int64       `json:"tid"`
	TS    int64       `json:"ts"`            // µs
	Dur   *float64    `json:"dur,omitempty"` // µs
	Args  *chromeArgs `json:"args,omitempty"`
}

type chromeArgs struct {
	Name   string `json:"name,omitempty"` // of a thread or process, in an event of the phase M
	URL    string `json:"url,omitempty"`
	Line   uint32 `json:"line,omitempty"`   // from 1
	Column uint32 `json:"column,omitempty"` // from 1
}

// EncodeChromeTraceTimed writes the calls of threads in time order as a Chrome trace, which
// Perfetto, chrome://tracing, speedscope and Chrome DevTools open. Each call is one complete event
// (phase X) of the category fieldtrie, or fieldtrie.event if the browser recorded it as an event,
// with the place of the function as args. Times are taken from the timelines, in µs, shifted so
// that the first is at least 1: readers interpret 0 as missing. DevTools shows a generic trace with
// a track for each thread, because the browser events by which it recognises a page are missing.
func EncodeChromeTraceTimed(w io.Writer, lines []*trie.Timeline, o output.Options) error {
	lines = output.NotEmpty(lines)
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	b.WriteString(`{"traceEvents":[` + "\n")
	c := newChromeWriter(lines)
	for i, name := range c.names() {
		if i > 0 {
			b.WriteString(",")
		}
		if err := e.Encode(&name); err != nil {
			return err
		}
	}
	for _, at := range c.order() {
		event := c.event(at)
		b.WriteString(",")
		if err := e.Encode(&event); err != nil {
			return err
		}
	}
	b.WriteString(`],"displayTimeUnit":"ms","metadata":{"source":"fieldtrie"`)
	if o.Title != "" {
		b.WriteString(`,"title":` + output.Quote(o.Title))
	}
	b.WriteString("}}\n")
	return b.Flush()
}

// chromeWriter turns the calls of threads into events one by one: an event takes ten
// times the memory of a call.
type chromeWriter struct {
	lines    []*trie.Timeline
	shift    int64
	frames   [][]*chromeArgs  // by thread and frame
	repeated []map[int64]bool // by thread, see repeats
}

func newChromeWriter(lines []*trie.Timeline) *chromeWriter {
	c := &chromeWriter{lines: lines, shift: max(1-output.FirstStart(lines), 0)}
	for _, t := range lines {
		frames := make([]*chromeArgs, len(t.Frames))
		for i := range frames {
			if f := t.FrameOf(trie.FrameID(i)); f.Resource != "" || f.Line != 0 {
				frames[i] = &chromeArgs{URL: f.Resource, Line: f.Line, Column: f.Column}
			}
		}
		c.frames, c.repeated = append(c.frames, frames), append(c.repeated, repeats(t))
	}
	return c
}

// thread returns the ids of the thread at index i.
func (c *chromeWriter) thread(i int) (pid, tid int64) {
	pid, tid = max(c.lines[i].Process, 1), c.lines[i].Thread
	if tid == 0 {
		tid = int64(i) + 1
	}
	return pid, tid
}

// names returns the events that name processes and threads.
func (c *chromeWriter) names() (names []chromeEvent) {
	seen := map[int64]bool{}
	for i, t := range c.lines {
		pid, tid := c.thread(i)
		if !seen[pid] {
			seen[pid] = true
			names = append(names, chromeEvent{Name: "process_name", Phase: "M", Cat: "__metadata", PID: pid, TID: tid,
				Args: &chromeArgs{Name: "fieldtrie"}})
		}
		names = append(names, chromeEvent{Name: "thread_name", Phase: "M", Cat: "__metadata", PID: pid, TID: tid,
			Args: &chromeArgs{Name: output.ThreadName(t)}})
	}
	return names
}

// chromeCall identifies a call: the index of the thread and the index of the call.
type chromeCall struct{ line, call int32 }

// order returns all calls sorted by time. Of calls that begin together the caller comes
// first.
func (c *chromeWriter) order() (out []chromeCall) {
	all := 0
	for _, t := range c.lines {
		all += len(t.Calls)
	}
	out = make([]chromeCall, 0, all)
	for i, t := range c.lines {
		for k := range t.Calls {
			out = append(out, chromeCall{int32(i), int32(k)})
		}
	}
	if len(c.lines) > 1 {
		slices.SortStableFunc(out, func(a, b chromeCall) int {
			return cmp.Compare(c.lines[a.line].Calls[a.call].Start, c.lines[b.line].Calls[b.call].Start)
		})
	}
	return out
}

func (c *chromeWriter) event(at chromeCall) chromeEvent {
	t := c.lines[at.line]
	call := t.Calls[at.call]
	pid, tid := c.thread(int(at.line))
	length := float64(call.End - call.Start)
	if c.repeated[at.line][call.End] {
		length -= 0.001
	}
	event := chromeEvent{
		Name: output.Shown(t.Frame(call.Node)), Phase: "X", Cat: "fieldtrie", PID: pid, TID: tid,
		TS: call.Start + c.shift, Dur: &length, Args: c.frames[at.line][t.Nodes[call.Node].Frame],
	}
	if call.Event {
		event.Cat = "fieldtrie.event"
	}
	return event
}

// repeats returns the times at which a call of a function ends and another call of the
// same function begins. speedscope would take the two for an event without length and
// nest everything after it wrongly, so the first call is written a nanosecond shorter.
func repeats(t *trie.Timeline) map[int64]bool {
	type end struct {
		time  int64
		frame trie.FrameID
	}
	compare := func(a, b end) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.frame, b.frame)) }
	ends := make([]end, len(t.Calls))
	for i, c := range t.Calls {
		ends[i] = end{c.End, t.Nodes[c.Node].Frame}
	}
	slices.SortFunc(ends, compare)
	out := map[int64]bool{}
	for _, c := range t.Calls {
		if _, is := slices.BinarySearchFunc(ends, end{c.Start, t.Nodes[c.Node].Frame}, compare); is {
			out[c.Start] = true
		}
	}
	return out
}
