package sums

import (
	"cmp"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// mostPages limits the pages with their own strata. All other pages share one stratum per device,
// because each stratum takes memory for each function.
const mostPages = 12

// restOfPages is the page label of the strata of all pages beyond mostPages.
const restOfPages = "(other pages)"

// otherPages returns the pages beyond mostPages: the pages with the fewest page views on both sides
// together.
func otherPages(views map[string]float64) map[string]bool {
	order := slices.SortedFunc(maps.Keys(views), func(a, b string) int {
		return cmp.Or(cmp.Compare(views[b], views[a]), cmp.Compare(a, b))
	})
	out := map[string]bool{}
	for _, page := range order[min(len(order), mostPages):] {
		out[page] = true
	}
	return out
}

// foldPages joins the strata of the pages beyond mostPages, on both sides.
func foldPages(a, b *Side) {
	views := map[string]float64{}
	for _, s := range []*Side{a, b} {
		for _, x := range s.strata {
			views[x.labels.Value(compare.KeyPage)] += float64(x.time.Count)
		}
	}
	other := otherPages(views)
	for _, s := range []*Side{a, b} {
		s.otherPages = other
		for key, x := range s.strata {
			if other[x.labels.Value(compare.KeyPage)] {
				delete(s.strata, key)
				s.stratum(inOther(x.labels)).add(x)
			}
		}
	}
}

// inOther returns the labels of the stratum for the pages beyond mostPages.
func inOther(l trie.Labels) trie.Labels {
	out := slices.Clone(l)
	for i := range out {
		if out[i].Key == compare.KeyPage {
			out[i].Value = restOfPages
		}
	}
	return out
}

// add adds the page views of another stratum, whose functions are named.
func (s *sideStratum) add(o *sideStratum) {
	s.time.AddAll(&o.time)
	for name, x := range o.features {
		if s.features[name] == nil {
			s.features[name] = &rollup.Spread{}
		}
		s.features[name].AddAll(x)
	}
	for version, n := range o.versions {
		s.versions[version] += n
	}
	for f, us := range o.self {
		s.self[f] += us
	}
	if o.functions != nil && s.functions == nil {
		s.functions = map[trie.Frame]compare.Amount{}
	}
	for f, x := range o.functions {
		s.functions[f] = s.functions[f].Plus(x)
	}
}

// PageKinds returns the strata of a comparison over all pages, for the groups of two call trees by
// page and device.
func PageKinds(a, b *trie.Profile) func(trie.Labels) trie.Labels {
	views := map[string]float64{}
	for _, p := range []*trie.Profile{a, b} {
		for i := range p.Groups {
			views[p.Groups[i].Labels.Value(compare.KeyPage)] += float64(p.Groups[i].Coverage.Views)
		}
	}
	other := otherPages(views)
	return func(l trie.Labels) trie.Labels {
		kind := pageKind(l.Value(compare.KeyPage), l)
		if other[l.Value(compare.KeyPage)] {
			return inOther(kind)
		}
		return kind
	}
}
