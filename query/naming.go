package query

import (
	"slices"

	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// naming returns what names the frames of an answer, nil if they stay as browsers said them.
func (l Local) naming(sel Selection) *naming.Naming {
	if sel.Minified {
		return nil
	}
	return l.Symbols.Begin()
}

// forNaming returns s with releases kept apart if names depend on them.
func (s Selection) forNaming(n *naming.Naming) Selection {
	if n.ByRelease() && !slices.Contains(s.GroupBy, keyRelease) {
		s.GroupBy = append(slices.Clip(s.GroupBy), keyRelease)
	}
	return s
}

// named names the frames of an answer to s.forNaming(n).
func (s Selection) named(r Result, n *naming.Naming) Result {
	if n == nil {
		r.Profile = withoutDebugIDs(r.Profile)
		return r
	}
	seeProfile(n, r.Profile)
	r.names = n.Names()
	r.Profile = nameProfile(r.names, n.ByRelease(), r.Profile, slices.Contains(s.GroupBy, keyRelease))
	r.Stats.Names = r.names.Coverage()
	if r.Stats.Names.Bounded > 0 {
		boundReach(r.Profile)
	}
	return r
}

// nameTimelines names the frames of timelines, which have no releases.
func nameTimelines(lines []*trie.Timeline, symbols *naming.Symbolizer) *naming.Names {
	n := symbols.Begin()
	if n == nil {
		return nil
	}
	for _, line := range lines {
		for f := range line.Frames {
			n.See("", line.FrameOf(trie.FrameID(f)), 0)
		}
	}
	names := n.Names()
	for i, line := range lines {
		lines[i] = line.Rewrite(func(f trie.Frame) trie.Frame { return names.Of("", f) }, false)
	}
	return names
}

// NameProfile names the frames of a profile that has no releases, such as that of a file.
func NameProfile(p *trie.Profile, symbols *naming.Symbolizer) (*trie.Profile, *naming.Names) {
	n := symbols.Begin()
	if n == nil {
		return withoutDebugIDs(p), nil
	}
	seeProfile(n, p)
	names := n.Names()
	p = renamed(p, "", names)
	if names.Coverage().Bounded > 0 {
		boundReach(p)
	}
	return p, names
}

// seeProfile shows all frames of p to n. Where names depend on releases, p is grouped by them.
func seeProfile(n *naming.Naming, p *trie.Profile) {
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
			flat[node].Reach |= 1 // it is there
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
	return l.Value(keyRelease)
}

// nameProfile returns p with the names of its frames. Where these depend on releases, the groups
// of each are named by themselves, and are put together again unless releases were asked for.
func nameProfile(names *naming.Names, byRelease bool, p *trie.Profile, keepReleases bool) *trie.Profile {
	if names == nil {
		return withoutDebugIDs(p)
	}
	if !byRelease {
		return renamed(p, "", names)
	}
	groups := map[string][]trie.Group{}
	for _, g := range p.Groups {
		release := g.Labels.Value(keyRelease)
		if !keepReleases {
			g.Labels = slices.DeleteFunc(slices.Clone(g.Labels), func(l trie.Label) bool { return l.Key == keyRelease })
		}
		groups[release] = append(groups[release], g)
	}
	m := trie.NewMerger()
	for release, of := range groups {
		part := &trie.Profile{Trie: p.Trie, Groups: of}
		m.AddProfile(renamed(part, release, names))
	}
	out := m.Profile()
	out.Views, out.Traces = p.Views, p.Traces
	return out
}

// withoutDebugIDs returns p with frames as browsers said them, but for what [naming.Names.Of]
// takes off those that it does not name.
func withoutDebugIDs(p *trie.Profile) *trie.Profile {
	for i := range p.Frames {
		if _, id := trie.CutDebugID(p.Strings[p.Frames[i].Resource]); id != "" {
			return renamed(p, "", nil)
		}
	}
	return p
}

// renamed returns a profile of one release with the names of its frames. Mostly each frame gets a
// name of its own, and then nothing but the names has to be made.
func renamed(p *trie.Profile, release string, names *naming.Names) *trie.Profile {
	rename := func(f trie.Frame) trie.Frame { return names.Of(release, f) }
	if out, ok := p.Rename(rename); ok {
		return out
	}
	return p.Coalesce(rename)
}

// releasedFrame is a function as browsers of a release said it.
type releasedFrame struct {
	release string
	trie.Frame
}

// functionSums are how the times of functions spread over page views, by release where names
// depend on it.
type functionSums map[releasedFrame]*rollup.Function

// spreads are how the times of functions spread over page views, by what they are called.
type spreads map[trie.Frame]*rollup.Function

// functionSize is about how many bytes a function takes, with a histogram of some buckets.
const functionSize = 400

// size returns about how many bytes s takes.
func (s functionSums) size() int { return len(s) * functionSize }

// add adds the functions of a release, whose frames are those of stacks.
func (s functionSums) add(of *rollup.Functions, stacks *trie.Trie, byRelease bool) {
	key := releasedFrame{}
	if byRelease {
		key.release = of.Release
	}
	for k := range of.Of {
		key.Frame = stacks.FrameOf(of.Of[k].Frame)
		if s[key] == nil {
			s[key] = &rollup.Function{}
		}
		s[key].AddAll(&of.Of[k])
	}
}

// see shows all functions to n, with their self times unless n gets these from a profile.
func (s functionSums) see(n *naming.Naming, weighed bool) {
	if n == nil {
		return
	}
	for f, x := range s {
		self := x.Self.Sum
		if weighed {
			self = 0
		}
		n.See(f.release, f.Frame, self)
	}
}

// named returns the functions by what they are called. A page view is of one release, so that
// one function of several releases counts it once; see [naming.Coverage.Bounded] for those
// that are several in one.
func (s functionSums) named(names *naming.Names) spreads {
	out := make(spreads, len(s))
	for f, x := range s {
		frame := names.Of(f.release, f.Frame)
		if out[frame] == nil {
			out[frame] = &rollup.Function{}
		}
		out[frame].AddAll(x)
	}
	return out
}
