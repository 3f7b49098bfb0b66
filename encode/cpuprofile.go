package encode

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// DecodeCPUProfile reads a .cpuprofile: the Profiler.Profile of the Chrome DevTools
// Protocol (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile),
// which Chrome, node --cpu-prof and VS Code write, and the older tree of v8-profiler and
// early DevTools:
//
//	{"nodes": [{"id": 1, "callFrame": {"functionName": "f", "url": "a.js", "lineNumber": 0,
//	   "columnNumber": 10}, "children": [2]}], "startTime": 100, "endTime": 900,
//	   "samples": [1, 2], "timeDeltas": [100, 200]}
//	{"head": {"id": 1, "functionName": "f", "lineNumber": 1, "children": [{…}]},
//	   "samples": [1, 2], "timestamps": [100, 300]}
//
// Times are µs since the start of the profile. A sample's time is the sum of all deltas
// up to it, negative ones too, and it speaks for the time to the next sample; the last one
// for the mean interval. What V8 calls (idle) and (root) is no stack, and a garbage
// collection lies on the stack that it interrupted. Hit counts are not looked at: they
// are not time.
//
// What contradicts itself, such as nodes in a circle, is mended where the rest still
// means something, and counted in the warnings.
func DecodeCPUProfile(r io.Reader, lim Limits) (*trie.Recording, error) {
	d := cpuProfileReader{lim: lim.WithDefaults(), profile: newV8Profile(newV8Tables())}
	d.stream(r)
	for d.object(); d.key(); {
		d.member()
	}
	if d.end(); d.err != nil {
		return nil, d.err
	}
	return d.recording()
}

// cpuProfileReader reads the members of a profile, alone or within a trace.
type cpuProfileReader struct {
	jsonReader
	lim     Limits
	profile v8Profile

	wrapped            int                     // objects around the profile
	legacy             bool                    // seconds instead of µs, and lines from 1
	nodes              bool                    // there were some, or at least a place for them
	startTime, endTime float64                 // µs, or s
	callFrames         map[string]trie.FrameID // by their text; see callFrame
	deltas             []float64               // µs
	stamps             []float64               // µs
}

// doubled returns s with room for one more. It grows by doubling, as append does not where
// slices are long, and then copies a table of a million nodes twenty times.
func doubled[E any](s []E) []E {
	if len(s) == cap(s) {
		s = slices.Grow(s, max(len(s), 256))
	}
	return s
}

// maxTreeDepth is how deep the calls of the older form may be nested.
const maxTreeDepth = 100_000

// member reads the value of the key that was read last.
func (d *cpuProfileReader) member() {
	if d.null() {
		return
	}
	switch string(d.name) {
	case "nodes":
		d.nodes = true
		for d.array(); d.element(); {
			d.node()
		}
	case "head":
		d.nodes, d.legacy = true, true
		d.tree(-1, 0)
	case "samples":
		for d.array(); d.element(); {
			d.checkCount("samples", len(d.profile.samples), d.lim.Samples)
			d.profile.samples = append(doubled(d.profile.samples), d.nodeID())
		}
	case "timeDeltas":
		d.deltas = d.times(d.deltas)
	case "timestamps":
		d.stamps = d.times(d.stamps)
	case "startTime":
		d.startTime, _ = d.looseFloat()
	case "endTime":
		d.endTime, _ = d.looseFloat()
	case "profile", "result": // as the protocol returns it: one in the other at most
		if d.wrapped++; d.wrapped > 2 {
			d.skip()
			return
		}
		for d.object(); d.key(); {
			d.member()
		}
	default:
		d.skip()
	}
}

func (d *cpuProfileReader) times(list []float64) []float64 {
	what := string(d.name)
	for d.array(); d.element(); {
		d.checkCount(what, len(list), d.lim.Samples)
		f, ok := d.looseFloat()
		if !ok {
			d.stop(refuse(Invalid, fmt.Sprintf("%s[%d]", what, len(list)), "not a number"))
		}
		list = append(doubled(list), f)
	}
	return list
}

func (d *cpuProfileReader) checkCount(what string, n, most int) {
	if n >= most {
		d.stop(refuse(TooLarge, what, "more than %d", most))
	}
}

// nodeID reads the id of a node, a number or a text of one.
func (d *cpuProfileReader) nodeID() int64 {
	if d.null() {
		return noNode
	}
	return d.integer()
}

// noNode is the id of no node.
const noNode = math.MinInt64

// node reads a node of the flat form.
func (d *cpuProfileReader) node() {
	p := &d.profile
	d.checkCount("nodes", len(p.nodes), d.lim.Nodes)
	row := int32(len(p.nodes))
	p.nodes = append(doubled(p.nodes), v8Node{})
	var n v8Node
	for d.object(); d.key(); {
		switch string(d.name) {
		case "id":
			n.id = d.nodeID()
		case "callFrame":
			if !d.null() {
				n.frame = d.callFrame()
			}
		case "parent":
			if !d.null() {
				n.link, n.parent = parentID, d.nodeID()
			}
		case "children":
			if !d.null() {
				d.children(row)
			}
		default:
			d.skip()
		}
	}
	p.nodes[row] = n
}

// children reads the ids of the children of a node.
func (d *cpuProfileReader) children(row int32) {
	for d.array(); d.element(); {
		d.checkCount("children", len(d.profile.edges), d.lim.Nodes)
		d.profile.edges = append(doubled(d.profile.edges), v8Edge{row, d.nodeID()})
	}
}

// v8Place is what says which function a node is of.
type v8Place struct {
	name, url    trie.StringID
	script       string
	line, column int64
}

// member reads the value of a key if it belongs to the place of a function.
func (f *v8Place) member(d *cpuProfileReader) bool {
	if d.null() {
		return true
	}
	switch string(d.name) {
	case "functionName":
		f.name = d.text()
	case "url":
		f.url = d.text()
	case "scriptId":
		f.script = d.scriptID()
	case "lineNumber":
		f.line = d.integer()
	case "columnNumber":
		f.column = d.integer()
	default:
		return false
	}
	return true
}

// callFrame reads the function of a node, whose line and column count from 0.
//
// A file has a hundred times as many nodes as functions, and reading their call frames is
// most of the work. So the text of each is remembered, if it ends at its first brace.
func (d *cpuProfileReader) callFrame() trie.FrameID {
	d.peek()
	text := d.data[d.pos:]
	text = text[:bytes.IndexByte(text, '}')+1]
	if id, ok := d.callFrames[string(text)]; ok && len(text) > 0 {
		d.pos += len(text)
		return id
	}
	key, end := "", d.base+int64(d.pos+len(text))
	if len(text) > 0 && len(text) <= maxCallFrame && len(d.callFrames) < maxCallFrames {
		key = string(text)
	}
	id := d.readCallFrame()
	if key != "" && d.err == nil && d.base+int64(d.pos) == end {
		if d.callFrames == nil {
			d.callFrames = map[string]trie.FrameID{}
		}
		d.callFrames[key] = id
	}
	return id
}

// Call frames are remembered if they have at most so many bytes, and so many of them.
const (
	maxCallFrame  = 1 << 10
	maxCallFrames = 1 << 16
)

func (d *cpuProfileReader) readCallFrame() trie.FrameID {
	f := v8Place{line: -1, column: -1}
	for d.object(); d.key(); {
		if !f.member(d) {
			d.skip()
		}
	}
	return d.profile.function(f.name, f.url, f.script, f.line+1, f.column+1)
}

// tree reads a node of the older form with all below it. Lines count from 1 there.
func (d *cpuProfileReader) tree(parent int32, depth int) {
	p := &d.profile
	d.checkCount("nodes", len(p.nodes), d.lim.Nodes)
	d.checkCount("depth of nodes", depth, maxTreeDepth)
	row := int32(len(p.nodes))
	n := v8Node{}
	if parent >= 0 {
		n.link, n.parent = parentRow, int64(parent)
	}
	p.nodes = append(p.nodes, n)
	var f v8Place
	for d.object(); d.key(); {
		switch string(d.name) {
		case "id":
			n.id = d.nodeID()
		case "children":
			if d.null() {
				break
			}
			for d.array(); d.element(); {
				d.tree(row, depth+1)
			}
		default:
			if !f.member(d) {
				d.skip()
			}
		}
	}
	n.frame = p.function(f.name, f.url, f.script, f.line, f.column)
	p.nodes[row] = n
}

// text reads a string.
func (d *cpuProfileReader) text() trie.StringID {
	s := d.str()
	if len(s) > d.lim.StringBytes {
		d.stop(refuse(TooLarge, string(d.name), "%d bytes, the most is %d", len(s), d.lim.StringBytes))
		return 0
	}
	return d.profile.strings.intern(s)
}

// scriptID reads the number of a script, which is a text in profiles and a number in
// traces.
func (d *cpuProfileReader) scriptID() string {
	id := d.number
	if d.peek() == '"' {
		id = d.str
	}
	if s := id(); len(s) <= 20 {
		return string(s)
	}
	return ""
}

// recording returns the profile as the only stream of the only thread.
func (d *cpuProfileReader) recording() (*trie.Recording, error) {
	if !d.nodes {
		return nil, refuse(Malformed, "nodes", "missing")
	}
	warnings, err := d.setTimes()
	if err != nil {
		return nil, err
	}
	t, err := d.profile.trace(0)
	if err != nil {
		return nil, err
	}
	return &trie.Recording{
		Threads:  []trie.Thread{{Streams: []trie.Stream{{Trace: t}}}},
		Warnings: append(warnings, d.profile.warnings("")...),
	}, nil
}

// setTimes gives each sample its time, in µs since the start.
func (d *cpuProfileReader) setTimes() (warnings []string, err error) {
	p := &d.profile
	switch n := len(p.samples); {
	case len(d.stamps) > 0:
		for _, s := range d.stamps {
			p.times = append(p.times, s-d.stamps[0])
		}
	case len(d.deltas) > 0:
		p.times = sums(p.times, d.deltas, 0)
	case n > 0:
		span := d.endTime - d.startTime
		if d.legacy {
			span *= 1e6
		}
		if !(span > 0) {
			return nil, refuse(Invalid, "timeDeltas", "missing, and so are startTime and endTime: nobody can say how long anything took")
		}
		for i := range n {
			p.times = append(p.times, span*float64(i)/float64(n))
		}
		warnings = append(warnings, fmt.Sprintf("%d samples have no times; they were spread evenly over the profile", n))
	}
	if more := len(p.samples) - len(p.times); more > 0 {
		p.samples = p.samples[:len(p.times)]
		warnings = append(warnings, fmt.Sprintf("%d samples have no time and were dropped", more))
	}
	return warnings, nil
}

// sums appends start and the sums of deltas up to each.
func sums(times, deltas []float64, start float64) []float64 {
	for _, d := range deltas {
		start += d
		times = append(times, start)
	}
	return times
}

// isCPUProfile reports whether head begins like what [DecodeCPUProfile] reads.
func isCPUProfile(head []byte) bool {
	var r jsonReader
	r.reset(head)
	for r.object(); r.key(); {
		switch string(r.name) {
		case "nodes", "head":
			return isCPUNode(&r)
		case "timeDeltas", "timestamps":
			return r.peek() == '['
		case "samples":
			if r.peek() != '[' {
				return false
			}
			if r.array(); !r.element() {
				continue
			}
			c := r.peek()
			return c-'0' <= 9 || c == '-'
		case "profile", "result":
			if r.peek() != '{' {
				return false
			}
			r.object() // its members are looked at like those around it
		default:
			r.skip()
		}
	}
	return false
}

// isCPUNode reports whether what comes next is a node, or a list of nodes, of a CPU
// profile. A heap profile is a tree of the same shape, but with call frames.
func isCPUNode(r *jsonReader) bool {
	tree := r.peek() == '{'
	if !tree {
		if r.array(); !r.element() {
			return r.err == nil
		}
	}
	for r.object(); r.key(); r.skip() {
		switch string(r.name) {
		case "callFrame":
			return !tree
		case "functionName", "hitCount", "callUID":
			return true
		case "selfSize":
			return false
		}
	}
	return false
}
