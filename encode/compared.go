package encode

import (
	"cmp"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// weighted is a trie and what its nodes weigh in a profile and, if there is one, in the
// profile that it is compared with. All slices are by node; times are µs.
type weighted struct {
	*trie.Trie
	self, total         []trie.Weight
	baseSelf, baseTotal []trie.Weight // nil without a base
}

// weigh returns the weights of p and of o.Base, summed over all groups. Neither of them
// is changed.
func weigh(p *trie.Profile, o Output) weighted {
	if o.Base == nil {
		self, _ := p.Flat()
		return weighted{Trie: &p.Trie, self: self, total: p.Totals(self)}
	}
	t := trie.New()
	a, b := t.AddAll(&p.Trie), t.AddAll(&o.Base.Trie)
	w := weighted{Trie: t, self: moved(p, a, len(t.Nodes)), baseSelf: moved(o.Base, b, len(t.Nodes))}
	w.total, w.baseTotal = t.Totals(w.self), t.Totals(w.baseSelf)
	return w
}

// moved returns the weights of p by the numbers that its nodes have in a trie of n nodes.
func moved(p *trie.Profile, to []trie.NodeID, n int) []trie.Weight {
	flat, _ := p.Flat()
	out := make([]trie.Weight, n)
	for i, w := range flat {
		at := &out[to[i]]
		at.Self, at.Samples, at.Reach = at.Self+w.Self, at.Samples+w.Samples, at.Reach+w.Reach
	}
	return out
}

// sum returns the self time of all nodes, in µs.
func sum(self []trie.Weight) int64 {
	var total int64
	for _, w := range self {
		total += w.Self
	}
	return total
}

// drawable returns self times without those below zero, which no chart can show as a
// width or as a stretch of time, and the totals of what is left, both in µs.
func (w weighted) drawable() (self, total []int64) {
	self, total = make([]int64, len(w.self)), make([]int64, len(w.self))
	for i, v := range w.self {
		self[i] = max(v.Self, 0)
		total[i] = self[i]
	}
	for i := len(w.Nodes) - 1; i > 0; i-- {
		total[w.Nodes[i].Parent] += total[i]
	}
	return self, total
}

// delta returns how much more self time node n has than in the base, in µs.
func (w weighted) delta(n trie.NodeID) int64 {
	if w.baseSelf == nil {
		return 0
	}
	return w.self[n].Self - w.baseSelf[n].Self
}

// change is what a function weighs in two profiles.
type change struct {
	trie.Function // in the profile that is written
	Base          trie.Function
}

// changes returns what each frame of either profile weighs, the largest change of self
// time first, be it more or less.
func changes(w weighted) []change {
	now, base := w.WeighFrames(w.self, w.total), w.WeighFrames(w.baseSelf, w.baseTotal)
	var out []change
	for i := range now {
		if !now[i].Weightless() || !base[i].Weightless() {
			out = append(out, change{now[i], base[i]})
		}
	}
	slices.SortFunc(out, func(a, b change) int {
		return cmp.Or(cmp.Compare(size(b.Self-b.Base.Self), size(a.Self-a.Base.Self)),
			cmp.Compare(size(b.Total-b.Base.Total), size(a.Total-a.Base.Total)),
			cmp.Compare(b.Self, a.Self), trie.CompareFrames(a.Frame, b.Frame))
	})
	return out
}

func size(v int64) int64 { return max(v, -v) }
