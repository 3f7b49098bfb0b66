package naming

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// TopLevel is the name of the code of a script outside all functions.
const TopLevel = "(top level)"

// Names holds the names of the frames of a response. It is immutable; nil names nothing.
type Names struct {
	byRelease bool
	scripts   map[scriptKey]*script
	order     []*script
	places    map[uint64]identity // by key
	coverage  Coverage

	findOrigins sync.Once
	origins     map[trie.Frame]Origin
}

// Origin is the origin of a named frame.
type Origin struct {
	Function *symbols.Function // nil for [TopLevel]
	Source   symbols.Source
	// Release is a release with the function at the place of the frame, and Repository is the
	// repository of its sources.
	Release, Repository string
	Owners              *owner.Codeowners // of the build; nil if it has none
}

// Coverage is the share of time in scripts that has names.
type Coverage struct {
	Self    int64     `json:"self_us"`           // of all frames in scripts
	Named   int64     `json:"named_us"`          // of named frames
	Builds  int       `json:"builds"`            // builds whose tables named frames
	Missing []Missing `json:"missing,omitempty"` // scripts without names, heaviest first
	More    int       `json:"more_missing,omitempty"`
	// Bounded counts functions that were several functions in one release: their page views are an
	// upper bound, not exact.
	Bounded int `json:"bounded,omitempty"`
}

// Missing is a script without names.
type Missing struct {
	Resource string  `json:"resource"`
	Release  string  `json:"release,omitempty"`
	Self     int64   `json:"self_us"`
	Problem  Problem `json:"problem"`
}

// listedMissing is the maximum number of scripts listed in a Coverage.
const listedMissing = 20

// Of returns the named form of a frame of a release. A frame without a name is returned unchanged,
// but without the debug ID of its resource, which differs in each build and means nothing to
// people.
func (n *Names) Of(release string, f trie.Frame) trie.Frame {
	resource := f.Resource
	f.Resource, _ = scripturl.CutDebugID(resource)
	if n == nil || resource == "" {
		return f
	}
	if !n.byRelease {
		release = ""
	}
	s := n.scripts[scriptKey{release, resource}]
	switch {
	case s == nil || s.chosen.table == nil:
		return f
	case topLevel(f):
		return s.top
	}
	if i := lookup(s.chosen.table, f); i >= 0 && s.named[i] != (trie.Frame{}) {
		return s.named[i]
	}
	return f
}

// Origin returns the origin of a frame returned by [Names.Of], and false if the frame has no name
// from symbols.
func (n *Names) Origin(named trie.Frame) (Origin, bool) {
	if n == nil {
		return Origin{}, false
	}
	n.findOrigins.Do(func() {
		n.origins = map[trie.Frame]Origin{}
		for _, s := range n.order {
			n.addOrigins(s)
		}
	})
	o, ok := n.origins[named]
	return o, ok
}

func (n *Names) addOrigins(s *script) {
	if s.chosen.table == nil {
		return
	}
	n.origins[s.top] = Origin{Release: s.chosen.releases[0], Repository: s.chosen.repository, Owners: s.chosen.owners}
	for i, named := range s.named {
		if _, ok := n.origins[named]; ok || named == (trie.Frame{}) {
			continue
		}
		p := n.placeOf(s, int32(i))
		o := Origin{Function: p.Function, Release: p.releases[0], Repository: p.repository, Owners: p.owners}
		if p.Source >= 0 {
			o.Source = p.table.Sources[p.Source]
		}
		n.origins[named] = o
	}
}

// placeOf returns the place of a function of a script in the newest build.
func (n *Names) placeOf(s *script, function int32) identity {
	fn := &s.chosen.table.Functions[function]
	if key, ok := s.keys[function]; ok {
		return n.places[key]
	}
	if fn.Key != 0 {
		return n.places[fn.Key]
	}
	return identity{place: place{s.chosen, fn}}
}

// Coverage returns the coverage of the frames.
func (n *Names) Coverage() *Coverage {
	if n == nil {
		return nil
	}
	return &n.coverage
}

// add names the frames of a script.
func (n *Names) add(s *script) {
	self := int64(0)
	for i := range s.frames {
		self += s.frames[i].self
	}
	n.coverage.Self += self
	if s.chosen.table == nil {
		n.coverage.Missing = append(n.coverage.Missing, Missing{s.resource, s.release, self, s.chosen.problem})
		return
	}
	s.named = make([]trie.Frame, len(s.chosen.table.Functions))
	s.top = trie.Frame{Name: TopLevel, Resource: stablePath(s.chosen.Path), Line: 1, Column: 1}
	for i := range s.frames {
		switch f := &s.frames[i]; {
		case topLevel(f.Frame):
			n.coverage.Named += f.self
		case f.function >= 0:
			if s.named[f.function] == (trie.Frame{}) {
				s.named[f.function] = n.placeOf(s, f.function).frame()
			}
			if s.chosen.table.Functions[f.function].Way != symbols.Kept {
				n.coverage.Named += f.self
			}
		}
	}
	s.frames = nil
}

// Add adds the coverage of another response or of another part of it; nil is ignored.
func (c *Coverage) Add(o *Coverage) {
	if o == nil {
		return
	}
	c.Self, c.Named, c.Builds, c.Bounded = c.Self+o.Self, c.Named+o.Named, c.Builds+o.Builds, c.Bounded+o.Bounded
	c.Missing, c.More = append(slices.Clip(c.Missing), o.Missing...), c.More+o.More
	c.list()
}

func (c *Coverage) finish(n *Names) {
	tables := map[string]bool{}
	for _, s := range n.order {
		if s.chosen.table != nil {
			tables[s.chosen.SHA256] = true
		}
	}
	c.Builds = len(tables)
	for _, x := range n.places {
		if x.several {
			c.Bounded++
		}
	}
	c.list()
}

// list sorts missing scripts and keeps those with the most self time.
func (c *Coverage) list() {
	slices.SortStableFunc(c.Missing, func(a, b Missing) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Release,
			b.Release))
	})
	if more := len(c.Missing) - listedMissing; more > 0 {
		c.Missing, c.More = c.Missing[:listedMissing], c.More+more
	}
}

// stablePath returns the path of a script without the parts that differ between builds.
func stablePath(path string) string {
	base := baseName(path)
	return path[:len(path)-len(base)] + unhashed(base)
}

// Lines describes the coverage in sentences, and lists missing scripts. It returns none if
// everything is named.
func (c *Coverage) Lines() []string {
	if c == nil || c.Self == 0 || c.Named == c.Self && len(c.Missing) == 0 {
		return nil
	}
	out := []string{fmt.Sprintf("%s of the time in scripts has names from sources, by the symbols of %s",
		share(c.Named, c.Self), counted(c.Builds, "script"))}
	for i, m := range c.Missing {
		if m.Self*1000 < c.Self && m.Problem == NoSymbols && i > 0 {
			break // less than 0.1 %
		}
		of := ""
		if m.Release != "" {
			of = " of release " + m.Release
		}
		out = append(out, fmt.Sprintf("%s of it is in %s%s: %s", share(m.Self, c.Self), m.Resource, of, m.Problem))
		if len(out) > maxLines {
			break
		}
	}
	return out
}

// maxLines is the maximum number of scripts listed by Lines.
const maxLines = 5

func share(part, all int64) string {
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(all))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
