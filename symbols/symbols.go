// Package symbols names the functions of minified scripts as their authors did.
//
// A [Table] lists the functions of one script by the places where V8 says that they begin,
// each with the function of the sources that it was made of. A table is all that is ever
// needed of a source map to read profiles: profilers say where a function begins, and not
// where in it they found it. Tables hold names and paths, and no code.
package symbols

import (
	"cmp"
	"slices"
)

// Table lists the functions of one script. It does not change once it is made.
type Table struct {
	Script  [32]byte // SHA-256 of the script
	Map     [32]byte // SHA-256 of the map
	DebugID string   // of ECMA-426, in lower case; "" if script and map have none
	Sources []Source // of which something is left in the script
	// Functions are sorted by line and column, no two of which begin at one place.
	Functions []Function

	places []uint64 // of Functions: what is searched lies close together; nil if nobody made it
}

// Source is a file that a script was built of.
type Source struct {
	Name    string // normalised, see [SourceName]
	Version string // of the package that it is of, where its path says it; "" if not known
	Ignored bool   // in the ignoreList of the map: code that its authors do not call theirs
}

// Function is a function of a script and the one of the sources that it was made of.
type Function struct {
	// Line and Column say where V8 says that the function begins, from 1, columns in UTF-16
	// units: at the parenthesis of the parameters, for an arrow function at its beginning.
	Line, Column uint32
	Minified     string // the name that V8 gives it in the script
	// Name is readable: Class.method, get Class.x, new Class, Board/useEffect(). It is
	// Minified if nothing better was found.
	Name   string
	Source int32 // index in [Table.Sources], -1 if not known
	// SourceLine and SourceColumn say where it begins in its source, counted as Line and
	// Column are; 0 if not known.
	SourceLine, SourceColumn uint32
	// Key is equal for one function in all builds in which its file, its name and those
	// around it are the same; 0 if the function is not known.
	Key uint64
	// Text is a hash of the text of the original, white space aside: it tells functions
	// apart that changed their key. 0 if the original is not known.
	Text uint32
	Way  Way
}

// Way says how a function was found.
type Way uint8

// The ways, in the order in which they are tried.
const (
	Kept    Way = iota // not found: the minified name stays
	Start              // a mapping leads to its beginning
	Body               // most of its body is the original's, and the text before it leads there
	Moved              // the same, but a minifier moved it to where it is called
	Order              // what was left between two mappings, in order
	Named              // the map names what it is bound to
	Module             // the wrapper that a bundler puts around a file
	EndWays            // the number of ways
)

func (w Way) String() string {
	return [...]string{"kept", "start", "body", "moved", "order", "named", "module"}[w]
}

// Find returns the function that begins at a place, or nil.
func (t *Table) Find(line, column uint32) *Function {
	if i := t.Index(line, column); i >= 0 {
		return &t.Functions[i]
	}
	return nil
}

// Index returns the number of the function that begins at a place, or -1.
func (t *Table) Index(line, column uint32) int {
	i, ok := 0, false
	if t.places != nil {
		i, ok = slices.BinarySearch(t.places, place(line, column))
	} else {
		i, ok = slices.BinarySearchFunc(t.Functions, place(line, column), func(f Function, p uint64) int {
			return cmp.Compare(place(f.Line, f.Column), p)
		})
	}
	if !ok {
		return -1
	}
	return i
}

// index makes Find fast. The functions must not change any more.
func (t *Table) index() {
	t.places = make([]uint64, len(t.Functions))
	for i := range t.Functions {
		t.places[i] = place(t.Functions[i].Line, t.Functions[i].Column)
	}
}

func place(line, column uint32) uint64 { return uint64(line)<<32 | uint64(column) }

// Found returns how many functions were found in each way.
func (t *Table) Found() (n [EndWays]int) {
	for i := range t.Functions {
		n[t.Functions[i].Way]++
	}
	return n
}
