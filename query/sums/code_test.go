package sums

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Evidence distinguishes the neighbours of an edited function from functions farther away.
// Functions of a script without symbols stay unknown, and functions of the browser are not part of
// a build.
func TestCodes(t *testing.T) {
	at := func(name string, line uint32) trie.Frame {
		return trie.Frame{Name: name, Resource: "src/a.ts", Line: line, Column: 1}
	}
	other := trie.Frame{Name: "track", Resource: "https://tag.example/t.js", Line: 1, Column: 1}
	native, sort := trie.Frame{Name: "(garbage collector)"}, trie.Frame{Name: "sort"}
	p := trie.NewProfile()
	for _, stack := range [][]trie.Frame{
		{at("main", 1), at("list", 10), at("format", 20), at("pad", 30), at("digits", 40)},
		{at("main", 1), native}, {at("main", 1), at("list", 10), at("format", 20), sort}, {other}, {at("format", 20)},
	} {
		node := trie.Root
		for _, f := range stack {
			node = p.Child(node, p.Intern(f))
		}
		p.Add(nil, node, trie.Weight{Self: 1})
	}
	function := func(name string, line uint32) *edits.Function {
		return &edits.Function{Function: &symbols.Function{Name: name, SourceLine: line, SourceColumn: 1},
			Source: symbols.Source{Name: "src/a.ts"}}
	}
	all := []edits.Edit{{Kind: edits.Edited, Before: function("format", 18), After: function("format", 20)}}
	for name, line := range map[string]uint32{"main": 1, "list": 10, "pad": 30, "digits": 40} {
		all = append(all, edits.Edit{Kind: edits.Unchanged, Before: function(name, line), After: function(name, line)})
	}
	want := map[trie.Frame]compare.Code{at("main", 1): compare.CodeSame, at("list", 10): compare.CodeCalls,
		at("format", 20): compare.CodeEdited,
		at("pad", 30):    compare.CodeCalled, at("digits", 40): compare.CodeSame, other: compare.CodeUnknown,
		native: compare.CodeSame, sort: compare.CodeCalled}
	for _, after := range []bool{false, true} {
		got := codes(p, all, after)
		for f, code := range want {
			if got[f] != code {
				t.Errorf("after %v: %s is %q, not %q", after, f, got[f], code)
			}
		}
	}
	old := trie.NewProfile()
	old.Add(nil, old.Child(trie.Root, old.Intern(at("format", 18))), trie.Weight{Self: 1})
	if got := codes(old, all, false)[at("format", 18)]; got != compare.CodeEdited {
		t.Errorf("at its previous place: %q", got)
	}
}
