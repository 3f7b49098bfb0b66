package api

import (
	"github.com/fieldtrie/fieldtrie/encode/columns"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

// Tree is a call tree in columns, for viewers, and what it rests on.
type Tree struct {
	columns.Tree
	// Base is the second side, if there is one.
	Base *TreeSide `json:"base,omitempty"`
	// Own is the time of the profiling script where it is in no other number, µs over all page
	// views.
	Own   int64       `json:"own_us"`
	Stats query.Stats `json:"stats"`
}

// TreeSide is the weights of the nodes of a Tree in another selection.
type TreeSide struct {
	columns.Side
	Own   int64       `json:"own_us"`
	Stats query.Stats `json:"stats"`
}

// treeOf returns the tree of a result and, unless it has no profile, of another one; see
// [columns.Of].
func treeOf(a, b query.Result, root string, maxNodes int) (Tree, error) {
	tree, err := columns.Of(a.Profile, b.Profile, root, maxNodes)
	if err != nil {
		return Tree{}, selection.Refuse("parameter root: %w", err)
	}
	out := Tree{Tree: tree, Stats: a.Stats}
	if tree.Base != nil {
		out.Base = &TreeSide{Side: *tree.Base, Stats: b.Stats}
		out.Tree.Base = nil
	}
	return out, nil
}

// withoutOwn is treeOf with the time of the profiling script in own_us alone.
func withoutOwn(a, b query.Result, root string, maxNodes int) (Tree, error) {
	var own, baseOwn int64
	a.Profile, own = output.WithoutOwn(a.Profile)
	if b.Profile != nil {
		b.Profile, baseOwn = output.WithoutOwn(b.Profile)
	}
	tree, err := treeOf(a, b, root, maxNodes)
	if tree.Own = own; tree.Base != nil {
		tree.Base.Own = baseOwn
	}
	return tree, err
}
