// Package edits finds the functions that were edited between two builds. It needs only their tables
// of symbols: for each function, a table has a hash of its text, a hash of its own text without
// nested functions, and a hash of its code in the script.
//
// A function that the bundler dropped or inlined is in no script, and thus in no table: if a
// function becomes inlined, it counts as removed. Changes of comments and white space are not
// edits.
package edits

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Kind is how a function differs between two builds.
type Kind string

const (
	Unchanged Kind = "unchanged"
	Edited    Kind = "edited"
	Around    Kind = "around" // unchanged itself, but a nested function was edited
	Added     Kind = "added"
	Removed   Kind = "removed"
	Moved     Kind = "moved" // to another file, or renamed, but otherwise unchanged
	// Recompiled is a function with the same source but different code, such as after a change of a
	// build constant, or of a function that the minifier inlines into it.
	Recompiled Kind = "recompiled"
)

// IsEdit reports whether the code of the function itself differs, not only its place or the
// functions within it.
func (k Kind) IsEdit() bool { return k == Edited || k == Added || k == Removed || k == Recompiled }

// Edit is the change of a function between two builds.
type Edit struct {
	Kind   Kind
	Before *Function // nil if it was added
	After  *Function // nil if it was removed
}

// Function is a function of a build.
type Function struct {
	*symbols.Function
	Source symbols.Source

	codes []uint32 // hashes of its code in each script, if known
}

// Frame returns the function as a frame of profiles of its build.
func (f *Function) Frame() trie.Frame {
	return trie.Frame{Name: f.Name, Resource: f.Source.Name, Line: f.SourceLine, Column: f.SourceColumn}
}

// Newest returns the function after the change, or before it if it was removed.
func (e *Edit) Newest() *Function { return cmp.Or(e.After, e.Before) }

// Result contains the changes of all functions of a build.
type Result struct {
	// Edits has each function of both builds, sorted by file and place. Removed functions are
	// sorted by their old place.
	Edits []Edit
	// Unknown is the number of functions of the new build without a known text. They may be edited.
	Unknown int
}

// Between compares the functions of two builds, given the tables of all their scripts.
func Between(before, after []*symbols.Table) Result {
	a, _ := functions(before)
	b, unknown := functions(after)
	out := Result{Unknown: unknown}
	var gone, fresh []*Function
	for path, old := range a {
		pairs := pair(old, b[path])
		for _, p := range pairs {
			out.Edits = append(out.Edits, Edit{kindOf(p.Before, p.After), p.Before, p.After})
		}
		gone = append(gone, left(old, pairs, Edit.before)...)
		fresh = append(fresh, left(b[path], pairs, Edit.after)...)
	}
	for path, young := range b {
		if a[path] == nil {
			fresh = append(fresh, young...)
		}
	}
	sortFunctions(gone)
	sortFunctions(fresh)
	moved := findMoved(gone, fresh)
	out.Edits = append(out.Edits, moved...)
	for _, f := range left(gone, moved, Edit.before) {
		out.Edits = append(out.Edits, Edit{Removed, f, nil})
	}
	for _, f := range left(fresh, moved, Edit.after) {
		out.Edits = append(out.Edits, Edit{Added, nil, f})
	}
	slices.SortFunc(out.Edits, func(x, y Edit) int {
		return cmp.Or(compareFunctions(x.Newest(), y.Newest()), strings.Compare(string(x.Kind), string(y.Kind)))
	})
	return out
}

func (e Edit) before() *Function { return e.Before }
func (e Edit) after() *Function  { return e.After }

// kindOf returns the change of a function that exists in both builds.
func kindOf(a, b *Function) Kind {
	switch {
	case a.Own != b.Own:
		return Edited
	case a.Text != b.Text:
		return Around
	case recompiled(a, b):
		return Recompiled
	}
	return Unchanged
}

// recompiled reports whether the code of a function is known in both builds and is equal in no
// script.
func recompiled(a, b *Function) bool {
	return len(a.codes) > 0 && len(b.codes) > 0 && !slices.ContainsFunc(a.codes, func(c uint32) bool {
		return slices.Contains(b.codes, c)
	})
}

// functions returns the functions with a known text by path, in source order. A function in several
// scripts appears once.
func functions(tables []*symbols.Table) (byPath map[uint64][]*Function, unknown int) {
	byPath = map[uint64][]*Function{}
	type identity struct {
		key       uint64
		own, text uint32
	}
	seen := map[identity]*Function{}
	for _, t := range tables {
		for i := range t.Functions {
			f := &t.Functions[i]
			if f.Own == 0 || f.Source < 0 {
				unknown++
				continue
			}
			id := identity{f.Key, f.Own, f.Text}
			of := seen[id]
			if of == nil {
				of = &Function{Function: f, Source: t.Sources[f.Source]}
				seen[id] = of
				byPath[f.PathKey()] = append(byPath[f.PathKey()], of)
			}
			if f.Code != 0 {
				of.codes = append(of.codes, f.Code)
			}
		}
	}
	for _, of := range byPath {
		sortFunctions(of)
	}
	return byPath, unknown
}

func sortFunctions(of []*Function) { slices.SortFunc(of, compareFunctions) }

func compareFunctions(a, b *Function) int {
	return cmp.Or(strings.Compare(a.Source.Name, b.Source.Name), cmp.Compare(a.SourceLine, b.SourceLine),
		cmp.Compare(a.SourceColumn, b.SourceColumn), strings.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key),
		cmp.Compare(a.Own, b.Own))
}

func left(of []*Function, pairs []Edit, side func(Edit) *Function) (out []*Function) {
	paired := make(map[*Function]bool, len(pairs))
	for _, p := range pairs {
		paired[side(p)] = true
	}
	for _, f := range of {
		if !paired[f] {
			out = append(out, f)
		}
	}
	return out
}
