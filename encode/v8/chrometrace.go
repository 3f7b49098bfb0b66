package v8

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// DecodeChromeTrace reads a trace in Chrome's Trace Event Format
// (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU): a list
// of events, or an object that has one under "traceEvents". It reads
//
//   - events with a begin and an end (X, and B with E): per thread, nested, B and E paired
//     by name;
//   - performance.measure (b with e of the category blink.user_timing), if it lies within
//     the events of a thread;
//   - the profiles of V8 among them: CpuProfile, or Profile with its ProfileChunks, which
//     are matched by process and id and sorted by time;
//   - "samples" and "stackFrames" next to the events, as written by Hermes and React Native;
//   - the names of processes and threads;
//   - scripts and their source maps, which DevTools saves on request.
//
// A list without an end and a truncated file give their readable part and a warning. All
// times are on the clock of the events, in µs since the first. Unused arguments are
// skipped, so a file takes memory only for its events and samples.
func DecodeChromeTrace(r io.Reader, lim input.Limits) (*trie.Recording, error) {
	d := newTraceReader(lim.WithDefaults())
	d.Stream(&cutOff{r: r})
	if d.Peek() == '[' {
		d.readEvents()
	} else {
		for d.Object(); d.Key(); {
			d.member()
		}
	}
	if d.Err == nil && d.Peek() != 0 {
		d.End()
	}
	if d.Err != nil {
		if !d.Ended || !d.found() {
			return nil, d.Err
		}
		d.warn("the file is truncated; the part before that was read")
	}
	return d.recording()
}

// cutOff reads a stream that may break off, such as a gzipped file without its end.
type cutOff struct{ r io.Reader }

func (c *cutOff) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// traceReader collects the content of a trace.
type traceReader struct {
	cpuProfileReader // reads the profiles in arguments, too
	*v8Tables
	count    int // events read
	warnings []string

	threads  map[threadKey]*traceThread
	order    []*traceThread
	last     *traceThread     // of the event before
	names    map[int64]int64  // numbers of processes and threads that have none
	process  map[int64]string // names of processes
	profiles map[profileKey]*traceProfile
	byOrder  []*traceProfile
	hermes   hermesSamples
	carried  carriedScripts

	event traceEvent // being read
}

type threadKey struct{ pid, tid int64 }

// traceThread is the data of one thread in a trace.
type traceThread struct {
	threadKey
	name     string
	complete []traceSpan
	begins   []traceMark // B and E, in the order of the file
	measures []traceMark // b and e of user timing
}

// traceSpan is an event with its length.
type traceSpan struct {
	name       trie.StringID
	start, end float64 // µs
	anchor     int64
	place      *hermesPlace
}

// traceMark is the begin or the end of an event.
type traceMark struct {
	name   trie.StringID
	time   float64 // µs
	anchor int64
	place  *hermesPlace
	id     trie.StringID // of a measure
	begin  bool
}

// traceEvent is the current event; its arguments are stored elsewhere as they are read.
type traceEvent struct {
	name, phase, id trie.StringID
	timing          bool // of the category of user timing
	ts, dur, tdur   float64
	timed, lasts    bool // ts and dur are there
	pid, tid        int64
	anchor          int64
	place           hermesPlace
	givenName       string // of a thread or a process
	profiled        bool   // there is a piece of a profile in the arguments
	source          string
	started         float64         // µs, as the profile says
	anchors         map[int64]int64 // nodes by the number of a moment
}

func newTraceReader(lim input.Limits) *traceReader {
	d := &traceReader{
		threads: map[threadKey]*traceThread{}, profiles: map[profileKey]*traceProfile{}, names: map[int64]int64{},
		process: map[int64]string{},
	}
	d.lim, d.v8Tables = lim, newV8Tables()
	d.profile = newV8Profile(d.v8Tables)
	return d
}

func (d *traceReader) warn(format string, args ...any) {
	d.warnings = append(d.warnings, fmt.Sprintf(format, args...))
}

// found reports whether anything useful was read.
func (d *traceReader) found() bool { return d.count > 0 || len(d.hermes.samples) > 0 }

// member reads the value of a key of the object around the events.
func (d *traceReader) member() {
	if d.Null() {
		return
	}
	switch string(d.Name) {
	case "traceEvents":
		d.readEvents()
	case "samples":
		d.hermes.readSamples(d)
	case "stackFrames":
		d.hermes.readFrames(d)
	case "metadata":
		d.carried.readMetadata(&d.JSON)
	default:
		d.Skip()
	}
}

// readEvents reads the list of events. It accepts a comma after the last, and skips values
// that are not objects.
func (d *traceReader) readEvents() {
	for d.Array(); d.Element(); {
		switch d.Peek() {
		case '{':
			d.readEvent()
		case ']':
			continue
		default:
			d.Skip()
		}
	}
}

// readEvent reads an event and stores its useful parts.
func (d *traceReader) readEvent() {
	d.checkCount("traceEvents", d.count, d.lim.Samples)
	d.count++
	d.event = traceEvent{}
	d.carried.event.clear()
	e := &d.event
	for d.Object(); d.Key(); {
		switch string(d.Name) {
		case "name":
			e.name = d.textOf()
		case "ph":
			e.phase = d.textOf()
		case "cat":
			d.category()
		case "ts":
			e.ts, e.timed = d.LooseFloat()
		case "dur":
			e.dur, e.lasts = d.LooseFloat()
		case "tdur":
			e.tdur, _ = d.LooseFloat()
		case "pid":
			e.pid = d.processNumber()
		case "tid":
			e.tid = d.processNumber()
		case "id":
			e.id = d.textOf()
		case "id2":
			if d.Peek() != '{' {
				d.Skip()
				break
			}
			for d.Object(); d.Key(); {
				e.id = d.textOf()
			}
		case "args":
			d.arguments()
		default:
			d.Skip()
		}
	}
	if d.Err == nil {
		d.keep(e)
	}
}

// keep stores an event where it belongs.
func (d *traceReader) keep(e *traceEvent) {
	phase := string(d.strings.Text(e.phase))
	if d.carried.event.given {
		d.carried.keep(e.pid, string(d.strings.Text(e.name)))
	}
	switch name := string(d.strings.Text(e.name)); {
	case phase == "M" && name == "thread_name":
		d.thread(e).name = e.givenName
	case phase == "M" && name == "process_name":
		d.process[e.pid] = e.givenName
	case name == "CpuProfile" || name == "Profile" || name == "ProfileChunk":
		d.keepProfile(e, name)
	case !e.timed || math.Abs(e.ts) > 1<<60:
	case phase == "X":
		dur := e.dur
		if !e.lasts {
			dur = e.tdur
		}
		s := traceSpan{name: e.name, start: e.ts, end: e.ts + max(dur, 0), anchor: e.anchor, place: e.place.kept()}
		t := d.thread(e)
		t.complete = append(t.complete, s)
	case phase == "B" || phase == "E":
		t := d.thread(e)
		t.begins = append(t.begins, traceMark{e.name, e.ts, e.anchor, e.place.kept(), 0, phase == "B"})
	case e.timing && (phase == "b" || phase == "e"):
		t := d.thread(e)
		t.measures = append(t.measures, traceMark{e.name, e.ts, 0, nil, e.id, phase == "b"})
	case e.anchor != 0: // an instant, of which the stack is known
		t := d.thread(e)
		t.complete = append(t.complete, traceSpan{name: e.name, start: e.ts, end: e.ts, anchor: e.anchor})
	}
}

// thread returns the data of the thread of e.
func (d *traceReader) thread(e *traceEvent) *traceThread { return d.threadOf(threadKey{e.pid, e.tid}) }

func (d *traceReader) threadOf(k threadKey) *traceThread {
	if d.last != nil && d.last.threadKey == k {
		return d.last
	}
	t := d.threads[k]
	if t == nil {
		t = &traceThread{threadKey: k}
		d.threads[k] = t
		d.order = append(d.order, t)
	}
	d.last = t
	return t
}

// textOf reads a string or a number as text; anything else is empty.
func (d *traceReader) textOf() trie.StringID {
	switch c := d.Peek(); {
	case c == '"':
		s := d.Str()
		if len(s) > d.lim.StringBytes {
			s = s[:d.lim.StringBytes]
		}
		return d.strings.Intern(s)
	case c == '-' || c-'0' <= 9:
		return d.strings.Intern(d.Number())
	}
	d.Skip()
	return 0
}

// processNumber reads the number of a process or thread. A name gets a number of its own,
// below zero.
func (d *traceReader) processNumber() int64 {
	if n, decimals, end := d.Decimal(); end > 0 && decimals == 0 && n < 1<<53 {
		d.Pos = end
		return int64(n)
	}
	text := d.textOf()
	n, err := strconv.ParseInt(string(d.strings.Text(text)), 10, 64)
	if err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(string(d.strings.Text(text)), 64); err == nil && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	if text == 0 {
		return 0
	}
	if _, ok := d.names[int64(text)]; !ok {
		d.names[int64(text)] = -1 - int64(len(d.names))
	}
	return d.names[int64(text)]
}

// category reads the categories of an event: a text, or a list of texts.
func (d *traceReader) category() {
	const timing = "blink.user_timing"
	switch d.Peek() {
	case '"':
		d.event.timing = containsField(d.Str(), timing)
	case '[':
		for d.Array(); d.Element(); {
			if d.Peek() == '"' {
				d.event.timing = string(d.Str()) == timing || d.event.timing
			} else {
				d.Skip()
			}
		}
	default:
		d.Skip()
	}
}

// containsField reports whether the comma-separated list contains field.
func containsField(list []byte, field string) bool {
	for len(list) > 0 {
		i := slices.Index(list, ',')
		if i < 0 {
			i = len(list)
		}
		if string(list[:i]) == field {
			return true
		}
		list = list[min(i+1, len(list)):]
	}
	return false
}

// arguments reads the useful arguments of an event.
func (d *traceReader) arguments() {
	if d.Peek() != '{' {
		d.Skip()
		return
	}
	e := &d.event
	for d.Object(); d.Key(); {
		switch string(d.Name) {
		case "data", "beginData":
			d.data()
		case "name":
			if d.Peek() != '"' {
				d.Skip()
				break
			}
			e.givenName = string(d.Str())
		default:
			if !e.place.member(d) {
				d.Skip()
			}
		}
	}
}

// data reads the argument data: the number of a moment, or a profile.
func (d *traceReader) data() {
	if d.Peek() != '{' {
		d.Skip()
		return
	}
	e := &d.event
	for d.Object(); d.Key(); {
		switch string(d.Name) {
		case "sampleTraceId":
			f, _ := d.LooseFloat()
			e.anchor = int64(f)
		case "cpuProfile":
			d.readProfile()
		case "timeDeltas":
			d.beginProfile()
			d.cpuProfileReader.member()
		case "startTime":
			e.started, _ = d.LooseFloat()
		case "source":
			e.source = string(d.strings.Text(d.textOf()))
		default:
			if !d.carried.member(&d.JSON) {
				d.Skip()
			}
		}
	}
}
