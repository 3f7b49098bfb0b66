package naming

import (
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Problem is the reason why the frames of a script are not named.
type Problem string

const (
	NoSymbols     Problem = "no symbols were uploaded for it"
	OtherBuild    Problem = "the symbols belong to another build"
	SeveralBuilds Problem = "symbols of several builds match, and their names may differ"
	Damaged       Problem = "the symbols cannot be read"
)

// allowedMisses is the minimum number of frames for each frame that is missing in an accepted
// table. A table has all frames of its own script. It lacks most frames of another build, but none
// before the first difference between the builds.
const allowedMisses = 50

// choose returns the table that names the frames of a script: from the first library that has one.
// If there is none, it returns the problem of the first library that knows the script.
func (n *Naming) choose(s *script) chosen {
	problem := NoSymbols
	for _, from := range n.shelves {
		c := from.choose(s)
		if c.table != nil {
			return c
		}
		if problem == NoSymbols {
			problem = c.problem
		}
	}
	return chosen{problem: problem}
}

// choose returns the table of a library. A table fits if its functions begin at the places of the
// frames and have the same minified names. Then it belongs to this build, or to one that cannot be
// distinguished from it.
func (x *shelf) choose(s *script) chosen {
	problem := NoSymbols
	var found []chosen
	for _, c := range x.candidates(s.resource, s.release) {
		table, err := x.Table(c.SHA256)
		switch {
		case err != nil:
			problem = Damaged
		case !s.fits(table):
			if problem == NoSymbols {
				problem = OtherBuild
			}
		default:
			found = append(found, chosen{candidate: c, table: table})
		}
	}
	switch {
	case len(found) == 0:
		return chosen{problem: problem}
	case len(found) > 1 && !agree(found, s.frames):
		return chosen{problem: SeveralBuilds}
	case len(found) > 1:
		s.fits(found[0].table) // the last check was for another table
	}
	return found[0]
}

// fits reports whether a table has the frames of a script, and records the function of each.
func (s *script) fits(t *symbols.Table) bool {
	all, missed := 0, 0
	for i := range s.frames {
		f := &s.frames[i]
		f.function = -1
		if f.Line == 0 || topLevel(f.Frame) {
			continue
		}
		all++
		if f.function = lookup(t, f.Frame); f.function < 0 {
			missed++
		}
	}
	return missed*allowedMisses <= all
}

// agree reports whether all tables give the same names to all frames: then the build does not
// matter.
func agree(found []chosen, frames []seen) bool {
	for i := range frames {
		first := lookup(found[0].table, frames[i].Frame)
		for _, c := range found[1:] {
			other := lookup(c.table, frames[i].Frame)
			if (first < 0) != (other < 0) {
				return false
			}
			if first >= 0 {
				a, b := &found[0].table.Functions[first], &c.table.Functions[other]
				if a.Key != b.Key || a.Name != b.Name {
					return false
				}
			}
		}
	}
	return true
}

// lookup returns the index of a frame's function, or -1 if the table has no function with that name
// there.
func lookup(t *symbols.Table, f trie.Frame) int32 {
	i := t.Index(f.Line, f.Column)
	if i < 0 || t.Functions[i].Minified != f.Name && !memberName(&t.Functions[i], f) {
		return -1
	}
	return int32(i)
}

// memberName reports whether a frame has the name of the member to which a function without a name
// is assigned: for a.b = function, DevTools writes a.b, and the Self-Profiling API no name.
func memberName(fn *symbols.Function, f trie.Frame) bool {
	return fn.Minified == "" && (strings.Contains(f.Name, ".") || f.Name == "(anonymous)")
}

// topLevel reports whether a frame is code of a script outside all functions.
func topLevel(f trie.Frame) bool {
	return f.Line == 1 && f.Column == 1 && (f.Name == "" || f.Name == "(anonymous)")
}
