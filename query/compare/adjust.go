package compare

import (
	"fmt"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Adjust returns the call trees of both sides with the same adjustment as the means of [Compare]:
// the page views of A in the strata that both sides have, and B with A's traffic and browser
// versions. stratumOf returns the stratum of a group of page views from its labels; Adjust merges
// the groups. strata are the strata of the comparison, for the effects of browser versions. With
// too few page views, both trees are as measured.
func Adjust(a, b *trie.Profile, stratumOf func(trie.Labels) trie.Labels, strata []Stratum, o Options) (adjustedA,
	adjustedB *trie.Profile) {
	index := map[string]int{}
	var in Input
	stratum := func(g *trie.Group) int {
		l := stratumOf(g.Labels)
		key := fmt.Sprintf("%q", l)
		i, ok := index[key]
		if !ok {
			i = len(in.Strata)
			index[key], in.Strata = i, append(in.Strata, l)
			in.A.Views, in.B.Views = append(in.A.Views, 0), append(in.B.Views, 0)
		}
		return i
	}
	for i := range a.Groups {
		s := stratum(&a.Groups[i]) // extends the slice
		in.A.Views[s] += float64(a.Groups[i].Coverage.Views)
	}
	for i := range b.Groups {
		s := stratum(&b.Groups[i])
		in.B.Views[s] += float64(b.Groups[i].Coverage.Views)
	}
	c := newComparison(in, o.withDefaults())
	if !c.enough() {
		return a, b
	}
	effects := map[string]float64{}
	for _, s := range strata {
		effects[fmt.Sprint(s.Labels)] = s.Browser
	}
	effect := make([]float64, len(c.views)) // by cell; all strata of a cell have the same effect
	for s, cell := range c.cellOf {
		if cell >= 0 {
			effect[cell] = effects[fmt.Sprint(labelMap(in.Strata[s]))]
		}
	}
	views := int64(c.covered.a)
	adjusted := func(p *trie.Profile, factor func(cell int) float64) *trie.Profile {
		return p.Weigh(views, func(g *trie.Group) float64 {
			if cell := c.cellOf[stratum(g)]; cell >= 0 {
				return factor(cell)
			}
			return 0
		})
	}
	return adjusted(a, func(int) float64 {
		return 1
	}), adjusted(b, func(cell int) float64 { return ratio(c.views[cell].a, c.views[cell].b) * (1 - effect[cell]) })
}
