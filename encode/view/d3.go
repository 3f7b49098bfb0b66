package view

import (
	"bufio"
	"io"
	"strconv"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// EncodeD3 writes p as nested JSON for d3-flame-graph, in the shape of
// cpuprofile-to-flamegraph: each node has name, value, executionTime and children. value
// is the self time and executionTime the time with all children, both whole
// microseconds, so the chart must be told selfValue(true). If known, a node also has
// resource, line and column, counted from 1, and the npm package of its script as
// package and as nodeModule, the name in cpuprofile-to-flamegraph. Groups are summed.
// Siblings are ordered as in [trie.Trie.Preorder].
//
// With o.Base the nodes are those of both profiles, and each has delta, its self time
// less that in the base. With computeDelta(true) and the differential colours, the chart
// colours by it. Self times below zero are written as 0: a chart cannot draw them.
func EncodeD3(w io.Writer, p *trie.Profile, o output.Options) error {
	t := output.Weigh(p, o)
	self, total := t.Drawable()
	d := newD3Writer(w, t.Trie)
	d.begin(output.Quote(o.RootName()))
	d.times(0, total[trie.Root])
	if t.BaseSelf != nil {
		d.number("delta", 0)
	}
	for n, depth := range t.Preorder() {
		if total[n] == 0 && (t.BaseSelf == nil || t.BaseTotal[n].Self == 0) {
			continue // as is all below it
		}
		d.closeTo(depth)
		d.begin(d.frames[t.Nodes[n].Frame])
		d.times(self[n], total[n])
		if t.BaseSelf != nil {
			d.number("delta", t.Delta(n))
		}
	}
	return d.end()
}

// EncodeD3Timed writes the calls of threads in time order in the JSON of [EncodeD3]: one
// node for each call, without merging calls of one function. Children are in time order,
// and each node has start, in µs since the first call of all threads. If there are
// several threads, each is a child of the root.
//
// A chart of d3-flame-graph has no gaps, so the time between calls becomes a node
// (idle), as in the output of cpuprofile-to-flamegraph. Within a call there are no such
// nodes: the chart moves the callees to its left end, and only start gives their time.
func EncodeD3Timed(w io.Writer, lines []*trie.Timeline, o output.Options) error {
	lines = output.NotEmpty(lines)
	d := newD3Writer(w, trie.New())
	first := output.FirstStart(lines)
	if len(lines) != 1 {
		d.begin(output.Quote(o.RootName()))
		var all int64
		for _, t := range lines {
			all += output.Span(t)
		}
		d.times(0, all)
		d.number("start", 0)
	}
	for _, t := range lines {
		d.closeTo(min(len(lines)-1, 1))
		d.line(t, first, len(lines) > 1, o)
	}
	return d.end()
}

// line writes one thread, either below the root or as the root.
func (d *d3Writer) line(t *trie.Timeline, first int64, below bool, o output.Options) {
	name := o.RootName()
	if below || o.Title == "" {
		name = output.ThreadName(t)
	}
	d.frames = d3Frames(&t.Trie)
	d.begin(output.Quote(name))
	d.times(0, output.Span(t))
	d.number("start", t.Calls[0].Start-first)
	top := d.depth
	self := output.CallSelf(t)
	var ends []int64 // of the calls that are open
	at := t.Calls[0].Start
	for i, c := range t.Calls {
		for len(ends) > 0 && ends[len(ends)-1] <= c.Start {
			at = max(at, ends[len(ends)-1])
			ends = ends[:len(ends)-1]
		}
		d.closeTo(top + len(ends))
		if len(ends) == 0 && c.Start > at {
			d.begin(output.Quote(trie.FrameIdle))
			d.times(c.Start-at, c.Start-at)
			d.number("start", at-first)
			d.closeTo(top)
		}
		d.begin(d.frames[t.Nodes[c.Node].Frame])
		d.times(self[i], c.End-c.Start)
		d.number("start", c.Start-first)
		ends = append(ends, c.End)
	}
}

// d3Writer writes nested nodes without recursion: stacks may be deeper than a program
// can recurse.
type d3Writer struct {
	w      *bufio.Writer
	frames []string // by FrameID: name and place of the function, as members of an object
	depth  int      // nodes that are open
	child  bool     // the node opened last has a child
}

func newD3Writer(w io.Writer, t *trie.Trie) *d3Writer {
	return &d3Writer{w: bufio.NewWriterSize(w, 1<<16), frames: d3Frames(t)}
}

// d3Frames returns the members of a node that identify its function.
func d3Frames(t *trie.Trie) []string {
	out := make([]string, len(t.Frames))
	for i := range out {
		f := t.FrameOf(trie.FrameID(i))
		s := output.Quote(output.Shown(f))
		if pkg := scripturl.Package(f.Resource); pkg != "" {
			s += `,"package":` + output.Quote(pkg) + `,"nodeModule":` + output.Quote(pkg)
		}
		if f.Resource != "" {
			s += `,"resource":` + output.Quote(f.Resource)
		}
		if f.Line != 0 {
			s += `,"line":` + strconv.FormatUint(uint64(f.Line), 10)
		}
		if f.Column != 0 {
			s += `,"column":` + strconv.FormatUint(uint64(f.Column), 10)
		}
		out[i] = s
	}
	return out
}

// begin opens a node below the open one. name is its name as JSON, and may continue with
// further members.
func (d *d3Writer) begin(name string) {
	if d.child {
		d.w.WriteString(",\n")
	} else if d.depth > 0 {
		d.w.WriteString(`,"children":[` + "\n")
	}
	d.w.WriteString(`{"name":`)
	d.w.WriteString(name)
	d.depth++
	d.child = false
}

// times writes the times of the last opened node, in µs.
func (d *d3Writer) times(self, total int64) {
	d.number("value", self)
	d.number("executionTime", total)
}

func (d *d3Writer) number(key string, v int64) {
	b := append(d.w.AvailableBuffer(), `,"`...)
	b = append(append(b, key...), `":`...)
	d.w.Write(strconv.AppendInt(b, v, 10))
}

// closeTo closes nodes until depth remain open.
func (d *d3Writer) closeTo(depth int) {
	for ; d.depth > depth; d.depth-- {
		if d.child {
			d.w.WriteString("]}")
		} else { // readers of cpuprofile-to-flamegraph expect the list
			d.w.WriteString(`,"children":[]}`)
		}
		d.child = true
	}
}

func (d *d3Writer) end() error {
	d.closeTo(0)
	d.w.WriteByte('\n')
	return d.w.Flush()
}
