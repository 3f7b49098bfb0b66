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

// EncodeChromeTraceTimed writes the calls of threads in time order as a Chrome trace,
// which Perfetto, chrome://tracing, speedscope and Chrome DevTools open. Each call is one
// complete event (phase X) of the category fieldtrie, or fieldtrie.event if the browser
// recorded it as an event, with the place of the function as args. Times are those of
// the timelines, in µs, moved so that the first is at least 1: readers take 0 for
// missing. DevTools shows such a trace as a generic one, a track for each thread; the
// events by which it would know a page are those of a browser, and are not made up.
func EncodeChromeTraceTimed(w io.Writer, lines []*trie.Timeline, o output.Options) error {
	lines = output.NotEmpty(lines)
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	b.WriteString(`{"traceEvents":[` + "\n")
	events := chromeEvents(lines)
	for i := range events {
		if i > 0 {
			b.WriteString(",")
		}
		if err := e.Encode(&events[i]); err != nil {
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

// chromeEvents returns the events of threads sorted by time, those that name threads
// first. Of events that begin together the caller stands first.
func chromeEvents(lines []*trie.Timeline) []chromeEvent {
	shift := max(1-output.FirstStart(lines), 0)
	var names, out []chromeEvent
	seen := map[int64]bool{}
	for i, t := range lines {
		pid, tid := max(t.Process, 1), t.Thread
		if tid == 0 {
			tid = int64(i) + 1
		}
		if !seen[pid] {
			seen[pid] = true
			names = append(names, chromeEvent{Name: "process_name", Phase: "M", Cat: "__metadata", PID: pid, TID: tid, Args: &chromeArgs{Name: "fieldtrie"}})
		}
		names = append(names, chromeEvent{Name: "thread_name", Phase: "M", Cat: "__metadata", PID: pid, TID: tid, Args: &chromeArgs{Name: output.ThreadName(t)}})
		frames := make([]*chromeArgs, len(t.Frames))
		for i := range frames {
			if f := t.FrameOf(trie.FrameID(i)); f.Resource != "" || f.Line != 0 {
				frames[i] = &chromeArgs{URL: f.Resource, Line: f.Line, Column: f.Column}
			}
		}
		repeated := repeats(t)
		for _, c := range t.Calls {
			length := float64(c.End - c.Start)
			if repeated[c.End] {
				length -= 0.001
			}
			event := chromeEvent{
				Name: output.Shown(t.Frame(c.Node)), Phase: "X", Cat: "fieldtrie", PID: pid, TID: tid,
				TS: c.Start + shift, Dur: &length, Args: frames[t.Nodes[c.Node].Frame],
			}
			if c.Event {
				event.Cat = "fieldtrie.event"
			}
			out = append(out, event)
		}
	}
	slices.SortStableFunc(out, func(a, b chromeEvent) int { return cmp.Compare(a.TS, b.TS) })
	return append(names, out...)
}

// repeats returns the times at which a call of a function ends and another of the same
// begins. speedscope would take the two for an event without length, and from there on
// nest everything wrongly, so what ends there is written a nanosecond shorter.
func repeats(t *trie.Timeline) map[int64]bool {
	type end struct {
		time  int64
		frame trie.FrameID
	}
	ends := make(map[end]bool, len(t.Calls))
	for _, c := range t.Calls {
		ends[end{c.End, t.Nodes[c.Node].Frame}] = true
	}
	out := map[int64]bool{}
	for _, c := range t.Calls {
		if ends[end{c.Start, t.Nodes[c.Node].Frame}] {
			out[c.Start] = true
		}
	}
	return out
}
