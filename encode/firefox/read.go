// Package firefox reads and writes profiles of the Firefox Profiler.
package firefox

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Decode reads the processed format, which the Firefox Profiler saves and shares, and the Gecko
// format, which Firefox itself writes, both in JSON. The processed format changes often, so Decode
// relies on structure, not on the version: tables may be part of each thread or shared by all, and
// empty cells are null, -1 or have no flag. Time 0 is the start of the recording, or the start of
// the main process if the file does not contain the former.
//
// Each thread with samples becomes a thread with one stream. A function is its name and the place
// of its definition; native code keeps its names in the file. A sample in the category Idle is idle
// and has no stack. Time in which the profiler was paused has no stack. In a thread with weights in
// milliseconds, a trace and no samples, each sample lasts for its weight. Threads with weights in
// bytes are not profiles of time and are skipped; a file with no others is rejected. A comparison
// of profiles, with negative weights, is also rejected.
func Decode(data []byte, lim input.Limits) (*trie.Recording, error) {
	if bytes.HasPrefix(data, []byte(jsonSlabs)) {
		return nil, input.Refuse(input.Malformed, "",
			"a binary file of the Firefox Profiler (JsonSlabs); save it as JSON")
	}
	d := geckoReader{lim: lim.WithDefaults(), out: &trie.Recording{}}
	d.Reset(data)
	d.readProcess(0)
	d.End()
	if d.Err == nil && len(d.out.Threads) == 0 && d.bytes > 0 {
		d.Stop(input.Refuse(input.Invalid, "threads", "only of bytes: allocation profiles hold no time"))
	}
	if d.Err != nil {
		return nil, d.Err
	}
	return d.out, nil
}

// jsonSlabs begins the binary form of the processed format.
const jsonSlabs = "\xdc\xdfJSLB"

// maxProcessDepth bounds how deep processes may be nested in the Gecko format. Firefox
// nests them once.
const maxProcessDepth = 4

// geckoReader decodes the formats of the Firefox Profiler.
type geckoReader struct {
	input.JSON
	lim     input.Limits
	out     *trie.Recording
	origin  float64 // time 0 of the recording, in ms of the Unix epoch
	bytes   int     // number of threads skipped because their weights are bytes
	samples int     // of all threads
	nodes   int     // of all threads
	shared  *geckoStacks
	path    []int32 // scratch space of nodeOf
}

// geckoProcess is the data of a process that its threads need.
type geckoProcess struct {
	tables   geckoTables // shared by all threads
	idle     int         // the number of the category Idle; -1 if there is none
	start    float64     // ms of the Unix epoch to which times are relative
	began    float64     // ms after start at which the recording began
	interval float64     // ms between samples
	paused   []float64   // ms after start at which the profiler paused
}

// readProcess reads a profile, including those of other processes in it. The threads are
// read last, as they need data that may follow them.
func (d *geckoReader) readProcess(depth int) {
	p := geckoProcess{idle: -1, interval: 1}
	threads, processes := -1, -1 // where they begin
	meta := false
	for d.Object(); d.Key(); {
		switch string(d.Name) {
		case "meta":
			meta = true
			d.readMeta(&p)
		case "shared":
			d.readTables(&p.tables)
		case "pausedRanges":
			d.readPauses(&p)
		case "threads":
			d.Peek()
			threads = d.Pos
			d.Skip()
		case "processes":
			d.Peek()
			processes = d.Pos
			d.Skip()
		default:
			d.Skip()
		}
	}
	if d.Err != nil {
		return
	}
	if !meta || threads < 0 {
		d.Stop(input.Refuse(input.Malformed, "", "no meta or no threads"))
		return
	}
	if depth == 0 {
		d.origin = p.start + p.began
	}
	end := d.Pos
	d.shared = nil
	d.Pos = threads
	for d.Array(); d.Element(); {
		d.readThread(&p)
	}
	if d.Err == nil && processes >= 0 {
		d.Pos = processes
		for d.Array(); d.Element(); {
			if depth+1 == maxProcessDepth {
				d.Stop(input.Refuse(input.TooLarge, "processes", "nested deeper than %d", maxProcessDepth))
				return
			}
			d.readProcess(depth + 1)
		}
	}
	if d.Err == nil {
		d.Pos, d.First = end, false
	}
}

func (d *geckoReader) readMeta(p *geckoProcess) {
	for d.Object(); d.Key(); {
		switch name := string(d.Name); {
		case name == "startTime":
			p.start = d.cell(0)
		case name == "profilingStartTime":
			p.began = d.cell(0)
		case name == "interval":
			p.interval = max(d.cell(1), 0)
		case name == "categories" && d.Peek() == '[':
			p.idle = d.idleCategory()
		case name == "sampleUnits" && d.Peek() == '{':
			for d.Object(); d.Key(); {
				if string(d.Name) != "time" || d.Peek() != '"' {
					d.Skip()
				} else if string(d.Str()) == "bytes" {
					d.Stop(input.Refuse(input.Invalid, "meta.sampleUnits.time",
						"bytes: a profile of sizes holds no time"))
				}
			}
		default:
			d.Skip()
		}
	}
}

// idleCategory reads the categories and returns the number of Idle, or -1.
func (d *geckoReader) idleCategory() int {
	idle := -1
	d.Array()
	for i := 0; d.Element(); i++ {
		for d.Object(); d.Key(); {
			if string(d.Name) != "name" || d.Peek() != '"' {
				d.Skip()
			} else if string(d.Str()) == "Idle" {
				idle = i
			}
		}
	}
	return idle
}

func (d *geckoReader) readPauses(p *geckoProcess) {
	if d.Peek() != '[' {
		d.Skip()
		return
	}
	for d.Array(); d.Element(); {
		for d.Object(); d.Key(); {
			if string(d.Name) != "startTime" {
				d.Skip()
			} else if ms := d.cell(math.NaN()); !math.IsNaN(ms) {
				p.paused = append(p.paused, ms)
			}
		}
		if err := input.Check("pausedRanges", len(p.paused), d.lim.Samples); err != nil {
			d.Stop(err)
		}
	}
}

// cell reads a value of a table. If it is neither a number nor a boolean, cell returns
// none.
func (d *geckoReader) cell(none float64) float64 {
	switch c := d.Peek(); {
	case c == '-' || c-'0' <= 9:
		return d.Float()
	case c == 't':
		none = 1
	case c == 'f':
		none = 0
	}
	d.Skip()
	return none
}

func (d *geckoReader) readThread(p *geckoProcess) {
	if err := input.Check("threads", len(d.out.Threads)+1, d.lim.Resources); err != nil {
		d.Stop(err)
		return
	}
	t := trie.Thread{}
	var own geckoTables
	var samples geckoTable
	pauses := *p
	pauses.paused = slices.Clip(p.paused)
	for d.Object(); d.Key(); {
		switch string(d.Name) {
		case "name":
			t.Name = d.Text("threads.name", d.lim.StringBytes)
		case "processName":
			if d.Peek() != '"' { // null until it was named
				d.Skip()
				break
			}
			t.ProcessName = d.Text("threads.processName", d.lim.StringBytes)
		case "pid":
			t.Process = d.id()
		case "tid":
			t.ID = d.id()
		case "samples":
			samples = d.table("samples", d.lim.Samples, "stack", "time", "timeDeltas", "weight")
		case "pausedRanges":
			d.readPauses(&pauses)
		default:
			d.readTableOf(&own)
		}
	}
	if d.Err != nil || len(samples.columns["stack"]) == 0 {
		return
	}
	if samples.weightType == "bytes" {
		d.bytes++
		d.warn(&t, "weighs skipped an allocation profile in bytes")
		return
	}
	stacks, err := d.stacks(p, &own)
	if err != nil {
		d.Stop(err)
		return
	}
	trace, err := d.trace(&pauses, &t, stacks, samples)
	if err != nil {
		d.Stop(err)
		return
	}
	t.Streams = []trie.Stream{{Trace: trace}}
	d.out.Threads = append(d.out.Threads, t)
}

// warn adds a warning about t.
func (d *geckoReader) warn(t *trie.Thread, format string, args ...any) {
	d.out.Warnings = append(d.out.Warnings,
		fmt.Sprintf("thread %d of process %d (%q): ", t.ID, t.Process, t.Name)+fmt.Sprintf(format, args...))
}

// id reads the number of a process or a thread. It may be a text that begins with it.
func (d *geckoReader) id() int64 {
	if d.Peek() != '"' {
		return int64(min(max(d.cell(0), 0), 1<<53))
	}
	digits, _, _ := strings.Cut(string(d.Str()), ".")
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}

// Detect reports whether head, the beginning of a document or all of it, is in a format
// of the Firefox Profiler.
func Detect(head []byte) bool {
	if bytes.HasPrefix(head, []byte(jsonSlabs)) {
		return true
	}
	var r input.JSON
	r.Reset(head)
	for r.Object(); r.Key(); {
		found := false
		switch string(r.Name) {
		case "meta":
			found = r.HasMember("preprocessedProfileVersion", "stackwalk", "gcpoison", "processType")
		case "libs":
			found = r.FirstHasMember("breakpadId", "breakpadID")
		case "shared":
			found = r.HasMember("stringArray", "stackTable", "frameTable", "funcTable")
		case "threads":
			found = r.FirstHasMember("stackTable", "frameTable", "stringArray", "stringTable", "processType")
		default:
			r.Skip()
		}
		if found {
			return true
		}
	}
	return false
}
