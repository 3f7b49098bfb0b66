// Package symbolize names the frames of an answer.
//
// What is stored is what browsers said: a minified name, a script and a place. Which function of
// the sources that is gets decided when somebody asks, by the tables that were uploaded until
// then. So symbols that come late name old data, too, and those that were wrong do no lasting
// harm.
//
// A [Naming] sees all frames of an answer first, as what one is called depends on the others: a
// table is believed only if it fits the frames of its script, and a function that stands
// elsewhere in each release gets one place, that in the newest of them.
package symbolize

import (
	"slices"
	"sync"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Library has what was uploaded. It is safe for concurrent use.
type Library interface {
	// Uploads are the newest first. Nobody may change them.
	Uploads() []symbols.Upload
	// Table returns the table of the script with a hash, in hexadecimal.
	Table(sha256 string) (*symbols.Table, error)
	// Generation is another text whenever Uploads or Table may answer something else.
	Generation() string
}

// Symbolizer names frames by a Library. It is safe for concurrent use; nil names nothing.
type Symbolizer struct {
	library Library
	mu      sync.Mutex
	index   *index
}

// New returns a Symbolizer.
func New(library Library) *Symbolizer { return &Symbolizer{library: library} }

// Generation changes whenever names may; it is "" for nil.
func (s *Symbolizer) Generation() string {
	if s == nil {
		return ""
	}
	return s.library.Generation()
}

// Begin returns a Naming that has seen nothing, or nil if there is nothing to name by.
func (s *Symbolizer) Begin() *Naming {
	if s == nil {
		return nil
	}
	x := s.current()
	if len(x.byBase) == 0 && len(x.byDebugID) == 0 {
		return nil
	}
	return &Naming{library: s.library, index: x, scripts: map[scriptKey]*script{}}
}

// current returns the index of what is uploaded now.
func (s *Symbolizer) current() *index {
	generation := s.library.Generation() // before what it stands for, so that the index is never too old
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index == nil || s.index.generation != generation {
		s.index = newIndex(generation, s.library.Uploads())
	}
	return s.index
}

// Naming collects the frames of an answer. It is for one goroutine.
type Naming struct {
	library Library
	index   *index
	scripts map[scriptKey]*script
}

type scriptKey struct{ release, resource string }

// script is one that frames of a release are in.
type script struct {
	scriptKey
	frames map[trie.Frame]int64 // self time, µs
	chosen chosen
}

// chosen is the table that a script is named by.
type chosen struct {
	*candidate
	table   *symbols.Table
	problem Problem // why there is none
}

// ByRelease reports whether the release of frames matters: two builds have scripts of one name.
// If it does not, frames of all releases may be seen as of one.
func (n *Naming) ByRelease() bool { return n != nil && n.index.ambiguous }

// See adds a frame, and how much self time (µs) it has in the answer.
func (n *Naming) See(release string, f trie.Frame, self int64) {
	if f.Resource == "" {
		return
	}
	if !n.index.ambiguous {
		release = ""
	}
	key := scriptKey{release, f.Resource}
	s := n.scripts[key]
	if s == nil {
		s = &script{scriptKey: key, frames: map[trie.Frame]int64{}}
		n.scripts[key] = s
	}
	s.frames[f] += self
}

// Names decides what the frames that were seen are called.
func (n *Naming) Names() *Names {
	out := &Names{byRelease: n.ByRelease(), named: map[scriptFrame]trie.Frame{}, origins: map[trie.Frame]Origin{}}
	scripts := make([]*script, 0, len(n.scripts))
	for _, s := range n.scripts {
		scripts = append(scripts, s)
	}
	slices.SortFunc(scripts, func(a, b *script) int { return compareKeys(a.scriptKey, b.scriptKey) })
	newest := map[uint64]place{}
	for _, s := range scripts {
		s.chosen = n.choose(s)
		if s.chosen.table == nil {
			continue
		}
		for f := range s.frames {
			if fn := lookup(s.chosen.table, f); fn != nil && fn.Key != 0 {
				p := place{s.chosen, fn}
				if old, ok := newest[fn.Key]; !ok || p.before(old) {
					newest[fn.Key] = p
				}
			}
		}
	}
	for _, s := range scripts {
		out.add(s, newest)
	}
	out.coverage.finish()
	return out
}

// place is a function of a table.
type place struct {
	chosen
	*symbols.Function
}

// before reports whether p says where a function stands rather than q: it is of a newer build,
// or stands further up.
func (p place) before(q place) bool {
	if p.rank != q.rank {
		return p.rank < q.rank
	}
	if p.SourceLine != q.SourceLine {
		return p.SourceLine < q.SourceLine
	}
	if p.SourceColumn != q.SourceColumn {
		return p.SourceColumn < q.SourceColumn
	}
	return p.SHA256 < q.SHA256 || p.SHA256 == q.SHA256 && (p.Line < q.Line || p.Line == q.Line && p.Column < q.Column)
}

// frame returns the function as a frame. One whose source is not known, as code that a bundler
// adds, is where it is in the script.
func (p place) frame() trie.Frame {
	if p.Source < 0 {
		return trie.Frame{Name: p.Name, Resource: stablePath(p.Path), Line: p.Line, Column: p.Column}
	}
	return trie.Frame{Name: p.Name, Resource: p.table.Sources[p.Source].Name, Line: p.SourceLine, Column: p.SourceColumn}
}
