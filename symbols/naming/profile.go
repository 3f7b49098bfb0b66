package naming

import (
	"slices"

	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// Profile names the frames of a profile without releases, such as one from a file.
func (s *Symbolizer) Profile(p *trie.Profile) (*trie.Profile, *Names) {
	n := s.Begin()
	if n == nil {
		return WithoutDebugIDs(p), nil
	}
	n.SeeProfile(p)
	names := n.Names()
	p = renamed(p, "", names)
	if names.Coverage().Bounded > 0 {
		p.BoundReach()
	}
	return p, names
}

// SeeProfile adds all frames of p to n. If names depend on releases, p must be grouped by release.
func (n *Naming) SeeProfile(p *trie.Profile) {
	byRelease := map[string][]trie.Weight{} // by node
	for i := range p.Groups {
		release := releaseOf(n.ByRelease(), p.Groups[i].Labels)
		flat := byRelease[release]
		if flat == nil {
			flat = make([]trie.Weight, len(p.Nodes))
			byRelease[release] = flat
		}
		for node, w := range p.Groups[i].Weights.All() {
			flat[node].Self += w.Self
			flat[node].Reach |= 1 // it exists
		}
	}
	for release, flat := range byRelease {
		self, used := make([]int64, len(p.Frames)), make([]bool, len(p.Frames))
		seen := make([]bool, len(p.Nodes))
		for i := len(p.Nodes) - 1; i > 0; i-- {
			if seen[i] = seen[i] || flat[i].Reach != 0; seen[i] {
				f := p.Nodes[i].Frame
				self[f] += flat[i].Self
				used[f], seen[p.Nodes[i].Parent] = true, true
			}
		}
		for f := range used {
			if used[f] {
				n.See(release, p.FrameOf(trie.FrameID(f)), self[f])
			}
		}
	}
}

func releaseOf(matters bool, l trie.Labels) string {
	if !matters {
		return ""
	}
	return l.Value(rollup.KeyRelease)
}

// Profile returns p with names. If names depend on releases, it names the groups of each release
// separately and merges them, unless keepReleases is set.
func (n *Names) Profile(p *trie.Profile, byRelease, keepReleases bool) *trie.Profile {
	if n == nil {
		return WithoutDebugIDs(p)
	}
	if !byRelease {
		return renamed(p, "", n)
	}
	groups := map[string][]trie.Group{}
	for _, g := range p.Groups {
		release := g.Labels.Value(rollup.KeyRelease)
		if !keepReleases {
			g.Labels = slices.DeleteFunc(slices.Clone(g.Labels), func(l trie.Label) bool {
				return l.Key == rollup.KeyRelease
			})
		}
		groups[release] = append(groups[release], g)
	}
	m := trie.NewMerger()
	for release, of := range groups {
		part := &trie.Profile{Trie: p.Trie, Groups: of}
		m.AddProfile(renamed(part, release, n))
	}
	out := m.Profile()
	out.Views, out.Traces = p.Views, p.Traces
	return out
}

// WithoutDebugIDs returns p with frames as reported by browsers, but without debug IDs, like
// unnamed frames of [Names.Of].
func WithoutDebugIDs(p *trie.Profile) *trie.Profile {
	for i := range p.Frames {
		if _, id := scripturl.CutDebugID(p.Strings[p.Frames[i].Resource]); id != "" {
			return renamed(p, "", nil)
		}
	}
	return p
}

// renamed returns a profile of one release with names. Usually each frame gets a different name, so
// only the names have to be replaced.
func renamed(p *trie.Profile, release string, names *Names) *trie.Profile {
	rename := func(f trie.Frame) trie.Frame { return names.Of(release, f) }
	if out, ok := p.Rename(rename); ok {
		return out
	}
	return p.Coalesce(rename)
}

// Finder returns a Finder of owners for named frames. If several names know a frame, the first
// applies. Elements of names may be nil.
func Finder(rules *owner.Rules, names ...*Names) *owner.Finder {
	if rules == nil {
		rules = owner.Default()
	}
	return owner.NewFinder(rules, func(f trie.Frame) owner.Origin {
		var o Origin
		ok := false
		for i := 0; i < len(names) && !ok; i++ {
			o, ok = names[i].Origin(f)
		}
		if !ok || o.Function == nil || o.Function.Source < 0 {
			return owner.Origin{}
		}
		return owner.Origin{Source: o.Source.Name, Version: o.Source.Version, Ignored: o.Source.Ignored,
			Teams: o.Owners}
	})
}
