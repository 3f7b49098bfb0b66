package v8

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// profileKey identifies a profile: ids are unique only within a process.
type profileKey struct {
	pid int64
	id  trie.StringID
}

// traceProfile is one V8 profile of a trace.
type traceProfile struct {
	profileKey
	v8Profile
	tid     int64 // of the head: chunks come from another thread
	source  string
	start   float64 // µs
	headed  bool
	chunks  []traceChunk
	deltas  []float64       // µs, of each sample
	anchors map[int64]int64 // ids of nodes by the number of a moment
}

// traceChunk is a piece of a profile: a range of samples.
type traceChunk struct {
	time     float64 // µs
	from, to int
}

// beginProfile prepares for the piece of a profile in the arguments of the event.
func (d *traceReader) beginProfile() {
	if d.event.profiled {
		return
	}
	d.event.profiled = true
	p := &d.profile
	p.nodes, p.edges, p.samples = p.nodes[:0], p.edges[:0], p.samples[:0]
	d.deltas, d.startTime = d.deltas[:0], 0
}

// readProfile reads the argument cpuProfile.
func (d *traceReader) readProfile() {
	d.beginProfile()
	if d.Peek() != '{' {
		d.Skip()
		return
	}
	for d.Object(); d.Key(); {
		if string(d.Name) != "trace_ids" || d.Peek() != '{' {
			d.cpuProfileReader.member()
			continue
		}
		for d.Object(); d.Key(); {
			moment, err := strconv.ParseInt(string(d.Name), 10, 64)
			node := d.Integer()
			if err != nil {
				continue
			}
			if d.event.anchors == nil {
				d.event.anchors = map[int64]int64{}
			}
			d.event.anchors[moment] = node
		}
	}
}

// keepProfile adds the data of an event to its profile.
func (d *traceReader) keepProfile(e *traceEvent, name string) {
	key := profileKey{e.pid, e.id}
	if name == "CpuProfile" { // a whole one, without an id
		if !e.profiled {
			return
		}
		key.id = d.strings.Intern([]byte("CpuProfile " + strconv.Itoa(len(d.byOrder))))
	}
	p := d.profiles[key]
	if p == nil || name == "Profile" && p.headed { // an id that is used again
		p = &traceProfile{profileKey: key, tid: e.tid, v8Profile: newV8Profile(d.v8Tables), anchors: map[int64]int64{}}
		d.profiles[key] = p
		d.byOrder = append(d.byOrder, p)
	}
	switch name {
	case "Profile":
		p.headed, p.tid, p.start, p.source = true, e.tid, e.ts, e.source
		if !e.timed {
			p.start = e.started
		}
	case "CpuProfile":
		p.headed, p.start, p.source = true, d.startTime, e.source
		if p.start == 0 {
			p.start = e.ts
		}
	}
	if e.profiled {
		p.add(&d.profile, d.deltas, e)
	}
}

func (p *traceProfile) add(piece *v8Profile, deltas []float64, e *traceEvent) {
	rows := int32(len(p.nodes))
	p.nodes = append(p.nodes, piece.nodes...)
	for _, edge := range piece.edges {
		edge.row += rows
		p.edges = append(p.edges, edge)
	}
	for i := range p.nodes[rows:] {
		if n := &p.nodes[int(rows)+i]; n.link == parentRow {
			n.parent += int64(rows)
		}
	}
	usable := min(len(piece.samples), len(deltas))
	p.untimed += len(piece.samples) - usable
	if usable > 0 {
		p.chunks = append(p.chunks, traceChunk{e.ts, len(p.samples), len(p.samples) + usable})
		p.samples = append(p.samples, piece.samples[:usable]...)
		p.deltas = append(p.deltas, deltas[:usable]...)
	}
	for moment, node := range e.anchors {
		p.anchors[moment] = node
	}
}

// setTimes gives each sample its time. Chunks are not always in the order of their time.
func (p *traceProfile) setTimes() {
	if !slices.IsSortedFunc(p.chunks, compareChunks) {
		slices.SortStableFunc(p.chunks, compareChunks)
		samples, deltas := make([]int64, 0, len(p.samples)), make([]float64, 0, len(p.deltas))
		for _, c := range p.chunks {
			samples = append(samples, p.samples[c.from:c.to]...)
			deltas = append(deltas, p.deltas[c.from:c.to]...)
		}
		p.samples, p.deltas = samples, deltas
	}
	if !p.headed && len(p.chunks) > 0 {
		// A chunk is written with its last sample.
		p.start = p.chunks[0].time
		for _, d := range p.deltas[:p.chunks[0].to-p.chunks[0].from] {
			p.start -= d
		}
	}
	p.times = sums(p.times, p.deltas, p.start)
}

// anchored returns the anchors as nodes of the trace, once a trace exists.
func (p *traceProfile) anchored() map[int64]trie.NodeID {
	out := make(map[int64]trie.NodeID, len(p.anchors))
	for moment, id := range p.anchors {
		if row, ok := p.row(id); ok {
			out[moment] = p.placed.nodes[row]
		}
	}
	return out
}

func compareChunks(a, b traceChunk) int { return cmp.Compare(a.time, b.time) }

// hermesSamples are the samples and stackFrames next to the events of a trace.
type hermesSamples struct {
	nodes   []v8Node
	samples []hermesSample
}

type hermesSample struct {
	key  threadKey
	time float64 // µs
	node int64
}

// readSamples reads the list of samples:
//
//	{"cpu": "-1", "name": "", "ts": "1062105", "pid": 7, "tid": "9", "weight": "1", "sf": 4}
func (h *hermesSamples) readSamples(d *traceReader) {
	for d.Array(); d.Element(); {
		d.checkCount("samples", len(h.samples), d.lim.Samples)
		var s hermesSample
		for d.Object(); d.Key(); {
			switch string(d.Name) {
			case "ts":
				s.time, _ = d.LooseFloat()
			case "pid":
				s.key.pid = d.processNumber()
			case "tid":
				s.key.tid = d.processNumber()
			case "sf":
				s.node = int64(d.textOf())
			default:
				d.Skip()
			}
		}
		h.samples = append(h.samples, s)
	}
}

// readFrames reads the nodes, an object keyed by id:
//
//	{"4": {"name": "render(http://localhost/index.bundle:12:3)", "category": "JavaScript",
//	  "line": "12", "column": "3", "parent": 2}}
func (h *hermesSamples) readFrames(d *traceReader) {
	for d.Object(); d.Key(); {
		d.checkCount("stackFrames", len(h.nodes), d.lim.Nodes)
		n := v8Node{id: int64(d.strings.Intern(d.Name))}
		var f hermesPlace
		for d.Object(); d.Key(); {
			switch {
			case string(d.Name) == "parent":
				if id := d.textOf(); id != 0 {
					n.link, n.parent = parentID, int64(id)
				}
			case string(d.Name) == "name":
				f.name = d.textOf()
			case !f.member(d):
				d.Skip()
			}
		}
		n.frame = d.frame(f.row(&d.strings))
		h.nodes = append(h.nodes, n)
	}
}

// profiles returns a profile for each sampled thread.
func (h *hermesSamples) profiles(tables *v8Tables) []*traceProfile {
	graph := &v8Graph{v8Tables: tables, nodes: h.nodes}
	byThread := map[threadKey]*traceProfile{}
	var out []*traceProfile
	for _, s := range h.samples {
		p := byThread[s.key]
		if p == nil {
			p = &traceProfile{
				profileKey: profileKey{pid: s.key.pid}, tid: s.key.tid, headed: true,
				v8Profile: v8Profile{v8Graph: graph},
			}
			byThread[s.key] = p
			out = append(out, p)
		}
		p.samples = append(p.samples, s.node)
		p.times = append(p.times, s.time)
	}
	return out
}

// hermesPlace is the place of a function in a recording of Hermes or React Native.
type hermesPlace struct {
	name, url            trie.StringID
	line, column         float64
	funcLine, funcColumn float64
	recorded             bool // the event is a call that Hermes recorded
}

// member reads the value of a key if it belongs to the place.
func (f *hermesPlace) member(d *traceReader) bool {
	switch string(d.Name) {
	case "url":
		f.url = d.textOf()
	case "line":
		f.line, _ = d.LooseFloat()
	case "column":
		f.column, _ = d.LooseFloat()
	case "funcLine":
		f.funcLine, _ = d.LooseFloat()
	case "funcColumn":
		f.funcColumn, _ = d.LooseFloat()
	case "allocatedCategory", "allocatedName":
		f.recorded = true
		d.Skip()
	default:
		return false
	}
	return true
}

// kept returns f if it is a call, or nil.
func (f hermesPlace) kept() *hermesPlace {
	if !f.recorded {
		return nil
	}
	return &f
}

// row returns the function. Its name may include the place, as in "f(url:line:column)".
func (f *hermesPlace) row(s *input.Strings) trie.FrameRow {
	r := trie.FrameRow{Name: f.name, Resource: f.url, Line: input.ClampLine(int64(f.line)),
		Column: input.ClampLine(int64(f.column))}
	if f.funcLine > 0 {
		r.Line, r.Column = input.ClampLine(int64(f.funcLine)), input.ClampLine(int64(f.funcColumn))
	}
	name := string(s.Text(f.name))
	if i := strings.IndexByte(name, '('); i > 0 && strings.HasSuffix(name, ")") {
		if at := input.ParsePlace(name[i+1 : len(name)-1]); at.Line > 0 {
			r.Name, r.Resource = s.Intern([]byte(name[:i])), s.Intern([]byte(at.Resource))
			if f.funcLine <= 0 {
				r.Line, r.Column = at.Line, at.Column
			}
		}
	}
	if name := string(s.Text(r.Name)); name == output.Anonymous || name == "anonymous" {
		r.Name = 0
	}
	return r
}
