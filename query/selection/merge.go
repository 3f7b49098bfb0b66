package selection

import (
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Merge merges the parts of t that s selects, on one page, or on all pages if page is "".
func (s Selection) Merge(m *trie.Merger, t *trie.Trace, page string) {
	if !s.Matches(&t.Context) {
		return
	}
	m.AddTrace(t, func(slice trie.Slice) int {
		if page != "" && slice.Page != page || !s.Takes(slice, &t.Context) {
			return -1
		}
		return m.Group(s.labels(slice, &t.Context))
	})
}

// Regroup returns the groups of p that s selects and for which takes returns true, as one group
// unless s has GroupBy.
func (s Selection) Regroup(p *trie.Profile, takes func(trie.Labels) bool) *trie.Profile {
	out := &trie.Profile{Trie: p.Trie}
	all := true
	for _, g := range p.Groups {
		if !takes(g.Labels) || !s.TakesLabels(g.Labels) {
			all = false
			continue
		}
		out.Views, out.Traces = out.Views+g.Coverage.Views, out.Traces+g.Coverage.Traces
		if len(s.GroupBy) > 0 {
			out.Groups = append(out.Groups, g)
			continue
		}
		out.Group(nil).Coverage.Add(g.Coverage)
		for n, w := range g.Weights.All() {
			out.Add(nil, n, w)
		}
	}
	if len(out.Groups) == 0 {
		out.Trie = *trie.New() // drop stacks without time
	}
	if all { // otherwise the sum over groups is the best estimate
		out.Views, out.Traces = p.Views, p.Traces
	}
	return out
}

// TakesLabels reports whether s selects a group with labels l.
func (s Selection) TakesLabels(l trie.Labels) bool {
	for _, m := range s.Where {
		if !m.takesAny(slices.Collect(ValuesOf(l, m.Key))) {
			return false
		}
	}
	has := func(key, value string) bool {
		return value == "" || slices.Contains(l, trie.Label{Key: key, Value: value})
	}
	return has(KeyPage, s.Page) && has(rollup.KeyFeature, s.Feature)
}
