package v8

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
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
// Times are µs since the start of the profile. A sample's time is the sum of all deltas up
// to it, including negative ones. A sample covers the time to the next one, the last one
// the mean interval. V8's (idle) and (root) become no stack, and a garbage collection is
// put on top of the interrupted stack. Hit counts are ignored: they are not time.
//
// Contradictions, such as nodes in a cycle, are repaired if the rest is still meaningful,
// and counted in the warnings.
func DecodeCPUProfile(r io.Reader, lim input.Limits) (*trie.Recording, error) {
	d := cpuProfileReader{lim: lim.WithDefaults(), profile: newV8Profile(newV8Tables())}
	d.Stream(r)
	for d.Object(); d.Key(); {
		d.member()
	}
	if d.End(); d.Err != nil {
		return nil, d.Err
	}
	return d.recording()
}

// cpuProfileReader reads the members of a profile, on its own or in a trace.
type cpuProfileReader struct {
	input.JSON
	lim     input.Limits
	profile v8Profile

	wrapped            int                     // objects around the profile
	legacy             bool                    // seconds instead of µs, and lines from 1
	nodes              bool                    // there were some, or at least a place for them
	startTime, endTime float64                 // µs, or s
	callFrames         map[string]trie.FrameID // by their text; see callFrame
	deltas             []float64               // µs
	stamps             []float64               // µs
}

// doubled returns s with room for one more. It grows by doubling, unlike append, which
// grows long slices less and would copy a table of a million nodes twenty times.
func doubled[E any](s []E) []E {
	if len(s) == cap(s) {
		s = slices.Grow(s, max(len(s), 256))
	}
	return s
}

// maxTreeDepth bounds the depth of calls in the older form.
const maxTreeDepth = 100_000

// member reads the value of the last key.
func (d *cpuProfileReader) member() {
	if d.Null() {
		return
	}
	switch string(d.Name) {
	case "nodes":
		d.nodes = true
		for d.Array(); d.Element(); {
			d.node()
		}
	case "head":
		d.nodes, d.legacy = true, true
		d.tree(-1, 0)
	case "samples":
		for d.Array(); d.Element(); {
			d.checkCount("samples", len(d.profile.samples), d.lim.Samples)
			d.profile.samples = append(doubled(d.profile.samples), d.nodeID())
		}
	case "timeDeltas":
		d.deltas = d.times(d.deltas)
	case "timestamps":
		d.stamps = d.times(d.stamps)
	case "startTime":
		d.startTime, _ = d.LooseFloat()
	case "endTime":
		d.endTime, _ = d.LooseFloat()
	case "profile", "result": // as the protocol returns it: one in the other at most
		if d.wrapped++; d.wrapped > 2 {
			d.Skip()
			return
		}
		for d.Object(); d.Key(); {
			d.member()
		}
	default:
		d.Skip()
	}
}

func (d *cpuProfileReader) times(list []float64) []float64 {
	what := string(d.Name)
	for d.Array(); d.Element(); {
		d.checkCount(what, len(list), d.lim.Samples)
		f, ok := d.LooseFloat()
		if !ok {
			d.Stop(input.Refuse(input.Invalid, fmt.Sprintf("%s[%d]", what, len(list)), "not a number"))
		}
		list = append(doubled(list), f)
	}
	return list
}

func (d *cpuProfileReader) checkCount(what string, n, most int) {
	if n >= most {
		d.Stop(input.Refuse(input.TooLarge, what, "more than %d", most))
	}
}

// nodeID reads the id of a node, a number or a text of one.
func (d *cpuProfileReader) nodeID() int64 {
	if d.Null() {
		return noNode
	}
	return d.Integer()
}

// noNode is the id of a missing node.
const noNode = math.MinInt64

// node reads a node of the flat form.
func (d *cpuProfileReader) node() {
	p := &d.profile
	d.checkCount("nodes", len(p.nodes), d.lim.Nodes)
	row := int32(len(p.nodes))
	p.nodes = append(doubled(p.nodes), v8Node{})
	var n v8Node
	for d.Object(); d.Key(); {
		switch string(d.Name) {
		case "id":
			n.id = d.nodeID()
		case "callFrame":
			if !d.Null() {
				n.frame = d.callFrame()
			}
		case "parent":
			if !d.Null() {
				n.link, n.parent = parentID, d.nodeID()
			}
		case "children":
			if !d.Null() {
				d.children(row)
			}
		default:
			d.Skip()
		}
	}
	p.nodes[row] = n
}

// children reads the ids of the children of a node.
func (d *cpuProfileReader) children(row int32) {
	for d.Array(); d.Element(); {
		d.checkCount("children", len(d.profile.edges), d.lim.Nodes)
		d.profile.edges = append(doubled(d.profile.edges), v8Edge{row, d.nodeID()})
	}
}

// v8Place identifies the function of a node.
type v8Place struct {
	name, url    trie.StringID
	script       string
	line, column int64
}

// member reads the value of a key if it belongs to the place of a function.
func (f *v8Place) member(d *cpuProfileReader) bool {
	if d.Null() {
		return true
	}
	switch string(d.Name) {
	case "functionName":
		f.name = d.text()
	case "url":
		f.url = d.text()
	case "scriptId":
		f.script = d.scriptID()
	case "lineNumber":
		f.line = d.Integer()
	case "columnNumber":
		f.column = d.Integer()
	default:
		return false
	}
	return true
}

// callFrame reads the function of a node, whose line and column count from 0.
//
// A file has a hundred times as many nodes as functions, and reading their call frames is
// most of the work. So call frames are cached by their text, if it ends at its first brace.
func (d *cpuProfileReader) callFrame() trie.FrameID {
	d.Peek()
	text := d.Ahead()
	text = text[:bytes.IndexByte(text, '}')+1]
	if id, ok := d.callFrames[string(text)]; ok && len(text) > 0 {
		d.Pos += len(text)
		return id
	}
	key, end := "", d.Offset()+int64(len(text))
	if len(text) > 0 && len(text) <= maxCallFrame && len(d.callFrames) < maxCallFrames {
		key = string(text)
	}
	id := d.readCallFrame()
	if key != "" && d.Err == nil && d.Offset() == end {
		if d.callFrames == nil {
			d.callFrames = map[string]trie.FrameID{}
		}
		d.callFrames[key] = id
	}
	return id
}

// Bounds of the cache of call frames: the bytes of each, and their number.
const (
	maxCallFrame  = 1 << 10
	maxCallFrames = 1 << 16
)

func (d *cpuProfileReader) readCallFrame() trie.FrameID {
	f := v8Place{line: -1, column: -1}
	for d.Object(); d.Key(); {
		if !f.member(d) {
			d.Skip()
		}
	}
	return d.profile.function(f.name, f.url, f.script, f.line+1, f.column+1)
}

// tree reads a node of the older form and its descendants. Lines count from 1 there.
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
	for d.Object(); d.Key(); {
		switch string(d.Name) {
		case "id":
			n.id = d.nodeID()
		case "children":
			if d.Null() {
				break
			}
			for d.Array(); d.Element(); {
				d.tree(row, depth+1)
			}
		default:
			if !f.member(d) {
				d.Skip()
			}
		}
	}
	n.frame = p.function(f.name, f.url, f.script, f.line, f.column)
	p.nodes[row] = n
}

func (d *cpuProfileReader) text() trie.StringID {
	s := d.Str()
	if len(s) > d.lim.StringBytes {
		d.Stop(input.Refuse(input.TooLarge, string(d.Name), "%d bytes, the most is %d", len(s), d.lim.StringBytes))
		return 0
	}
	return d.profile.strings.Intern(s)
}

// scriptID reads the number of a script. It is text in profiles and a number in traces.
func (d *cpuProfileReader) scriptID() string {
	id := d.Number
	if d.Peek() == '"' {
		id = d.Str
	}
	if s := id(); len(s) <= 20 {
		return string(s)
	}
	return ""
}

// recording returns the profile as the only stream of a single thread.
func (d *cpuProfileReader) recording() (*trie.Recording, error) {
	if !d.nodes {
		return nil, input.Refuse(input.Malformed, "nodes", "missing")
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
			return nil, input.Refuse(input.Invalid, "timeDeltas",
				"missing, and so are startTime and endTime, so durations are unknown")
		}
		for i := range n {
			p.times = append(p.times, span*float64(i)/float64(n))
		}
		warnings = append(warnings, fmt.Sprintf("%d samples have no times; they were spread evenly over the profile",
			n))
	}
	if more := len(p.samples) - len(p.times); more > 0 {
		p.samples = p.samples[:len(p.times)]
		warnings = append(warnings, fmt.Sprintf("%d samples have no time and were dropped", more))
	}
	return warnings, nil
}

// sums appends start plus the sum of the deltas up to each.
func sums(times, deltas []float64, start float64) []float64 {
	for _, d := range deltas {
		start += d
		times = append(times, start)
	}
	return times
}

// IsCPUProfile reports whether head begins like input of [DecodeCPUProfile].
func IsCPUProfile(head []byte) bool {
	var r input.JSON
	r.Reset(head)
	for r.Object(); r.Key(); {
		switch string(r.Name) {
		case "nodes", "head":
			return isCPUNode(&r)
		case "timeDeltas", "timestamps":
			return r.Peek() == '['
		case "samples":
			if r.Peek() != '[' {
				return false
			}
			if r.Array(); !r.Element() {
				continue
			}
			c := r.Peek()
			return c-'0' <= 9 || c == '-'
		case "profile", "result":
			if r.Peek() != '{' {
				return false
			}
			r.Object() // its members are looked at like those around it
		default:
			r.Skip()
		}
	}
	return false
}

// isCPUNode reports whether the next value is a node, or a list of nodes, of a CPU profile.
// A heap profile is a tree of the same shape, but with call frames.
func isCPUNode(r *input.JSON) bool {
	tree := r.Peek() == '{'
	if !tree {
		if r.Array(); !r.Element() {
			return r.Err == nil
		}
	}
	for r.Object(); r.Key(); r.Skip() {
		switch string(r.Name) {
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
