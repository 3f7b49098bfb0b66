package query

import (
	"slices"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// facet says which distributions answer a Selection. They are kept for all of a page view,
// for each feature and for each phase, by the labels that do not change during a view.
type facet struct {
	sel  selection.Selection
	part string // what distributions are confined to: KeyFeature, KeyPhase, or "" for neither
}

// facetOf returns the facet of sel, or an error if distributions are not kept for what it
// asks.
func facetOf(sel selection.Selection) (facet, error) {
	f := facet{sel: sel}
	confine := func(key string) error {
		if f.part != "" && f.part != key {
			return selection.Refuse("distributions are kept for features and for phases, and not for a feature in a phase: ask for one of them")
		}
		f.part = key
		return nil
	}
	if sel.Feature != "" {
		f.part = rollup.KeyFeature
	}
	need := func(key string) error {
		switch {
		case key == selection.KeyPage:
		case key == rollup.KeyFeature, key == rollup.KeyPhase:
			return confine(key)
		case key == rollup.KeyVisibility, !rollup.Wide.Has(key):
			return selection.Refuse("distributions are kept by page, feature, phase, release, environment, device, browser and connection, not by %s", key)
		}
		return nil
	}
	for _, key := range sel.GroupBy {
		if err := need(key); err != nil {
			return f, err
		}
	}
	for _, m := range sel.Where {
		if err := need(m.Key); err != nil {
			return f, err
		}
	}
	return f, f.checkPart()
}

// checkPart refuses conditions on the feature or phase that sums keep to and distributions
// can not: these are of all the time of one feature or phase, also of what is that of
// another feature, too.
func (f facet) checkPart() error {
	grouped, conditions := slices.Contains(f.sel.GroupBy, f.part), 0
	if f.sel.Feature != "" {
		conditions++
	}
	for _, m := range f.sel.Where {
		if f.part == "" || m.Key != f.part {
			continue
		}
		conditions++
		switch {
		case conditions > 1:
			return selection.Refuse("how page views spread is kept for each %s by itself: give one condition on the %s", m.Key, m.Key)
		case grouped && !m.Positive():
			return selection.Refuse("how page views spread is kept for each %s by itself, and not without the time of others: ask for %ss by = or =~, and not %s", m.Key, m.Key, m.Op)
		case !grouped && (m.Op != selection.Equal || m.Value == ""):
			return selection.Refuse("how page views spread over several %ss at once is not kept: ask for one as in label=%s=NAME, or group by %s", m.Key, m.Key, m.Key)
		}
	}
	return nil
}

// partOf returns the feature or phase that a distribution is confined to.
func partOf(d *rollup.Distribution) (part trie.Label) {
	for _, l := range d.Labels {
		if l.Key == rollup.KeyFeature || l.Key == rollup.KeyPhase {
			part = l
		}
	}
	return part
}

// takesBase reports whether the labels of a distribution, beside a feature or phase, are
// those that are asked for.
func (f facet) takesBase(d *rollup.Distribution) bool {
	for _, m := range f.sel.Where {
		if m.Key != selection.KeyPage && m.Key != rollup.KeyFeature && m.Key != rollup.KeyPhase && !m.Takes(d.Labels.Value(m.Key)) {
			return false
		}
	}
	return true
}

// takesPart reports whether a feature, a phase, or, as the zero label, all of a page view is
// what is asked for.
func (f facet) takesPart(part trie.Label) bool {
	if part.Key != f.part || f.sel.Feature != "" && part.Value != f.sel.Feature {
		return false
	}
	for _, m := range f.sel.Where {
		if m.Key == f.part && !m.Takes(part.Value) {
			return false
		}
	}
	return true
}

// takesFunctions reports whether the functions of a release are those of what is asked for.
// They are kept for all of the page, by release alone.
func (f facet) takesFunctions(release string) bool {
	for _, m := range f.sel.Where {
		if m.Key != selection.KeyPage && (m.Key != rollup.KeyRelease || !m.Takes(release)) {
			return false
		}
	}
	return f.part == ""
}

// takesAnyFunctions reports whether those of some release can be.
func (f facet) takesAnyFunctions() bool {
	onlyReleases := !slices.ContainsFunc(f.sel.Where, func(m selection.Matcher) bool { return m.Key != selection.KeyPage && m.Key != rollup.KeyRelease })
	return f.part == "" && onlyReleases
}

// group returns the labels of the group that a distribution of a page goes to.
func (f facet) group(page string, d *rollup.Distribution) (l trie.Labels) {
	for _, key := range f.sel.GroupBy {
		value := page
		if key != selection.KeyPage {
			value = d.Labels.Value(key)
		}
		if value != "" {
			l = append(l, trie.Label{Key: key, Value: value})
		}
	}
	return l
}
