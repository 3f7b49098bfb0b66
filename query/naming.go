package query

import (
	"slices"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// naming returns a Naming for the frames of a response, or nil if they keep the names that browsers
// reported.
func (l Local) naming(sel selection.Selection) *naming.Naming {
	if sel.Minified {
		return nil
	}
	return l.OfPage(sel.Page).Symbols.Begin()
}

// forNaming returns a selection that is grouped by release if names depend on releases.
func forNaming(s selection.Selection, n *naming.Naming) selection.Selection {
	if n.ByRelease() && !slices.Contains(s.GroupBy, rollup.KeyRelease) {
		s.GroupBy = append(slices.Clip(s.GroupBy), rollup.KeyRelease)
	}
	return s
}

// named names the frames of a response to forNaming(s, n).
func named(s selection.Selection, r Result, n *naming.Naming) Result {
	if n == nil {
		r.Profile = naming.WithoutDebugIDs(r.Profile)
		return r
	}
	n.SeeProfile(r.Profile)
	r.names = n.Names()
	r.Profile = r.names.Profile(r.Profile, n.ByRelease(), slices.Contains(s.GroupBy, rollup.KeyRelease))
	r.Stats.Names = r.names.Coverage()
	if r.Stats.Names.Bounded > 0 {
		r.Profile.BoundReach()
	}
	return r
}
