package naming

import (
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Problem says why the frames of a script are not named.
type Problem string

// The problems.
const (
	NoSymbols     Problem = "there are no symbols of it"
	OtherBuild    Problem = "the symbols are of another build"
	SeveralBuilds Problem = "symbols of several builds fit, which may name it differently"
	Damaged       Problem = "the symbols can not be read"
)

// allowedMisses is how many frames there must be for each one that a table does not have, if
// it is believed. Frames of the script that a table was made of are all in it. Of those of
// another build most are not; but up to the first change of a build they are all.
const allowedMisses = 50

// choose returns the table that the frames of a script are named by: that of the first library
// that has one. If none has, the problem is that of the first that knows the script.
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

// choose returns the table of a library. One fits if its functions begin where those of the
// frames do, and have the same names in the script: then it is of this build, or of one that is
// equal as far as can be seen.
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
		s.fits(found[0].table) // the last one was another
	}
	return found[0]
}

// fits reports whether the frames of a script are those of a table, and notes which function
// each is.
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

// agree reports whether tables give all frames the same names: then it does not matter which
// build it is.
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

// lookup returns the number of the function that a frame is of, -1 if the table does not have it
// there under that name.
func lookup(t *symbols.Table, f trie.Frame) int32 {
	i := t.Index(f.Line, f.Column)
	if i < 0 || t.Functions[i].Minified != f.Name && !memberName(&t.Functions[i], f) {
		return -1
	}
	return int32(i)
}

// memberName reports whether a function without a name is called as what it is assigned to:
// DevTools writes a.b for a.b = function, where the Self-Profiling API has no name.
func memberName(fn *symbols.Function, f trie.Frame) bool {
	return fn.Minified == "" && (strings.Contains(f.Name, ".") || f.Name == "(anonymous)")
}

// topLevel reports whether a frame is the code of a script that is in no function.
func topLevel(f trie.Frame) bool {
	return f.Line == 1 && f.Column == 1 && (f.Name == "" || f.Name == "(anonymous)")
}
