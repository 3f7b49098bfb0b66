package api

import (
	"github.com/fieldtrie/fieldtrie/encode/columns"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

// Tree is a call tree in columns, for viewers, with its stats.
type Tree struct {
	columns.Tree
	// Base is the second side, if there is one.
	Base *TreeSide `json:"base,omitempty"`
	// Own is the time of the profiling script, in µs over all page views. All other values exclude
	// it.
	Own   int64       `json:"own_us"`
	Stats query.Stats `json:"stats"`
}

// TreeSide has the weights of the nodes of a Tree in another selection.
type TreeSide struct {
	columns.Side
	Own   int64       `json:"own_us"`
	Stats query.Stats `json:"stats"`
}

// treeOf returns the tree of a result, with a second side unless the other result has no profile;
// see [columns.Of].
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

// withoutOwn returns treeOf of both results without the profiling script, whose time is in own_us
// only.
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
