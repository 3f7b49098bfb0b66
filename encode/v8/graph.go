package v8

import (
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// v8Graph is the nodes of V8's CPU profiles as in a file: they name their parent or
// their children, in any order, and may contradict each other. Profiles can share a
// graph.
type v8Graph struct {
	*v8Tables
	nodes []v8Node
	edges []v8Edge
	// Rows by id, once all nodes are there.
	dense  []int32 // row plus one, by id
	sparse map[int64]int32
	placed *placed

	// Counts of errors, for the warnings.
	duplicateIDs, danglingChildren, missingParents, cycles int
}

// v8Node is a node as in the file.
type v8Node struct {
	id     int64
	parent int64 // id of the parent if link is parentID, its row if it is parentRow
	link   v8Link
	frame  trie.FrameID
}

// v8Link is how a node refers to its parent.
type v8Link uint8

const (
	noParent v8Link = iota
	parentID
	parentRow
)

// v8Edge is an edge from the node in a row to a child with this id.
type v8Edge struct {
	row   int32
	child int64
}

// v8Tables are the strings and functions of a file. Its profiles share them.
type v8Tables struct {
	strings input.Strings
	frames  []trie.FrameRow
	frameID map[trie.FrameRow]trie.FrameID
}

func newV8Tables() *v8Tables {
	t := &v8Tables{frameID: map[trie.FrameRow]trie.FrameID{}}
	t.strings.Reset()
	t.frame(trie.FrameRow{}) // the frame of a node without a function
	for _, name := range [...]string{v8Root, v8Idle, v8GC} {
		t.frame(trie.FrameRow{Name: t.strings.Intern([]byte(name))})
	}
	return t
}

// Numbers of the frames in every file.
const (
	v8RootFrame trie.FrameID = iota + 1
	v8IdleFrame
	v8GCFrame
)

// function returns the number of a function. script is the number of its script and
// distinguishes functions without a URL; line and column are 1-based, 0 or less if
// unknown.
func (p *v8Tables) function(name, url trie.StringID, script string, line, column int64) trie.FrameID {
	f := trie.FrameRow{Name: name, Resource: url, Line: input.ClampLine(line), Column: input.ClampLine(column)}
	if name != 0 {
		switch string(p.strings.Text(name)) {
		case output.Anonymous:
			f.Name = 0
		case v8Root, v8Idle, v8GC, trie.FrameProgram:
			f = trie.FrameRow{Name: name}
		}
	}
	if f.Resource == 0 && f.Line > 0 && script != "" && script != "0" {
		f.Resource = p.strings.Intern([]byte("VM" + script)) // as DevTools names it
	}
	return p.frame(f)
}

// Names of the nodes that V8 adds besides functions and (program).
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

// indexRows prepares row. Of several nodes with one id the first counts.
func (p *v8Graph) indexRows() {
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
func (p *v8Graph) row(id int64) (int, bool) {
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
func (p *v8Graph) parents() []int32 {
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
		case p.nodes[row].link == noParent: // otherwise it has named its parent
			parents[row] = e.row
		}
	}
	return parents
}

// v8Kind is the kind of a node: a function, or one that V8 adds.
type v8Kind uint8

const (
	kindFunction v8Kind = iota
	kindIdle
	kindGC
)

// placed is the trie made from a graph.
type placed struct {
	trie  trie.Trie
	nodes []trie.NodeID // by row
	kinds []v8Kind      // by row
}

// place makes a trie from the nodes, once. If a node is its own ancestor, the cycle is
// cut there.
func (p *v8Graph) place() *placed {
	if p.placed != nil {
		return p.placed
	}
	p.indexRows()
	out := &placed{nodes: make([]trie.NodeID, len(p.nodes)), kinds: make([]v8Kind, len(p.nodes))}
	p.placed = out
	t := newUsedTables(p.v8Tables, len(p.nodes))
	parents := p.parents()
	const (
		unseen = iota
		walking
		done
	)
	state := make([]uint8, len(p.nodes))
	var path []int32
	for i := range p.nodes {
		path = path[:0]
		for row := int32(i); row >= 0 && state[row] != done; row = parents[row] {
			if state[row] == walking {
				p.cycles++
				parents[path[len(path)-1]] = -1
				break
			}
			state[row] = walking
			path = append(path, row)
		}
		for _, row := range slices.Backward(path) {
			state[row] = done
			frame, parent := p.nodes[row].frame, trie.Root
			if parents[row] >= 0 {
				parent = out.nodes[parents[row]]
			}
			top := parent == trie.Root
			switch {
			case parents[row] < 0 && frame == v8RootFrame:
			case top && frame == v8IdleFrame:
				out.kinds[row] = kindIdle
			case top && frame == v8GCFrame:
				out.kinds[row] = kindGC
			default:
				out.nodes[row] = t.Child(parent, t.frame(frame))
			}
		}
	}
	// Copied out of its trie, so that the index of the trie can be freed.
	out.trie = trie.Trie{Strings: t.Strings, Frames: t.Frames, Nodes: t.Nodes}
	return out
}

// usedTables is a trie with those frames of a file that its nodes use: the profiles of
// a file share its tables.
type usedTables struct {
	trie.Trie
	from  *v8Tables
	dense []trie.FrameID                // plus one, by frame of the file
	few   map[trie.FrameID]trie.FrameID // instead, where there are few nodes
	texts map[trie.StringID]trie.StringID
}

func newUsedTables(from *v8Tables, nodes int) *usedTables {
	t := &usedTables{Trie: *trie.New(), from: from, texts: map[trie.StringID]trie.StringID{0: 0}}
	if 8*nodes > len(from.frames) {
		t.dense = make([]trie.FrameID, len(from.frames))
	} else {
		t.few = map[trie.FrameID]trie.FrameID{}
	}
	t.Grow(nodes)
	return t
}

// frame returns the number of a frame of the file. The frame is new to the trie at its
// first use, so it need not be searched there.
func (t *usedTables) frame(id trie.FrameID) trie.FrameID {
	known := t.few[id]
	if t.dense != nil {
		known = t.dense[id]
	}
	if known != 0 {
		return known - 1
	}
	row := t.from.frames[id]
	row.Name, row.Resource = t.text(row.Name), t.text(row.Resource)
	t.Frames = append(t.Frames, row)
	known = trie.FrameID(len(t.Frames))
	if t.dense != nil {
		t.dense[id] = known
	} else {
		t.few[id] = known
	}
	return known - 1
}

func (t *usedTables) text(id trie.StringID) trie.StringID {
	to, ok := t.texts[id]
	if !ok {
		to = trie.StringID(len(t.Strings))
		t.texts[id] = to
		t.Strings = append(t.Strings, string(t.from.strings.Text(id)))
	}
	return to
}
