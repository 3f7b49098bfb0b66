package rollup

import (
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// chunk is the trace being added.
type chunk struct {
	slices []trie.Slice
	used   []bool
	cells  []int // by slice: the view's cell, -1 for another page
	parts  []part
	set    *trie.Set     // whose tables the trace uses; nil for its own
	held   []trie.NodeID // nodes of the trace in a sampled stack, parents first
	nodes  []inChunk     // by node: zero except for nodes in held
	depths []uint32
}

// inChunk is the contribution of the trace to one of its nodes.
type inChunk struct {
	held        bool
	at          trie.NodeID // in the stack table
	mask        uint64      // the view's cells with the node
	self, total int64       // µs
}

// part is a share of the trace in one cell.
type part struct {
	cell    int // the view's
	node    trie.NodeID
	top     trie.Frame
	self    int64
	samples int64
	ends    bool // the next part does not belong to the same task
	stack   bool
	own     bool // time of the profiling script itself
}

// LongTask is the minimum duration of a long task, as defined by https://w3c.github.io/longtasks/,
// in µs.
const LongTask = 50_000

// KeyStopped is the label of traces of a page view whose profiling stopped early; its value is the
// reason. The length of such a view is unknown, so it counts in sums but not in distributions.
// There it would make slow devices look fast, because profiling costs most on them.
const KeyStopped = "stopped"

// Begin begins a page view: sign 1 adds it, sign -1 subtracts it.
func (b *Builder) Begin(sign int64) {
	b.view.reset()
	b.view.sign = sign
}

// Add adds the part of a trace of the page view that is on the page. All traces of a page view must
// be added between Begin and End. It does not retain the trace.
func (b *Builder) Add(t *trie.Trace) {
	c, v := &b.chunk, &b.view
	c.slices, c.used = t.SlicesInUse(c.slices, c.used)
	c.cells = c.cells[:0]
	var here uint64
	for i := range c.slices {
		at := -1
		if c.used[i] && c.slices[i].Page == b.page {
			at = v.cellOf(b, CellLabels(c.slices[i], &t.Context))
			here |= 1 << at
		}
		c.cells = append(c.cells, at)
	}
	if here == 0 {
		return
	}
	if v.share == 0 {
		v.share = t.Context.SamplingShare
	}
	if v.mask == 0 {
		v.release = t.Context.Release
	}
	v.stopped = v.stopped || t.Context.Labels.Value(KeyStopped) != ""
	v.mask |= here
	b.touches[v.touchOf(b, here)].traces += v.sign
	if set := t.Set(); set == nil || set != c.set {
		b.begin(t)
		c.set = set
	}
	b.collect(t)
	b.time()
	if b.flat {
		b.flatten()
		return
	}
	b.spread(t)
	b.settle()
}

// collect finds the parts of the trace, and the values outside stacks.
func (b *Builder) collect(t *trie.Trace) {
	c, v := &b.chunk, &b.view
	c.parts = c.parts[:0]
	t.Shares(c.slices, func(s *trie.Share) {
		at := c.cells[s.Slice]
		if at < 0 {
			if n := len(c.parts); n > 0 {
				c.parts[n-1].ends = true
			}
			return
		}
		sum := Silence{Unsampled: s.Gap}
		p := part{cell: at, node: s.Node, top: s.OnTop, self: s.Self, stack: s.HasStack()}
		p.own = IsOwn(&t.Trie, s.Node, s.OnTop)
		switch {
		case s.Silent:
		case !p.stack:
			sum.Stackless = s.Self
			if s.Idle {
				sum.Idle = s.Self
			}
		case s.Counts:
			p.samples = 1
			if len(c.depths) > 0 && c.depths[s.Node] == trie.MaxStackDepth {
				sum.Truncated = 1
			}
		}
		if s.Next != nil {
			top := s.Next.OnTop()
			next := (s.Next.Node != trie.Root || top != trie.Frame{}) && !IsOwn(&t.Trie, s.Next.Node, top)
			sum.Likely = likely(s, p.stack && !p.own, next)
		}
		b.cells[v.cells[at]].add(sum, v.sign)
		p.ends = s.Gap > 0
		if n := len(c.parts); s.Silent || n > 0 && c.parts[n-1].same(&p) {
			if n > 0 {
				c.parts[n-1].self += s.Self
				c.parts[n-1].samples += p.samples
				c.parts[n-1].ends = c.parts[n-1].ends || p.ends
			}
			return
		}
		c.parts = append(c.parts, p)
	})
}

// likely returns the contribution of one share to [Silence.Likely]. of and next report whether its
// sample and the next one, after which samples are missing, are JavaScript of the page.
func likely(s *trie.Share, of, next bool) int64 {
	all, booked := s.Self+s.Gap, int64(0)
	if of {
		booked = s.Self
	}
	switch {
	case of && next:
		return all - booked
	case of || next:
		return all/2 - booked
	}
	return 0
}

// same reports whether o continues p.
func (p *part) same(o *part) bool {
	return !p.ends && p.cell == o.cell && p.node == o.node && p.top == o.top
}

// time adds up the time of the view's cells, without the profiling script. A long task affects the
// visitor whatever caused it, so it may be long only because of the script's part.
func (b *Builder) time() {
	c, v := &b.chunk, &b.view
	begin, busy := 0, int64(0)
	flush := func(end int) {
		if busy >= LongTask {
			for _, p := range c.parts[begin:end] {
				if !p.own {
					v.sums[p.cell].long += p.self
				}
			}
		}
		begin, busy = end, 0
	}
	for i := range c.parts {
		p := &c.parts[i]
		if !p.stack {
			flush(i)
			begin = i + 1
			continue
		}
		busy += p.self
		if p.ends {
			flush(i + 1)
		}
		if !p.own {
			v.sums[p.cell].time += p.self
		}
	}
	flush(len(c.parts))
}

// flatten adds the time with a stack to the root, and the profiling script's time to its own node.
func (b *Builder) flatten() {
	for i := range b.chunk.parts {
		p := &b.chunk.parts[i]
		if p.stack {
			n := trie.Root
			if p.own {
				n = b.stacks.Insert(trie.Frame{Name: trie.FrameFieldtrie})
			}
			r := b.weights.at(b.view.cells[p.cell], n)
			r.self += b.view.sign * p.self
			r.samples += b.view.sign * p.samples
		}
	}
}

// spread records the cells and times of each node of the trace.
func (b *Builder) spread(t *trie.Trace) {
	c := &b.chunk
	for i := range c.parts {
		p := &c.parts[i]
		if !p.stack || p.node == trie.Root {
			continue
		}
		c.hold(t, p.node)
		n := &c.nodes[p.node]
		n.mask |= 1 << p.cell
		n.total += p.self
		if p.top == (trie.Frame{}) {
			n.self += p.self
		}
	}
	for _, i := range slices.Backward(c.held) {
		if up := t.Nodes[i].Parent; up != trie.Root {
			c.nodes[up].mask |= c.nodes[i].mask
			c.nodes[up].total += c.nodes[i].total
		}
	}
}

// hold records that a sampled stack ends at node n of t.
func (c *chunk) hold(t *trie.Trace, n trie.NodeID) {
	from := len(c.held)
	for ; n != trie.Root && !c.nodes[n].held; n = t.Nodes[n].Parent {
		c.nodes[n].held = true
		c.held = append(c.held, n)
	}
	slices.Reverse(c.held[from:])
}

// settle adds the nodes of the trace to the stack table, the view and the weights, and clears them.
func (b *Builder) settle() {
	c, v := &b.chunk, &b.view
	for _, i := range c.held {
		n := &c.nodes[i]
		n.at = b.graft.Node(i)
		v.touch(b, n.at, n.mask, n.self, n.total)
	}
	for i := range c.parts {
		p := &c.parts[i]
		if !p.stack {
			continue
		}
		n := c.nodes[p.node].at
		if p.top != (trie.Frame{}) {
			n = b.graft.OnTop(n, p.top)
			v.touch(b, n, 1<<p.cell, p.self, p.self)
		}
		r := b.weights.at(v.cells[p.cell], n)
		r.self += v.sign * p.self
		r.samples += v.sign * p.samples
	}
	for _, i := range c.held {
		c.nodes[i] = inChunk{}
	}
	c.held = c.held[:0]
}

// begin makes the tables of t those of the chunk.
func (b *Builder) begin(t *trie.Trace) {
	c := &b.chunk
	c.depths = c.depths[:0]
	if len(t.Nodes) > trie.MaxStackDepth {
		c.depths = t.Depths()
	}
	if b.flat {
		return
	}
	c.nodes, c.held = zeroed(c.nodes, len(t.Nodes)), c.held[:0]
	b.graftFrom(&t.Trie)
}
