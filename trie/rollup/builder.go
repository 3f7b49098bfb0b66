package rollup

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Limits bounds the size of one record, whatever clients send. Data over a limit is counted as
// (other), never dropped. A zero field selects the default in its comment.
type Limits struct {
	Nodes int // stacks of a page in one stack table: 1<<17
	Bytes int // of the names and URLs in one stack table: 16 MiB
	// Cells is the maximum number of label sets in a record: 2048, and twice as many once browser,
	// connection and device of further ones are replaced by (other). Web Vitals have their own
	// sets, in which elements are replaced first.
	Cells int
	// Functions is the number of functions of a final record with their own distribution: the
	// heaviest 500 of each release.
	Functions int
	// AllFunctions is the number of functions of all releases in a record that is not final: 1<<16.
	// If there are more, the lightest half is added to the rest.
	AllFunctions int
	// Memory is the maximum size of the rows of a record under construction, in bytes, by cell and
	// node: 256 MiB. Above half of it, browser, connection and device of new page views are
	// (other); above all of it, all labels are.
	Memory int
}

// WithDefaults returns l with every zero field replaced by its default.
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

// Builder sums page views and records of one page. It is not safe for concurrent use.
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
	reach     table[int64]  // by touch and node: number of page views
	dists     []Distribution
	distAt    map[string]int
	functions map[string]*functions // by release
	told      int                   // number of functions in all releases
	outcomes  map[string]int64
	vitals    vitals
	key       []byte // scratch

	counted, bytes int // number of strings of stacks already counted, and their bytes

	whole bool // the stack table is not shared, see NewWholeBuilder
	flat  bool // all time is added to the root, without functions

	chunk chunk
	view  view
}

// touch is a set of cells; see the package documentation.
type touch struct {
	cells         []int // sorted
	views, traces int64
}

// NewBuilder returns an empty Builder for the traces of page. It adds their nodes to stacks, the
// stack table.
func NewBuilder(page string, stacks *trie.Trie, lim Limits) *Builder {
	lim = lim.WithDefaults()
	return &Builder{
		page: page, stacks: stacks, lim: lim, graft: trie.NewGrafter(stacks, lim.Nodes),
		cellAt: map[string]int{}, touchAt: map[string]int{}, distAt: map[string]int{},
		functions: map[string]*functions{}, outcomes: map[string]int64{},
	}
}

// NewFlatBuilder returns an empty Builder for the traces of page without stacks and functions: all
// time with a stack is added to the root. This takes a fraction of the work and is enough for
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

// AddOutcome counts page views by their [Outcome].
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

// fitting returns the labels under which to count l, given the available room.
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

// foldTouch returns a smaller set of cells in which to count a page view if there are too many
// touches. It returns nil otherwise, or if the set cannot become smaller.
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

// graftFrom makes t the source of nodes. Once the text of the stack table reaches its limit, it
// accepts no more.
func (b *Builder) graftFrom(t *trie.Trie) {
	b.chunk.set = nil
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
		all := int64(0)
		for _, s := range v.sums {
			all += s.time
		}
		if !b.flat {
			b.functionsOf(v.release).views.Add(all, v.sign)
		}
		for _, f := range v.frames {
			beside := all
			if b.stacks.FrameOf(f).Own() {
				beside = 0 // all time is the script's
			}
			b.function(v.release, f).add(v.self[f], v.total[f], beside, v.sign)
		}
	}
	b.relieve()
}

// population returns how many page views a view with this sampling share represents, in
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

// Record returns the sums as a record for the stack table of b, see [Builder.Stacks].
func (b *Builder) Record() (*Record, error) { return Decode(b.Encode(Whole, false), b.stacks) }

// Stacks returns the stack table.
func (b *Builder) Stacks() *trie.Trie { return b.stacks }
