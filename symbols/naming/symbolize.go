// Package naming names the frames of a response.
//
// The store holds frames as browsers reported them: a minified name, a script and a place. They are
// matched with functions of the sources at query time, by the tables uploaded until then. So
// symbols that arrive late also name old data, and wrong symbols do no lasting harm.
//
// A [Naming] first collects all frames of a response, because names depend on other frames: a table
// is accepted only if it fits the frames of its script, and a function at different places in
// different releases gets one place, the place in the newest release.
package naming

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Library provides the uploaded symbols. It must be safe for concurrent use.
type Library interface {
	// Uploads returns the uploads, newest first. The caller must not change them.
	Uploads() []symbols.Upload
	// Table returns the table of the script with a hash in hexadecimal.
	Table(sha256 string) (*symbols.Table, error)
	// Generation changes whenever results of Uploads or Table may change.
	Generation() string
}

// Symbolizer names frames with one or more libraries. It is safe for concurrent use; nil names
// nothing.
type Symbolizer struct {
	*indexed
	next *Symbolizer // see [Symbolizer.Before]
}

type indexed struct {
	library Library
	site    string // owner of the symbols; "" if all sites share them
	mu      sync.Mutex
	index   *index
	texts   *sync.Map // of tables of the index: *symbols.Table to *texts
}

// New returns a Symbolizer for all sites.
func New(library Library) *Symbolizer { return NewOfSite(library, "") }

// NewOfSite returns a Symbolizer for pages of a site.
func NewOfSite(library Library, site string) *Symbolizer {
	return &Symbolizer{indexed: &indexed{library: library, site: site}}
}

// NewOfSites returns a Symbolizer with the symbols of sites, by name. The symbols that all sites
// share have the name "" and are used last.
func NewOfSites[L Library](of map[string]L) (all *Symbolizer) {
	for _, name := range slices.Sorted(maps.Keys(of)) { // "" is first here, and thus last in the chain
		all = NewOfSite(of[name], name).Before(all)
	}
	return all
}

// Before returns a Symbolizer that names scripts like s, and scripts without names in s like next.
// Either may be nil.
func (s *Symbolizer) Before(next *Symbolizer) *Symbolizer {
	if s == nil {
		return next
	}
	return &Symbolizer{s.indexed, s.next.Before(next)}
}

// OfSites returns a Symbolizer with the symbols of these sites and the symbols that all sites
// share.
func (s *Symbolizer) OfSites(names ...string) *Symbolizer {
	switch {
	case s == nil:
		return nil
	case s.site != "" && !slices.Contains(names, s.site):
		return s.next.OfSites(names...)
	}
	return &Symbolizer{s.indexed, s.next.OfSites(names...)}
}

// Generation changes whenever names may change; it is "" for nil.
func (s *Symbolizer) Generation() string {
	if s == nil {
		return ""
	}
	return s.library.Generation() + s.next.Generation()
}

// Begin returns an empty Naming, or nil if there are no symbols.
func (s *Symbolizer) Begin() *Naming {
	if s == nil {
		return nil
	}
	n := &Naming{scripts: map[scriptKey]*script{}}
	for ; s != nil; s = s.next {
		if x, texts := s.current(); len(x.byBase) > 0 || len(x.byDebugID) > 0 {
			n.shelves = append(n.shelves, shelf{s.library, x})
			n.ambiguous = n.ambiguous || x.ambiguous
			n.texts = cmp.Or(n.texts, texts)
		}
	}
	if len(n.shelves) == 0 {
		return nil
	}
	return n
}

func (s *indexed) current() (*index, *sync.Map) {
	generation := s.library.Generation() // read before the uploads, so that the index is not stale
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index == nil || s.index.generation != generation {
		s.index, s.texts = newIndex(generation, s.library.Uploads()), &sync.Map{}
	}
	return s.index, s.texts
}

// Naming collects the frames of a response. It is not safe for concurrent use.
type Naming struct {
	shelves   []shelf // the first has precedence
	texts     *sync.Map
	ambiguous bool // some index is ambiguous
	scripts   map[scriptKey]*script
	last      *script // script of the previous frame
}

// shelf is a Library with its index.
type shelf struct {
	Library
	*index
}

type scriptKey struct{ release, resource string }

// script is a script with frames of a release.
type script struct {
	scriptKey
	frames []seen
	chosen chosen
	keys   map[int32]uint64 // functions whose key differs in the newest build
	named  []trie.Frame     // by function of the table
	top    trie.Frame       // name of its code outside functions
}

// seen is a frame that occurred.
type seen struct {
	trie.Frame
	self     int64 // µs
	function int32 // in the chosen table, or -1
}

// chosen is the table that names a script.
type chosen struct {
	*candidate
	table   *symbols.Table
	problem Problem // if there is no table
}

// ByRelease reports whether the release of frames matters, because two builds have scripts with the
// same name. Otherwise frames of all releases may be added under one release.
func (n *Naming) ByRelease() bool { return n != nil && n.ambiguous }

// See adds a frame with its self time in the response, in µs.
func (n *Naming) See(release string, f trie.Frame, self int64) {
	if f.Resource == "" {
		return
	}
	if !n.ambiguous {
		release = ""
	}
	key := scriptKey{release, f.Resource}
	if n.last == nil || n.last.scriptKey != key {
		n.last = n.scripts[key]
		if n.last == nil {
			n.last = &script{scriptKey: key}
			n.scripts[key] = n.last
		}
	}
	n.last.frames = append(n.last.frames, seen{f, self, -1})
}

// Names computes the names of all added frames.
func (n *Naming) Names() *Names {
	out := &Names{byRelease: n.ByRelease(), scripts: n.scripts}
	for _, s := range n.scripts {
		out.order = append(out.order, s)
	}
	slices.SortFunc(out.order, func(a, b *script) int {
		return cmp.Or(strings.Compare(a.resource, b.resource), strings.Compare(a.release, b.release))
	})
	functions := 0
	for _, s := range out.order {
		s.chosen = n.choose(s)
		functions += len(s.frames)
	}
	known, newest := make(map[uint64]identity, functions), newestSources(out.order)
	for _, s := range out.order {
		n.identify(s, known, newest)
	}
	out.places = known
	for _, s := range out.order {
		out.add(s)
	}
	out.coverage.finish(out)
	return out
}

// identity is a function across builds.
type identity struct {
	place        // in the newest build
	several bool // two functions of one release are mapped to it, so a page view may have had both
	gone    bool // the newest build has another function in its place, so the name must differ
}

// frame returns the function as a frame.
func (x identity) frame() trie.Frame {
	f := x.place.frame()
	if x.gone {
		f.Name += " (gone)"
	}
	return f
}

// identify records the places of the functions of a script.
func (n *Naming) identify(s *script, known map[uint64]identity, newest map[string]chosen) {
	if s.chosen.table == nil {
		return
	}
	for _, f := range s.frames {
		if f.function < 0 {
			continue
		}
		fn := &s.chosen.table.Functions[f.function]
		if fn.Key == 0 {
			continue
		}
		p := place{s.chosen, fn}
		key, gone := n.keyOf(s.chosen, fn, newest)
		if key != fn.Key {
			if s.keys == nil {
				s.keys = map[int32]uint64{}
			}
			s.keys[f.function] = key
		}
		old, ok := known[key]
		switch {
		case !ok:
			known[key] = identity{p, false, gone}
		case old.Function != fn:
			several := old.several || old.overlaps(p)
			if !p.before(old.place) {
				p = old.place
			}
			known[key] = identity{p, several, gone}
		}
	}
}

// place is a function of a table.
type place struct {
	chosen
	*symbols.Function
}

// overlaps reports whether some release has both functions.
func (p place) overlaps(q place) bool {
	return slices.ContainsFunc(p.releases, func(r string) bool { return slices.Contains(q.releases, r) })
}

// before reports whether p is preferred to q as the place of a function: p is in a newer build, or
// further up.
func (p place) before(q place) bool {
	return cmp.Or(cmp.Compare(p.rank, q.rank), cmp.Compare(p.SourceLine, q.SourceLine), cmp.Compare(p.SourceColumn,
		q.SourceColumn),
		strings.Compare(p.SHA256, q.SHA256), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column)) < 0
}

// frame returns the function as a frame. A function without a known source, such as code that a
// bundler added, gets its place in the script.
func (p place) frame() trie.Frame {
	if p.Source < 0 {
		return trie.Frame{Name: p.Name, Resource: stablePath(p.Path), Line: p.Line, Column: p.Column}
	}
	return trie.Frame{Name: p.Name, Resource: p.table.Sources[p.Source].Name, Line: p.SourceLine,
		Column: p.SourceColumn}
}
