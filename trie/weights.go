package trie

import (
	"iter"
	"math"
)

// Weight is the weight of a node of a profile. All values are additive.
type Weight struct {
	Self    int64 // µs in which exactly this stack was on the main thread
	Samples int64 // samples of exactly this stack, bursts collapsed
	// Reach is the number of page views with this node in a sampled stack. Two chunks of one page
	// view count once if they are added one after another.
	Reach int64
}

// IsZero reports whether all values of w are 0. A negative value, as in a difference, is not zero.
func (w Weight) IsZero() bool { return w == Weight{} }

// MaxWeight bounds the absolute value of each weight in external input. Sums saturate, so a profile
// cannot overflow.
const MaxWeight = 1 << 56

// add returns a+b, saturated to the range of int64.
func add(a, b int64) int64 {
	c := a + b
	if (a > 0 && b > 0 && c < 0) || (a < 0 && b < 0 && c >= 0) {
		if a > 0 {
			return math.MaxInt64
		}
		return math.MinInt64
	}
	return c
}

func (w *Weight) add(o Weight) {
	w.Self = add(w.Self, o.Self)
	w.Samples = add(w.Samples, o.Samples)
	w.Reach = add(w.Reach, o.Reach)
}

func (w Weight) negate() Weight { return Weight{-w.Self, -w.Samples, -w.Reach} }

// Weights has the weights of a group by node. A profile of many pages has many groups with few
// nodes each, and the nodes of a page are close together, so it is a table of blocks, of which
// those without weight are not allocated. The zero value is empty.
type Weights struct {
	blocks []*weightBlock // node n is in block n / blockNodes
	made   int            // number of allocated blocks
}

// blockNodes is the number of nodes in a block.
const blockNodes = 32

type weightBlock struct {
	weights [blockNodes]Weight
	seen    uint32 // nodes at which a Merger counted the current page view
}

// Of returns the weight of n. It is zero if nothing was added to n.
func (w *Weights) Of(n NodeID) Weight {
	if i := int(n / blockNodes); i < len(w.blocks) && w.blocks[i] != nil {
		return w.blocks[i].weights[n%blockNodes]
	}
	return Weight{}
}

// Add adds v to the weight of n. Sums saturate at the range of int64. A zero v allocates nothing.
func (w *Weights) Add(n NodeID, v Weight) {
	if !v.IsZero() {
		w.block(n).weights[n%blockNodes].add(v)
	}
}

// block returns the block of n, and allocates it if it is missing.
func (w *Weights) block(n NodeID) *weightBlock {
	i := int(n / blockNodes)
	if i >= len(w.blocks) {
		w.blocks = extend(w.blocks, i+1)
	}
	if w.blocks[i] == nil {
		w.blocks[i] = new(weightBlock)
		w.made++
	}
	return w.blocks[i]
}

// All yields the nodes with a weight, in order.
func (w *Weights) All() iter.Seq2[NodeID, Weight] {
	return func(yield func(NodeID, Weight) bool) {
		for i, b := range w.blocks {
			if b == nil {
				continue
			}
			for k := range b.weights {
				if v := b.weights[k]; !v.IsZero() && !yield(NodeID(i*blockNodes+k), v) {
					return
				}
			}
		}
	}
}

// Cells returns the number of nodes for which w has allocated memory.
func (w *Weights) Cells() int { return w.made * blockNodes }

// equal reports whether w and o hold the same weights.
func (w *Weights) equal(o *Weights) bool {
	next, stop := iter.Pull2(o.All())
	defer stop()
	for n, v := range w.All() {
		if m, u, ok := next(); !ok || m != n || u != v {
			return false
		}
	}
	_, _, more := next()
	return !more
}
