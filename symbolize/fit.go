package symbolize

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

// choose returns the table that the frames of a script are named by. One fits if its functions
// begin where those of the frames do, and have the same names in the script: then it is of this
// build, or of one that is equal as far as can be seen.
func (n *Naming) choose(s *script) chosen {
	problem := NoSymbols
	var found []chosen
	for _, c := range n.index.candidates(s.resource, s.release) {
		table, err := n.library.Table(c.SHA256)
		switch {
		case err != nil:
			problem = Damaged
		case !fits(table, s.frames):
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
	}
	return found[0]
}

// fits reports whether frames are those of a table.
func fits(t *symbols.Table, frames map[trie.Frame]int64) bool {
	seen, missed := 0, 0
	for f := range frames {
		if f.Line == 0 || topLevel(f) {
			continue
		}
		if seen++; lookup(t, f) == nil {
			missed++
		}
	}
	return missed*allowedMisses <= seen
}

// agree reports whether tables give all frames the same names: then it does not matter which
// build it is.
func agree(found []chosen, frames map[trie.Frame]int64) bool {
	for f := range frames {
		first := lookup(found[0].table, f)
		for _, c := range found[1:] {
			other := lookup(c.table, f)
			if (first == nil) != (other == nil) || first != nil && (first.Key != other.Key || first.Name != other.Name) {
				return false
			}
		}
	}
	return true
}

// lookup returns the function that a frame is of, nil if the table does not have it there under
// that name.
func lookup(t *symbols.Table, f trie.Frame) *symbols.Function {
	fn := t.Find(f.Line, f.Column)
	if fn == nil || fn.Minified != f.Name && !memberName(fn, f) {
		return nil
	}
	return fn
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
