package encode

import (
	"fmt"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// v8Profile collects the parts of a CPU profile of V8, in whatever order they come, and
// makes a trace of them. All formats that V8 and the tools around it write come down to
// nodes with a parent, samples that name a node, and the time between samples.
type v8Profile struct {
	*v8Tables
	nodes []v8Node
	edges []v8Edge
	// Rows by id, once all nodes are there.
	dense  []int32 // row plus one, by id
	sparse map[int64]int32

	samples []int64   // ids of nodes
	times   []float64 // µs, of each sample

	placed []trie.NodeID // of each row, once there is a trace

	// What was wrong, for the warnings.
	duplicateIDs, danglingChildren, missingParents, cycles, unknownSamples, untimed int
}

// v8Node is a node as it stands in the file.
type v8Node struct {
	id     int64
	parent int64 // id of the parent, if hasParent is parentID; a row, if it is parentRow
	link   v8Link
	frame  trie.FrameID
}

// v8Link says how a node names its parent.
type v8Link uint8

const (
	noParent v8Link = iota
	parentID
	parentRow
)

// v8Edge says that the node in a row has a child with an id.
type v8Edge struct {
	row   int32
	child int64
}

// v8Tables are the strings and functions of a file, which its profiles share.
type v8Tables struct {
	strings stringTable
	frames  []trie.FrameRow
	frameID map[trie.FrameRow]trie.FrameID
}

func newV8Tables() *v8Tables {
	t := &v8Tables{frameID: map[trie.FrameRow]trie.FrameID{}}
	t.strings.reset()
	t.frame(trie.FrameRow{}) // that of a node which does not say what it is
	return t
}

// function returns the number of a function. Script is the number of its script, which
// tells apart what has no URL; line and column are 1-based, 0 or less if not known.
func (p *v8Tables) function(name, url trie.StringID, script string, line, column int64) trie.FrameID {
	f := trie.FrameRow{Name: name, Resource: url, Line: clampLine(line), Column: clampLine(column)}
	if name != 0 {
		switch string(p.strings.text(name)) {
		case Anonymous:
			f.Name = 0
		case v8Root, v8Idle, v8GC, trie.FrameProgram:
			f = trie.FrameRow{Name: name}
		}
	}
	if f.Resource == 0 && f.Line > 0 && script != "" && script != "0" {
		f.Resource = p.strings.intern([]byte("VM" + script)) // as DevTools names it
	}
	return p.frame(f)
}

// Names of the nodes that V8 adds to those of functions, beside (program).
const (
	v8Root = "(root)"
	v8Idle = "(idle)"
	v8GC   = "(garbage collector)"
)

func (p *v8Tables) frame(f trie.FrameRow) trie.FrameID {
	id, ok := p.frameID[f]
	if !ok {
		id = trie.FrameID(len(p.frames))
		p.frames = append(p.frames, f)
		p.frameID[f] = id
	}
	return id
}

// trace returns what was collected as a trace without gaps whose times count from
// origin. The last sample stands for the mean interval, since the file does not say how
// long it stood.
func (p *v8Profile) trace(origin float64) (*trie.Trace, error) {
	t := &trie.Trace{Gapless: true}
	p.indexRows()
	nodes, kinds := p.place(t)
	for i, id := range p.samples {
		us, ok := wholeMicros(p.times[i] - origin)
		if !ok {
			return nil, refuse(Invalid, fmt.Sprintf("samples[%d]", i), "its time %v µs is out of range", p.times[i])
		}
		s := trie.Sample{Time: us}
		row, known := p.row(id)
		switch {
		case !known:
			p.unknownSamples++ // the time stays: somebody used it
		case kinds[row] == kindIdle:
			s.Marker = trie.MarkerIdle
		case kinds[row] == kindGC:
			s.Marker = trie.MarkerGC
		default:
			s.Node = nodes[row]
		}
		t.Samples = append(t.Samples, s)
	}
	trie.SortSamples(t.Samples)
	collectOnTop(t)
	if n := len(t.Samples); n > 0 {
		first, last := t.Samples[0].Time, t.Samples[n-1].Time
		t.End = last + meanInterval(last-first, n)
	}
	if err := t.Validate(); err != nil {
		return nil, &Error{Invalid, "", err}
	}
	return t, nil
}

// meanInterval returns the mean time between n samples, rounded.
func meanInterval(span int64, n int) int64 {
	if n < 2 {
		return 0
	}
	return int64(math.Round(float64(span) / float64(n-1)))
}

// wholeMicros rounds a time, and tells whether it is in range.
func wholeMicros(us float64) (int64, bool) {
	us = math.Round(us)
	if !(us >= -trie.MaxTime && us <= trie.MaxTime) { // NaN too
		return 0, false
	}
	return int64(us), true
}

// indexRows makes row find nodes by their id. Of nodes with one id the first counts.
func (p *v8Profile) indexRows() {
	most := int64(0)
	for i := range p.nodes {
		if id := p.nodes[i].id; id < 0 {
			most = math.MaxInt64
		} else {
			most = max(most, id)
		}
	}
	if most < int64(4*len(p.nodes)+1024) {
		p.dense = make([]int32, most+1)
	} else {
		p.sparse = make(map[int64]int32, len(p.nodes))
	}
	for i := range p.nodes {
		id := p.nodes[i].id
		if _, ok := p.row(id); ok {
			p.duplicateIDs++
		} else if p.dense != nil {
			p.dense[id] = int32(i + 1)
		} else {
			p.sparse[id] = int32(i)
		}
	}
}

// row returns the row of the node with an id.
func (p *v8Profile) row(id int64) (int, bool) {
	if p.dense != nil {
		if uint64(id) >= uint64(len(p.dense)) || p.dense[id] == 0 {
			return 0, false
		}
		return int(p.dense[id] - 1), true
	}
	i, ok := p.sparse[id]
	return int(i), ok
}

// parents returns the row of each node's parent, -1 for none.
func (p *v8Profile) parents() []int32 {
	parents := make([]int32, len(p.nodes))
	for i := range p.nodes {
		parents[i] = -1
		n := &p.nodes[i]
		switch n.link {
		case parentRow:
			parents[i] = int32(n.parent)
		case parentID:
			if row, ok := p.row(n.parent); ok {
				parents[i] = int32(row)
			} else {
				p.missingParents++
			}
		}
	}
	for _, e := range p.edges {
		row, ok := p.row(e.child)
		switch {
		case !ok:
			p.danglingChildren++
		case p.nodes[row].link == noParent: // else it said itself who its parent is
			parents[row] = e.row
		}
	}
	return parents
}

// v8Kind tells the nodes that V8 adds to those of functions.
type v8Kind uint8

const (
	kindFunction v8Kind = iota
	kindIdle
	kindGC
)

// place makes the trie of t of the nodes. It returns the node and the kind of each row.
// A node that is its own ancestor is cut off there.
func (p *v8Profile) place(t *trie.Trace) ([]trie.NodeID, []v8Kind) {
	out := &trie.Trie{Strings: p.strings.texts(), Frames: p.frames, Nodes: []trie.Node{{}}}
	out.Grow(len(p.nodes))
	parents := p.parents()
	nodes := make([]trie.NodeID, len(p.nodes))
	kinds := make([]v8Kind, len(p.nodes))
	const (
		unseen = iota
		walking
		placed
	)
	state := make([]uint8, len(p.nodes))
	root, idle, gc := p.named(v8Root), p.named(v8Idle), p.named(v8GC)
	var path []int32
	for i := range p.nodes {
		path = path[:0]
		for row := int32(i); row >= 0 && state[row] != placed; row = parents[row] {
			if state[row] == walking {
				p.cycles++
				parents[path[len(path)-1]] = -1
				break
			}
			state[row] = walking
			path = append(path, row)
		}
		for _, row := range slices.Backward(path) {
			state[row] = placed
			frame, parent := p.nodes[row].frame, trie.Root
			if parents[row] >= 0 {
				parent = nodes[parents[row]]
			}
			top := parent == trie.Root
			switch {
			case parents[row] < 0 && frame == root:
			case top && frame == idle:
				kinds[row] = kindIdle
			case top && frame == gc:
				kinds[row] = kindGC
			default:
				nodes[row] = out.Child(parent, frame)
			}
		}
	}
	t.Trie = usedTables(out)
	p.placed = nodes
	return nodes, kinds
}

// usedTables returns t with the frames and strings that its nodes have and no others: a
// file's tables are shared by its profiles.
func usedTables(t *trie.Trie) trie.Trie {
	out := trie.Trie{Strings: []string{""}, Nodes: t.Nodes}
	frames := make([]trie.FrameID, len(t.Frames)) // plus one
	texts := make([]trie.StringID, len(t.Strings))
	text := func(id trie.StringID) trie.StringID {
		if id != 0 && texts[id] == 0 {
			texts[id] = trie.StringID(len(out.Strings))
			out.Strings = append(out.Strings, t.Strings[id])
		}
		return texts[id]
	}
	for i := range out.Nodes[1:] {
		f := &out.Nodes[i+1].Frame
		if frames[*f] == 0 {
			row := t.Frames[*f]
			row.Name, row.Resource = text(row.Name), text(row.Resource)
			out.Frames = append(out.Frames, row)
			frames[*f] = trie.FrameID(len(out.Frames))
		}
		*f = frames[*f] - 1
	}
	return out
}

// named returns the number of the frame that has a name and nothing else, noFrame if
// there is none.
func (p *v8Tables) named(name string) trie.FrameID {
	for i, f := range p.frames {
		if f.Resource == 0 && f.Line == 0 && f.Name != 0 && string(p.strings.text(f.Name)) == name {
			return trie.FrameID(i)
		}
	}
	return noFrame
}

// noFrame is no number of a frame.
const noFrame trie.FrameID = math.MaxUint32

// collectOnTop puts each garbage collection on the stack that it interrupted: that of
// the sample before it.
func collectOnTop(t *trie.Trace) {
	program := trie.Root
	for i, n := range t.Nodes[1:] {
		if n.Parent == trie.Root && t.FrameOf(n.Frame) == (trie.Frame{Name: trie.FrameProgram}) {
			program = trie.NodeID(i + 1)
		}
	}
	last := trie.Root
	for i := range t.Samples {
		s := &t.Samples[i]
		if s.Marker == trie.MarkerGC {
			s.Node = last
		} else if last = s.Node; last == program {
			last = trie.Root
		}
	}
}

// warnings says what was dropped or mended, about the profile called name.
func (p *v8Profile) warnings(name string) []string {
	var w []string
	for _, x := range []struct {
		n    int
		what string
	}{
		{p.duplicateIDs, "nodes have the id of another node; samples with it are taken for those of the first"},
		{p.danglingChildren, "children do not exist"},
		{p.missingParents, "nodes name a parent that does not exist; they were put at the root"},
		{p.cycles, "nodes are their own ancestors; their stacks were cut there"},
		{p.untimed, "samples have no time; they were dropped"},
		{p.unknownSamples, "samples are of nodes that do not exist; they count as time without a stack"},
	} {
		if x.n > 0 {
			w = append(w, fmt.Sprintf("%s%d %s", name, x.n, x.what))
		}
	}
	return w
}
