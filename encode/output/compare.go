package output

import (
	"cmp"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Weighted is a trie with the weights of its nodes in a profile and, if there is one,
// in the base that it is compared with. All slices are by node; times are µs.
type Weighted struct {
	*trie.Trie
	Self, Total         []trie.Weight
	BaseSelf, BaseTotal []trie.Weight // nil without a base
}

// Weigh returns the weights of p and of o.Base, summed over all groups. Neither of them
// is changed.
func Weigh(p *trie.Profile, o Options) Weighted {
	if o.Base == nil {
		self, _ := p.Flat()
		return Weighted{Trie: &p.Trie, Self: self, Total: p.Totals(self)}
	}
	t := trie.New()
	a, b := t.AddAll(&p.Trie), t.AddAll(&o.Base.Trie)
	w := Weighted{Trie: t, Self: moved(p, a, len(t.Nodes)), BaseSelf: moved(o.Base, b, len(t.Nodes))}
	w.Total, w.BaseTotal = t.Totals(w.Self), t.Totals(w.BaseSelf)
	return w
}

// moved returns the weights of p by the new numbers of its nodes in a trie of n nodes.
func moved(p *trie.Profile, to []trie.NodeID, n int) []trie.Weight {
	flat, _ := p.Flat()
	out := make([]trie.Weight, n)
	for i, w := range flat {
		at := &out[to[i]]
		at.Self, at.Samples, at.Reach = at.Self+w.Self, at.Samples+w.Samples, at.Reach+w.Reach
	}
	return out
}

// SelfSum returns the self time of all nodes, in µs.
func SelfSum(self []trie.Weight) int64 {
	var total int64
	for _, w := range self {
		total += w.Self
	}
	return total
}

// OwnSelf returns the self time of the profiling script in p, in µs.
func OwnSelf(p *trie.Profile) (sum int64) {
	for i := range p.Groups {
		for n, w := range p.Groups[i].Weights.All() {
			if p.Frame(n).Own() {
				sum += w.Self
			}
		}
	}
	return sum
}

// Drawable returns self times with negative ones left out, as no chart can draw them,
// and the totals of the rest, both in µs.
func (w Weighted) Drawable() (self, total []int64) {
	self, total = make([]int64, len(w.Self)), make([]int64, len(w.Self))
	for i, v := range w.Self {
		self[i] = max(v.Self, 0)
		total[i] = self[i]
	}
	for i := len(w.Nodes) - 1; i > 0; i-- {
		total[w.Nodes[i].Parent] += total[i]
	}
	return self, total
}

// Delta returns the self time of node n less its self time in the base, in µs.
func (w Weighted) Delta(n trie.NodeID) int64 {
	if w.BaseSelf == nil {
		return 0
	}
	return w.Self[n].Self - w.BaseSelf[n].Self
}

// Change is the weight of a function in two profiles.
type Change struct {
	trie.Function // in the profile that is written
	Base          trie.Function
}

// Changes returns the weights of each frame of either profile, the largest change of
// self time first, in either direction.
func Changes(w Weighted) []Change {
	now, base := w.WeighFrames(w.Self, w.Total), w.WeighFrames(w.BaseSelf, w.BaseTotal)
	var out []Change
	for i := range now {
		if !now[i].Weightless() || !base[i].Weightless() {
			out = append(out, Change{now[i], base[i]})
		}
	}
	slices.SortFunc(out, func(a, b Change) int {
		return cmp.Or(cmp.Compare(Size(b.Self-b.Base.Self), Size(a.Self-a.Base.Self)),
			cmp.Compare(Size(b.Total-b.Base.Total), Size(a.Total-a.Base.Total)),
			cmp.Compare(b.Self, a.Self), trie.CompareFrames(a.Frame, b.Frame))
	})
	return out
}

// Size returns the absolute value of v.
func Size(v int64) int64 { return max(v, -v) }

// Weight returns the weight by which nodes are compared, in µs.
func (t Weighted) Weight(n trie.NodeID) int64 {
	v := Size(t.Total[n].Self)
	if t.BaseTotal != nil {
		v = max(v, Size(t.BaseTotal[n].Self))
	}
	return v
}

// Heaviest marks the root, at most rows other nodes that weigh at least least µs, and
// the callers of each. Callers are as heavy, unless weights are negative.
func (t Weighted) Heaviest(rows int, least int64) []bool {
	var order []trie.NodeID
	for n := range t.Preorder() {
		if t.Weight(n) >= least {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b trie.NodeID) int { return cmp.Compare(t.Weight(b), t.Weight(a)) })
	keep := make([]bool, len(t.Nodes))
	keep[trie.Root] = true
	for _, n := range order[:min(rows, len(order))] {
		for ; !keep[n]; n = t.Nodes[n].Parent {
			keep[n] = true
		}
	}
	return keep
}

// WithoutOwn returns p without the profiling script, and the self time of that, µs. What the script
// called is as if its caller had called it.
func WithoutOwn(p *trie.Profile) (*trie.Profile, int64) {
	out := &trie.Profile{Trie: *trie.New(), Groups: make([]trie.Group, len(p.Groups)), Views: p.Views, Traces: p.Traces}
	nodeOf := make([]trie.NodeID, len(p.Nodes))
	for i, n := range p.Nodes[1:] {
		nodeOf[i+1] = nodeOf[n.Parent]
		if f := p.FrameOf(n.Frame); !f.Own() {
			nodeOf[i+1] = out.Child(nodeOf[n.Parent], out.Intern(f))
		}
	}
	for i := range p.Groups {
		from, to := &p.Groups[i], &out.Groups[i]
		to.Labels, to.Coverage = from.Labels, from.Coverage
		for n, w := range from.Weights.All() {
			if !p.Frame(n).Own() {
				to.Weights.Add(nodeOf[n], w)
			}
		}
	}
	return out, OwnSelf(p)
}
