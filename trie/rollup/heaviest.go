package rollup

import (
	"cmp"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// NewWholeBuilder returns an empty Builder for all there is of page. It has a stack table of
// its own, and when that is full it keeps the heaviest stacks: those that the most page views
// were at. So a flood of others makes no stack (other) that views have in common, whichever
// came first. A stack may be added anew after it was dropped; what it had before stays (other).
func NewWholeBuilder(page string, lim Limits) *Builder {
	b := NewBuilder(page, trie.New(), lim)
	b.whole = true
	b.useStacks(b.stacks)
	return b
}

// Full reports whether something became (other) since the stack table had no room.
func (b *Builder) Full() bool { return b.graft.Full() }

// useStacks makes stacks the stack table. One that is not shared may have twice as much as it
// is to have, until the page view at hand ends.
func (b *Builder) useStacks(stacks *trie.Trie) {
	most := b.lim.Nodes
	if b.whole {
		most *= 2
	}
	b.stacks, b.graft = stacks, trie.NewGrafter(stacks, most)
	b.counted, b.bytes = 0, 0
}

// relieve drops the lighter stacks of a table that is full. It is called between page views.
func (b *Builder) relieve() {
	b.countText()
	if b.whole && (len(b.stacks.Nodes) > b.lim.Nodes || b.bytes > b.lim.Bytes) {
		b.keep(room{nodes: b.lim.Nodes / 2, bytes: b.lim.Bytes / 2})
	}
}

// Shares are how many tables of the full size a table grows to that records share which were
// made one after the other, and which part of that size each finds room for.
const (
	sharedTables = 4
	sharedPart   = 8
)

// Onto returns a Builder with the same sums, of which the nodes are added to a stack table that
// others share. If that is full, or nearly, each finds room for the heaviest of its stacks all
// the same, up to an eighth of what a table has: so none is (other) for what came before.
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

// room says what may be kept of a stack table.
type room struct {
	nodes, bytes int        // stacks, and bytes of names and URLs
	known        *trie.Trie // what stands in here takes no room
}

// keep drops stacks until the others find room, the lightest first. What they have goes to the
// stack (other) below the nearest caller that is kept, and functions of which no stack is left
// are summed up with the rest.
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
	frames := make([]trie.FrameID, len(from.Frames)) // one more; 0 is none that stays
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

// heaviest returns the nodes but for the root, the heaviest first: by the page views that were
// there, and then by time. No node comes before its parent.
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

// costs are what the nodes of a stack table take.
type costs struct {
	free         []bool // by node: it takes nothing
	nodes, bytes int    // of all
}

func (r room) costs(t *trie.Trie) (c costs) {
	c.free = make([]bool, len(t.Nodes))
	c.nodes, c.bytes = len(t.Nodes), textOf(t)
	if r.known == nil {
		return c
	}
	at := make([]trie.NodeID, len(t.Nodes)) // in what is known
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

// fitting returns which nodes there is room for, in an order in which parents come first.
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

// others returns how many nodes a table has in which some stay, with those for the others.
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

// moveRows moves what nodes have to others. Which of the page views that were at several nodes
// that become one are the same is not known: it has those of the one that had the most, and
// no more than its caller.
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

// boundOthers gives what stands for others the page views of its caller, if it has more.
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
		if id := trie.NodeID(i); i > 0 && views[i] > views[n.Parent] && b.stacks.Frame(id) == (trie.Frame{Name: trie.FrameOther}) {
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

// moveFunctions gives functions the new numbers of their frames, which are one less than what
// to has.
func (b *Builder) moveFunctions(to []trie.FrameID) {
	old := b.functions
	b.functions, b.told = map[string]*functions{}, 0
	for release, from := range old {
		s := b.functionsOf(release)
		s.rest = from.rest
		for frame, f := range from.of {
			if to[frame] == 0 {
				s.rest.Add(f.rest())
				continue
			}
			*b.function(release, to[frame]-1) = Function{to[frame] - 1, f.Self, f.Total}
		}
	}
}
