package symbolize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/owner"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/trie"
)

// TopLevel is the name of the code of a script that is in no function.
const TopLevel = "(top level)"

// Names say what the frames of an answer are called. They do not change; nil names nothing.
type Names struct {
	byRelease bool
	named     map[scriptFrame]trie.Frame
	origins   map[trie.Frame]Origin
	coverage  Coverage
}

// scriptFrame is a frame as browsers of a release said it.
type scriptFrame struct {
	release string
	trie.Frame
}

// Origin is where a named frame comes from.
type Origin struct {
	Function *symbols.Function // nil for [TopLevel]
	Source   symbols.Source
	// Release is one that has the function where its frame says, and Repository where that
	// build says its sources are.
	Release, Repository string
	Owners              *owner.Codeowners // of the build; nil if it has none
	Frames              int               // of the answer that have become this one
}

// Coverage says how much of the time of scripts has names.
type Coverage struct {
	Self    int64     `json:"self_us"`           // of all frames that are in scripts
	Named   int64     `json:"named_us"`          // of those that are named
	Builds  int       `json:"builds"`            // whose tables named them
	Missing []Missing `json:"missing,omitempty"` // scripts that are not named, the heaviest first
	More    int       `json:"more_missing,omitempty"`
	// Bounded is how many functions were several in one release: how many page views had them
	// is known at most, and not exactly.
	Bounded int `json:"bounded,omitempty"`

	tables  map[string]bool
	parts   map[trie.Frame][]*candidate // by named frame: the scripts that it is in
	several map[trie.Frame]bool
}

// Missing is a script that is not named.
type Missing struct {
	Resource string  `json:"resource"`
	Release  string  `json:"release,omitempty"`
	Self     int64   `json:"self_us"`
	Problem  Problem `json:"problem"`
}

// listedMissing is how many scripts a Coverage lists.
const listedMissing = 20

// Of returns what a frame of a release is called; itself, if it is not named.
func (n *Names) Of(release string, f trie.Frame) trie.Frame {
	if n == nil || f.Resource == "" {
		return f
	}
	if !n.byRelease {
		release = ""
	}
	if named, ok := n.named[scriptFrame{release, f}]; ok {
		return named
	}
	return f
}

// Origin returns where a frame that [Names.Of] returned comes from, and false if it is as the
// browser said it.
func (n *Names) Origin(named trie.Frame) (Origin, bool) {
	if n == nil {
		return Origin{}, false
	}
	o, ok := n.origins[named]
	return o, ok
}

// Coverage says how much is named.
func (n *Names) Coverage() *Coverage {
	if n == nil {
		return nil
	}
	return &n.coverage
}

// add names the frames of a script.
func (n *Names) add(s *script, newest map[uint64]place) {
	self := int64(0)
	for f, us := range s.frames {
		n.coverage.Self += us
		if s.chosen.table == nil {
			self += us
			continue
		}
		if topLevel(f) {
			n.put(s, f, trie.Frame{Name: TopLevel, Resource: stablePath(s.chosen.Path), Line: 1, Column: 1}, Origin{Release: s.chosen.releases[0]})
			n.coverage.Named += us
			continue
		}
		fn := lookup(s.chosen.table, f)
		if fn == nil {
			continue
		}
		p := place{s.chosen, fn}
		if fn.Key != 0 {
			p = newest[fn.Key]
		}
		origin := Origin{Function: p.Function}
		if p.Source >= 0 {
			origin.Source = p.table.Sources[p.Source]
		}
		if fn.Way != symbols.Kept {
			n.coverage.Named += us
		}
		origin.Release, origin.Repository, origin.Owners = p.releases[0], p.repository, p.owners
		n.put(s, f, p.frame(), origin)
	}
	n.coverage.count(s, self)
}

// put gives a frame of a script its name.
func (n *Names) put(s *script, f, named trie.Frame, origin Origin) {
	n.named[scriptFrame{s.release, f}] = named
	if old, ok := n.origins[named]; ok {
		origin = old
	}
	origin.Frames++
	n.origins[named] = origin
	n.coverage.overlap(named, s.chosen.candidate)
}

// overlap notes a named frame that two functions of one release have become: a page view may
// have had both.
func (c *Coverage) overlap(named trie.Frame, of *candidate) {
	if c.parts == nil {
		c.parts, c.several = map[trie.Frame][]*candidate{}, map[trie.Frame]bool{}
	}
	for _, other := range c.parts[named] {
		for _, release := range other.releases {
			if slices.Contains(of.releases, release) {
				c.several[named] = true
			}
		}
	}
	c.parts[named] = append(c.parts[named], of)
}

// count counts a script.
func (c *Coverage) count(s *script, self int64) {
	if s.chosen.table == nil {
		c.Missing = append(c.Missing, Missing{s.resource, s.release, self, s.chosen.problem})
		return
	}
	if c.tables == nil {
		c.tables = map[string]bool{}
	}
	c.tables[s.chosen.SHA256] = true
}

func (c *Coverage) finish() {
	c.Builds, c.Bounded = len(c.tables), len(c.several)
	c.tables, c.parts, c.several = nil, nil, nil
	slices.SortFunc(c.Missing, func(a, b Missing) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Release, b.Release))
	})
	if more := len(c.Missing) - listedMissing; more > 0 {
		c.Missing, c.More = c.Missing[:listedMissing], more
	}
}

func compareKeys(a, b scriptKey) int {
	return cmp.Or(strings.Compare(a.resource, b.resource), strings.Compare(a.release, b.release))
}

// stablePath returns the path of a script as it is in all builds.
func stablePath(path string) string {
	base := baseName(path)
	return path[:len(path)-len(base)] + unhashed(base)
}

// Lines say in words how much is named, and what is missing: nothing if all is named.
func (c *Coverage) Lines() []string {
	if c == nil || c.Self == 0 || c.Named == c.Self && len(c.Missing) == 0 {
		return nil
	}
	out := []string{fmt.Sprintf("%s of the time in scripts has the names of the sources, by the symbols of %s",
		share(c.Named, c.Self), counted(c.Builds, "script"))}
	for i, m := range c.Missing {
		if m.Self*1000 < c.Self && m.Problem == NoSymbols && i > 0 {
			break // less than a part in a thousand
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

// maxLines is how many scripts Lines names.
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
