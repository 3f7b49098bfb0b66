package rollup

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Limits bound the size of one record, whatever is sent. Anything over a limit is counted as
// (other), never left out.
type Limits struct {
	Nodes int // stacks of a page in one stack table: 1<<17
	Bytes int // of the names and URLs in one stack table: 16 MiB
	// Cells bounds the sets of labels in a record: 2048, and twice as many once browser, connection
	// and device of further ones are replaced by (other).
	Cells int
	// Functions is how many functions of a final record keep a distribution of their own: the
	// heaviest 500 of each release.
	Functions int
	// AllFunctions is how many functions of all releases are kept apart in a record that is not
	// final: 1<<16. If there are more, the lightest half is added to the rest.
	AllFunctions int
	// Memory bounds the bytes of the rows of a record under construction, by cell and node: 256
	// MiB. Above half of it, browser, connection and device of new page views are (other); above
	// all of it, all labels are.
	Memory int
}

// WithDefaults returns l with the default for each zero.
func (l Limits) WithDefaults() Limits {
	set := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	set(&l.Nodes, 1<<17)
	set(&l.Bytes, 16<<20)
	set(&l.Cells, 2048)
	set(&l.Functions, 500)
	set(&l.AllFunctions, 1<<16)
	set(&l.Memory, 256<<20)
	return l
}

// Builder sums up page views and records of one page. It is not for concurrent use.
type Builder struct {
	page   string
	stacks *trie.Trie
	lim    Limits
	graft  *trie.Grafter

	cells     []cell
	cellAt    map[string]int
	touches   []touch
	touchAt   map[string]int
	weights   table[weight] // by cell and node
	reach     table[int64]  // by touch and node: page views
	dists     []Distribution
	distAt    map[string]int
	functions map[string]*functions // by release
	told      int                   // functions in these
	outcomes  map[string]int64
	vitals    vitals
	key       []byte // scratch

	counted, bytes int // strings of stacks that were counted, and their bytes

	whole bool // the stack table is its own, see NewWholeBuilder
	flat  bool // all time is the root's, without functions

	chunk chunk
	view  view
}

// touch is a set of cells; see the package comment.
type touch struct {
	cells         []int // sorted
	views, traces int64
}

// NewBuilder returns an empty Builder for the traces of page. Their nodes are added to
// stacks, the stack table.
func NewBuilder(page string, stacks *trie.Trie, lim Limits) *Builder {
	lim = lim.WithDefaults()
	return &Builder{
		page: page, stacks: stacks, lim: lim, graft: trie.NewGrafter(stacks, lim.Nodes),
		cellAt: map[string]int{}, touchAt: map[string]int{}, distAt: map[string]int{},
		functions: map[string]*functions{}, outcomes: map[string]int64{},
	}
}

// NewFlatBuilder returns an empty Builder for the traces of page without stacks and functions: all
// time with a stack is that of the root. This takes a fraction of the work and is enough for
// queries about time alone.
func NewFlatBuilder(page string, lim Limits) *Builder {
	b := NewBuilder(page, trie.New(), lim)
	b.flat = true
	return b
}

// Empty reports whether nothing was added.
func (b *Builder) Empty() bool {
	return len(b.touches) == 0 && len(b.outcomes) == 0 && len(b.vitals.of) == 0
}

// AddOutcome counts page views without a trace, by the reason.
func (b *Builder) AddOutcome(outcome string, views int64) { b.outcomes[outcome] += views }

// cellOf returns the number of the cell with these labels.
func (b *Builder) cellOf(l trie.Labels) int {
	l = b.fitting(l)
	b.key = appendLabelsKey(b.key[:0], l)
	if i, ok := b.cellAt[string(b.key)]; ok {
		return i
	}
	if len(b.cells) >= b.lim.Cells {
		if narrower := foldWide(l); !slices.Equal(narrower, l) {
			return b.cellOf(narrower)
		}
		if len(b.cells) >= 2*b.lim.Cells && l.Value(trie.FrameOther) == "" {
			return b.cellOf(otherLabels())
		}
	}
	i := len(b.cells)
	b.cellAt[string(b.key)] = i
	c := cell{labels: slices.Clone(l)}
	base := baseOf(l)
	c.dists = append(c.dists, b.distOf(base))
	for _, x := range l {
		if x.Key == KeyFeature || x.Key == KeyPhase {
			c.dists = append(c.dists, b.distOf(append(slices.Clone(base), x).Sort()))
		}
	}
	b.cells = append(b.cells, c)
	return i
}

// fitting returns the labels to count l under, given the room there is.
func (b *Builder) fitting(l trie.Labels) trie.Labels {
	switch size := b.weights.size + b.reach.size; {
	case size <= b.lim.Memory/2 || l.Value(trie.FrameOther) != "":
		return l
	case size <= b.lim.Memory:
		return foldWide(l)
	}
	return otherLabels()
}

// distOf returns the number of the distribution with these labels.
func (b *Builder) distOf(l trie.Labels) int {
	b.key = appendLabelsKey(b.key[:0], l)
	i, ok := b.distAt[string(b.key)]
	if !ok {
		i = len(b.dists)
		b.distAt[string(b.key)] = i
		b.dists = append(b.dists, Distribution{Labels: l})
	}
	return i
}

// touchOf returns the number of the touch with these cells, which must be sorted.
func (b *Builder) touchOf(cells []int) int {
	b.key = b.key[:0]
	for _, c := range cells {
		b.key = binary.AppendUvarint(b.key, uint64(c))
	}
	i, ok := b.touchAt[string(b.key)]
	if !ok {
		if folded := b.foldTouch(cells); folded != nil {
			return b.touchOf(folded)
		}
		i = len(b.touches)
		b.touchAt[string(b.key)] = i
		b.touches = append(b.touches, touch{cells: slices.Clone(cells)})
	}
	return i
}

// foldTouch returns a smaller set of cells to count a page view in if there are too many touches,
// and nil otherwise, or if nothing is left to leave out.
func (b *Builder) foldTouch(cells []int) []int {
	if len(b.touches) < 4*b.lim.Cells {
		return nil
	}
	var out []int
	for _, c := range cells {
		out = append(out, b.cellOf(foldWide(b.cells[c].labels)))
	}
	out = sortedSet(out)
	if slices.Equal(out, cells) {
		if len(b.touches) < 8*b.lim.Cells || len(cells) == 1 {
			return nil
		}
		return []int{b.cellOf(otherLabels())}
	}
	return out
}

// chunk is the trace that is being added.
type chunk struct {
	slices []trie.Slice
	used   []bool
	cells  []int // by slice: the view's cell, -1 if the slice is of another page
	parts  []part
	nodes  []trie.NodeID // those of the stack table by those of the trace
	mask   []uint64      // by node: the view's cells in which it was
	self   []int64       // by node, µs
	total  []int64       // by node, µs
	depths []uint32
}

// part is a share of the trace in one cell.
type part struct {
	cell    int // the view's
	node    trie.NodeID
	top     trie.Frame
	self    int64
	samples int64
	ends    bool // what follows does not belong to the same task
	stack   bool
}

// longTask is the minimum duration of a long task, as defined by https://w3c.github.io/longtasks/,
// in µs.
const longTask = 50_000

// KeyStopped is the label of traces of a page view whose profiling stopped early; its value is the
// reason. The length of such a view is unknown, so it counts in sums and not in distributions:
// there it would make slow devices look fast, as profiling costs most on them.
const KeyStopped = "stopped"

// Begin begins a page view: sign 1 adds it, sign -1 subtracts it.
func (b *Builder) Begin(sign int64) {
	b.view.reset()
	b.view.sign = sign
}

// Add adds the part of a trace of the page view that is on the page. All traces of a page view must
// be added between Begin and End. The trace is not retained.
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
	b.collect(t)
	b.time()
	if b.flat {
		b.flatten()
		return
	}
	b.spread(t)
	b.settle(t)
}

// collect finds the parts of the trace, and the values beside stacks.
func (b *Builder) collect(t *trie.Trace) {
	c, v := &b.chunk, &b.view
	c.parts = c.parts[:0]
	c.depths = c.depths[:0]
	if len(t.Nodes) > trie.MaxStackDepth {
		c.depths = t.Depths()
	}
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

// same reports whether o continues p.
func (p *part) same(o *part) bool {
	return !p.ends && p.cell == o.cell && p.node == o.node && p.top == o.top
}

// time adds up the time of the view's cells.
func (b *Builder) time() {
	c, v := &b.chunk, &b.view
	begin, busy := 0, int64(0)
	flush := func(end int) {
		if busy >= longTask {
			for _, p := range c.parts[begin:end] {
				v.sums[p.cell].long += p.self
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
		v.sums[p.cell].time += p.self
	}
	flush(len(c.parts))
}

// flatten adds the time with a stack to the root.
func (b *Builder) flatten() {
	for i := range b.chunk.parts {
		p := &b.chunk.parts[i]
		if p.stack {
			r := b.weights.at(b.view.cells[p.cell], trie.Root)
			r.self += b.view.sign * p.self
			r.samples += b.view.sign * p.samples
		}
	}
}

// spread notes the cells of each node of the trace.
func (b *Builder) spread(t *trie.Trace) {
	c := &b.chunk
	n := len(t.Nodes)
	c.mask, c.self, c.total = zeroed(c.mask, n), zeroed(c.self, n), zeroed(c.total, n)
	for i := range c.parts {
		p := &c.parts[i]
		if p.stack && p.node != trie.Root {
			c.mask[p.node] |= 1 << p.cell
			c.total[p.node] += p.self
			if p.top == (trie.Frame{}) {
				c.self[p.node] += p.self
			}
		}
	}
	for i := n - 1; i > 0; i-- {
		up := t.Nodes[i].Parent
		c.mask[up] |= c.mask[i]
		c.total[up] += c.total[i]
	}
}

// settle adds the nodes of the trace to the stack table, the view and the weights.
func (b *Builder) settle(t *trie.Trace) {
	c, v := &b.chunk, &b.view
	b.begin(&t.Trie)
	c.nodes = zeroed(c.nodes, len(t.Nodes))
	for i := 1; i < len(t.Nodes); i++ {
		if c.mask[i] != 0 {
			n := b.graft.Node(trie.NodeID(i))
			c.nodes[i] = n
			v.touch(b, n, c.mask[i], c.self[i], c.total[i])
		}
	}
	for i := range c.parts {
		p := &c.parts[i]
		if !p.stack {
			continue
		}
		n := c.nodes[p.node]
		if p.top != (trie.Frame{}) {
			n = b.graft.OnTop(n, p.top)
			v.touch(b, n, 1<<p.cell, p.self, p.self)
		}
		r := b.weights.at(v.cells[p.cell], n)
		r.self += v.sign * p.self
		r.samples += v.sign * p.samples
	}
}

// begin makes t the source of nodes. Once the stack table has too much text, it accepts no more of
// it.
func (b *Builder) begin(t *trie.Trie) {
	b.countText()
	if most := b.lim.Bytes; b.bytes > most && (!b.whole || b.bytes > 2*most) {
		b.graft.Close()
	}
	b.graft.Begin(t)
}

// countText counts the bytes of new names and URLs in the stack table.
func (b *Builder) countText() {
	for ; b.counted < len(b.stacks.Strings); b.counted++ {
		b.bytes += len(b.stacks.Strings[b.counted])
	}
}

// End ends the page view.
func (b *Builder) End() {
	v := &b.view
	if v.mask == 0 {
		return
	}
	b.touches[v.touchOf(b, v.mask)].views += v.sign
	for _, n := range v.nodes {
		*b.reach.at(v.touchOf(b, v.at[n]), n) += v.sign
	}
	if !v.stopped {
		v.distribute(b)
		for _, f := range v.frames {
			b.function(v.release, f).add(v.self[f], v.total[f], v.sign)
		}
	}
	b.relieve()
}

// population returns how many page views a view with this sampling share stands for, in
// thousandths, at most 10,000.
func population(share float64) int64 {
	if share <= 0 || share > 1 {
		return 1000
	}
	return int64(math.Round(min(1000/share, 1e7)))
}

func zeroed[E any](s []E, n int) []E {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// Views returns how many page views and traces were added.
func (b *Builder) Views() (views, traces int64) {
	for _, t := range b.touches {
		views, traces = views+t.views, traces+t.traces
	}
	return views, traces
}

// Record returns the sums as a record of its own stack table, see [Builder.Stacks].
func (b *Builder) Record() (*Record, error) { return Decode(b.Encode(Whole, false), b.stacks) }

// Stacks returns the stack table.
func (b *Builder) Stacks() *trie.Trie { return b.stacks }
