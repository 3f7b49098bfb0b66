package rollup

import (
	"cmp"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// NewWholeBuilder returns an empty Builder for all data of page, with its own stack table. When
// that is full, it keeps the stacks in the most page views. So a flood of other stacks cannot turn
// common stacks into (other), whichever came first. A dropped stack may be added again; its earlier
// sums stay (other).
func NewWholeBuilder(page string, lim Limits) *Builder {
	b := NewBuilder(page, trie.New(), lim)
	b.whole = true
	b.useStacks(b.stacks)
	return b
}

// Full reports whether anything became (other) because the stack table was full.
func (b *Builder) Full() bool { return b.graft.Full() }

// useStacks makes stacks the stack table. A table that is not shared may reach twice its size until
// the current page view ends.
func (b *Builder) useStacks(stacks *trie.Trie) {
	most := b.lim.Nodes
	if b.whole {
		most *= 2
	}
	b.stacks, b.graft = stacks, trie.NewGrafter(stacks, most)
	b.counted, b.bytes = 0, 0
}

// relieve drops the lighter stacks of a full table. It must be called between page views.
func (b *Builder) relieve() {
	b.countText()
	if b.whole && (len(b.stacks.Nodes) > b.lim.Nodes || b.bytes > b.lim.Bytes) {
		b.keep(room{nodes: b.lim.Nodes / 2, bytes: b.lim.Bytes / 2})
	}
}

// Shares: a table shared by consecutive records grows to this many times the full size, and each
// record gets room for this part of that size.
const (
	sharedTables = 4
	sharedPart   = 8
)

// Onto returns a Builder with the same sums whose nodes are in a shared stack table. Even if that
// is full or nearly full, it adds the heaviest of its stacks, up to an eighth of a table: so no
// earlier record turns a heavy stack into (other).
func (b *Builder) Onto(stacks *trie.Trie) (*Builder, error) {
	used := room{nodes: b.lim.Nodes - len(stacks.Nodes), bytes: b.lim.Bytes - textOf(stacks)}
	b.keep(room{
		nodes: max(used.nodes, b.lim.Nodes/sharedPart),
		bytes: max(used.bytes, b.lim.Bytes/sharedPart),
		known: stacks,
	})
	rec, err := b.Record()
	if err != nil {
		return nil, err
	}
	lim := b.lim
	lim.Nodes *= sharedTables
	lim.Bytes *= sharedTables
	to := NewBuilder(b.page, stacks, lim)
	to.AddRecord(rec, b.stacks)
	return to, nil
}

func textOf(t *trie.Trie) (bytes int) {
	for _, s := range t.Strings {
		bytes += len(s)
	}
	return bytes
}

// room bounds the part of a stack table to keep.
type room struct {
	nodes, bytes int        // number of stacks, and bytes of names and URLs
	known        *trie.Trie // its content takes no room
}

// keep drops the lightest stacks until the others fit. The sums of a dropped stack are added to
// (other) below its nearest remaining caller. Functions without a remaining stack are added to the
// rest.
func (b *Builder) keep(r room) {
	b.view.reset()
	clear(b.view.outer)
	from := b.stacks
	costs := r.costs(from)
	if costs.nodes <= r.nodes && costs.bytes <= r.bytes {
		return
	}
	order := b.heaviest()
	stays := costs.fitting(from, order, r.nodes, r.bytes)
	for most := r.nodes; most > 0; { // each caller may get one (other)
		over := costs.others(from, stays) - r.nodes
		if over <= 0 {
			break
		}
		most -= max(over, most/16)
		stays = costs.fitting(from, order, most, r.bytes)
	}
	to := trie.New()
	nodes := make([]trie.NodeID, len(from.Nodes))
	frames := make([]trie.FrameID, len(from.Frames)) // number plus one; 0 is dropped
	for i, n := range from.Nodes {
		switch {
		case i == 0:
		case stays[i]:
			if frames[n.Frame] == 0 {
				frames[n.Frame] = to.Intern(from.FrameOf(n.Frame)) + 1
			}
			nodes[i] = to.Child(nodes[n.Parent], frames[n.Frame]-1)
		default:
			nodes[i] = to.Other(nodes[n.Parent])
		}
	}
	b.useStacks(to)
	b.moveRows(nodes, stays)
	b.moveFunctions(frames)
}

// heaviest returns all nodes but the root, heaviest first: by page views, then by time. No node
// comes before its parent.
func (b *Builder) heaviest() []trie.NodeID {
	n := len(b.stacks.Nodes)
	views, time := make([]int64, n), make([]int64, n)
	for _, of := range b.reach.of {
		of.each(func(n trie.NodeID, v int64) { views[n] += v })
	}
	for _, of := range b.weights.of {
		of.each(func(n trie.NodeID, w weight) { time[n] += w.self })
	}
	order := make([]trie.NodeID, 0, n)
	for i := n - 1; i > 0; i-- {
		up := b.stacks.Nodes[i].Parent
		views[up] = max(views[up], views[i])
		time[up] += max(time[i], 0)
		order = append(order, trie.NodeID(i))
	}
	slices.SortFunc(order, func(x, y trie.NodeID) int {
		return cmp.Or(cmp.Compare(views[y], views[x]), cmp.Compare(time[y], time[x]), cmp.Compare(x, y))
	})
	return order
}

// costs are the sizes of the nodes of a stack table.
type costs struct {
	free         []bool // by node: it takes no room
	nodes, bytes int    // total
}

func (r room) costs(t *trie.Trie) (c costs) {
	c.free = make([]bool, len(t.Nodes))
	c.nodes, c.bytes = len(t.Nodes), textOf(t)
	if r.known == nil {
		return c
	}
	at := make([]trie.NodeID, len(t.Nodes)) // in known
	c.free[trie.Root] = true
	for i := 1; i < len(t.Nodes); i++ {
		n := t.Nodes[i]
		if c.free[n.Parent] {
			at[i], c.free[i] = r.known.Find(at[n.Parent], t.FrameOf(n.Frame))
		}
		if c.free[i] {
			c.nodes--
		}
	}
	return c
}

// fitting returns the nodes that fit, in an order with parents first.
func (c *costs) fitting(t *trie.Trie, order []trie.NodeID, nodes, bytes int) (stays []bool) {
	stays = make([]bool, len(t.Nodes))
	stays[trie.Root] = true
	counted := make([]bool, len(t.Strings))
	for _, n := range order {
		if !stays[t.Nodes[n].Parent] {
			continue
		}
		if c.free[n] {
			stays[n] = true
			continue
		}
		f := t.Frames[t.Nodes[n].Frame]
		text := 0
		for _, s := range [...]trie.StringID{f.Name, f.Resource} {
			if !counted[s] {
				text += len(t.Strings[s])
			}
		}
		if nodes < 1 || bytes < text {
			continue
		}
		stays[n], counted[f.Name], counted[f.Resource] = true, true, true
		nodes--
		bytes -= text
	}
	return stays
}

// others returns the number of nodes in a table of the remaining nodes, including those for
// (other).
func (c *costs) others(t *trie.Trie, stays []bool) (n int) {
	has := make([]bool, len(t.Nodes))
	for i := 1; i < len(t.Nodes); i++ {
		up := t.Nodes[i].Parent
		switch {
		case stays[i] && !c.free[i]:
			n++
		case !stays[i] && stays[up] && !has[up]:
			has[up] = true
			n++
		}
	}
	return n
}

// moveRows moves the rows of nodes to others. The number of page views that merged nodes have in
// common is unknown: the result has the page views of the largest, and at most those of its caller.
func (b *Builder) moveRows(to []trie.NodeID, stays []bool) {
	var weights table[weight]
	for cell, of := range b.weights.of {
		of.each(func(n trie.NodeID, w weight) {
			x := weights.at(cell, to[n])
			x.self += w.self
			x.samples += w.samples
		})
	}
	var reach table[int64]
	for touch, of := range b.reach.of {
		of.each(func(n trie.NodeID, views int64) {
			if x := reach.at(touch, to[n]); stays[n] {
				*x += views
			} else {
				*x = max(*x, views)
			}
		})
	}
	b.weights, b.reach = weights, reach
	b.boundOthers()
}

// boundOthers limits the page views of (other) nodes to those of their caller.
func (b *Builder) boundOthers() {
	views := make([]int64, len(b.stacks.Nodes))
	for _, of := range b.reach.of {
		of.each(func(n trie.NodeID, v int64) { views[n] += v })
	}
	for _, t := range b.touches {
		views[trie.Root] += t.views
	}
	over := map[trie.NodeID]trie.NodeID{} // by caller
	for i, n := range b.stacks.Nodes {
		if id := trie.NodeID(i); i > 0 && views[i] > views[n.Parent] &&
			b.stacks.Frame(id) == (trie.Frame{Name: trie.FrameOther}) {
			over[n.Parent] = id
		}
	}
	if len(over) == 0 {
		return
	}
	var reach table[int64]
	give := func(touch int, caller trie.NodeID, views int64) {
		if other := over[caller]; other != trie.Root {
			*reach.at(touch, other) = views
		}
	}
	for touch, of := range b.reach.of {
		of.each(func(n trie.NodeID, v int64) {
			if over[b.stacks.Nodes[n].Parent] != n {
				*reach.at(touch, n) = v
			}
			give(touch, n, v)
		})
	}
	for touch, t := range b.touches {
		give(touch, trie.Root, t.views)
	}
	b.reach = reach
}

// moveFunctions renumbers the frames of functions. The new numbers are one less than the values in
// to.
func (b *Builder) moveFunctions(to []trie.FrameID) {
	old := b.functions
	b.functions, b.told = map[string]*functions{}, 0
	for release, from := range old {
		s := b.functionsOf(release)
		s.rest, s.views = from.rest, from.views
		for frame, f := range from.of {
			if to[frame] == 0 {
				s.rest.Add(f.rest())
				continue
			}
			*b.function(release, to[frame]-1) = Function{to[frame] - 1, f.Self, f.Total, f.beside}
		}
	}
}
