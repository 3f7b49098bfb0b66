// Package symbols restores the original names of functions of minified scripts.
//
// A [Table] lists the functions of one script by the place where they begin according to V8, each
// with its original in the sources. Profiles need nothing else from a source map: profilers report
// where a function begins, not the position within it. Tables hold names and paths, but no code.
package symbols

import (
	"cmp"
	"slices"
)

// Table lists the functions of one script. It is immutable after it was made.
type Table struct {
	Script  [32]byte // SHA-256 of the script
	Map     [32]byte // SHA-256 of the map
	DebugID string   // as in ECMA-426, in lower case; "" if script and map have none
	Sources []Source // sources with code in the script
	// Functions are sorted by line and column. No two begin at the same place.
	Functions []Function

	places []uint64 // of Functions, packed for fast search; nil before index
}

// Source is a source file of a script.
type Source struct {
	Name    string // normalised, see [SourceName]
	Version string // of its package, if its path gives it; "" if unknown
	Ignored bool   // in the ignoreList of the map: third-party code
}

// Function is a function of a script, with its original in the sources.
type Function struct {
	// Line and Column are the place where the function begins according to V8, from 1, columns in
	// UTF-16 units: the parenthesis of the parameters, or the start of an arrow function.
	Line, Column uint32
	Minified     string // name in the script, as reported by V8
	// Name is the readable name: Class.method, get Class.x, new Class, Board/useEffect(). If no
	// better name was found, it is Minified.
	Name   string
	Source int32 // index in [Table.Sources], -1 if unknown
	// SourceLine and SourceColumn are its place in its source, counted like Line and
	// Column; 0 if unknown.
	SourceLine, SourceColumn uint32
	Way                      Way
	// Key is equal for a function in all builds in which its file, its name and its enclosing names
	// are the same; 0 if the function is unknown.
	Key uint64
	// Ordinal numbers the functions of one source with the same name and enclosing names, from 0.
	// It is part of Key.
	Ordinal uint32
	// Text is a hash of the original's text without comments, and without white space outside
	// literals. It distinguishes functions that exchanged keys. 0 if the original is unknown.
	Text uint32
	// Own is the hash of that text without nested functions and without its name: an edit of a
	// nested function does not change it. 0 if the original is unknown.
	Own uint32
	// Code is the hash of its text in the script from the parameters on, without nested functions.
	// Identifiers, names of properties and names of chunks are ignored, since they depend on the
	// rest of the build. It distinguishes builds of one source with different constants. 0 if the
	// original is unknown.
	Code uint32
}

// Way is the rule by which a function was found.
type Way uint8

// Ways, in the order in which they are tried.
const (
	Kept    Way = iota // not found: the minified name stays
	Start              // a mapping points to its beginning
	Body               // most of its body points to the original, and so does the text before it
	Moved              // the same, but a minifier moved it to its caller
	Order              // the rest between two mappings, in order
	Named              // the map has the name of its binding
	Module             // a bundler's wrapper around a file
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

// index makes Find fast. The functions must not change afterwards.
func (t *Table) index() {
	t.places = make([]uint64, len(t.Functions))
	for i := range t.Functions {
		t.places[i] = place(t.Functions[i].Line, t.Functions[i].Column)
	}
}

func place(line, column uint32) uint64 { return uint64(line)<<32 | uint64(column) }

// Found returns how many functions each rule found.
func (t *Table) Found() (n [EndWays]int) {
	for i := range t.Functions {
		n[t.Functions[i].Way]++
	}
	return n
}
