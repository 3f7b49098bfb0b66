package sums

import (
	"slices"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Facet selects the distributions that answer a Selection. Distributions are stored for whole page
// views, for each feature and for each phase, by the labels that do not change during a view.
type Facet struct {
	Selection selection.Selection
	Part      string // what distributions are confined to: KeyFeature, KeyPhase, or "" for neither
}

// FacetOf returns the facet of sel, or an error if no distributions are stored for the selection.
func FacetOf(sel selection.Selection) (Facet, error) {
	f := Facet{Selection: sel}
	confine := func(key string) error {
		if f.Part != "" && f.Part != key {
			return selection.Refuse(
				"distributions are stored for features and for phases, but not for a feature within a phase: use " +
					"only one of them")
		}
		f.Part = key
		return nil
	}
	if sel.Feature != "" {
		f.Part = rollup.KeyFeature
	}
	need := func(key string) error {
		switch {
		case key == selection.KeyPage:
		case key == rollup.KeyFeature, key == rollup.KeyPhase:
			return confine(key)
		case key == rollup.KeyVisibility, !rollup.Wide.Has(key):
			return selection.Refuse(
				"distributions are stored by page, feature, phase, release, environment, device, browser and "+
					"connection, not by %s", key)
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

// checkPart returns an error for conditions on the feature or phase that only sums can answer. A
// distribution covers all the time of one feature or phase, including time that also belongs to
// another one.
func (f Facet) checkPart() error {
	grouped, conditions := slices.Contains(f.Selection.GroupBy, f.Part), 0
	if f.Selection.Feature != "" {
		conditions++
	}
	for _, m := range f.Selection.Where {
		if f.Part == "" || m.Key != f.Part {
			continue
		}
		conditions++
		switch {
		case conditions > 1:
			return selection.Refuse("distributions are stored separately for each %s: use only one condition on the %s",
				m.Key, m.Key)
		case grouped && !m.Positive():
			return selection.Refuse(
				"distributions are stored separately for each %s and cannot exclude others: select %ss with = or "+
					"=~, not %s", m.Key, m.Key, m.Op)
		case !grouped && (m.Op != selection.Equal || m.Value == ""):
			return selection.Refuse(
				"distributions are not stored for several %ss together: select one with label=%s=NAME, or group by %s",
				m.Key, m.Key, m.Key)
		}
	}
	return nil
}

// PartOf returns the feature or phase of a distribution.
func PartOf(d *rollup.Distribution) (part trie.Label) {
	for _, l := range d.Labels {
		if l.Key == rollup.KeyFeature || l.Key == rollup.KeyPhase {
			part = l
		}
	}
	return part
}

// TakesBase reports whether f selects the labels of a distribution, other than its feature or
// phase.
func (f Facet) TakesBase(d *rollup.Distribution) bool {
	for _, m := range f.Selection.Where {
		if m.Key != selection.KeyPage && m.Key != rollup.KeyFeature && m.Key != rollup.KeyPhase &&
			!m.Takes(d.Labels.Value(m.Key)) {
			return false
		}
	}
	return true
}

// TakesPart reports whether f selects a feature, a phase, or, for the zero label, whole page views.
func (f Facet) TakesPart(part trie.Label) bool {
	if part.Key != f.Part || f.Selection.Feature != "" && part.Value != f.Selection.Feature {
		return false
	}
	for _, m := range f.Selection.Where {
		if m.Key == f.Part && !m.Takes(part.Value) {
			return false
		}
	}
	return true
}

// TakesFunctions reports whether f selects the functions of a release. Functions are stored for
// whole page views, by release only.
func (f Facet) TakesFunctions(release string) bool {
	for _, m := range f.Selection.Where {
		if m.Key != selection.KeyPage && (m.Key != rollup.KeyRelease || !m.Takes(release)) {
			return false
		}
	}
	return f.Part == ""
}

// TakesAnyFunctions reports whether TakesFunctions can be true for any release.
func (f Facet) TakesAnyFunctions() bool {
	onlyReleases := !slices.ContainsFunc(f.Selection.Where, func(m selection.Matcher) bool {
		return m.Key != selection.KeyPage && m.Key != rollup.KeyRelease
	})
	return f.Part == "" && onlyReleases
}

// Group returns the labels of the group of d, in the order of GroupBy. It omits empty values.
func (f Facet) Group(page string, d *rollup.Distribution) (l trie.Labels) {
	for _, key := range f.Selection.GroupBy {
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
