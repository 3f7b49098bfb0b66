package pyroscope

import (
	"context"

	"github.com/fieldtrie/fieldtrie/trie"

	querierv1 "github.com/fieldtrie/fieldtrie/proto/querier/v1"
)

// diff serves a flame graph of two selections.
func (a *backend) diff(ctx context.Context, r *querierv1.DiffRequest) (*querierv1.DiffResponse, error) {
	g, err := a.compared(ctx, r)
	if err != nil {
		return nil, err
	}
	left, right := g.total[0][trie.Root], g.total[1][trie.Root]
	return &querierv1.DiffResponse{Flamegraph: &querierv1.FlameGraphDiff{
		Names: g.used, Levels: g.wireLevels(), Total: left + right, MaxSelf: g.maxSelf, LeftTicks: left,
		RightTicks: right,
	}}, nil
}

// compared lays out both sides of a comparison. They are pruned together, so that every
// function is shown on both sides.
func (a *backend) compared(ctx context.Context, r *querierv1.DiffRequest) (*graph, error) {
	if l, r := r.GetLeft().GetProfileTypeID(), r.GetRight().GetProfileTypeID(); l != r {
		return nil, failure(invalidArgument, "both sides must have one profile type, and not %q and %q", l, r)
	}
	left, err := a.merged(ctx, r.GetLeft())
	if err != nil {
		return nil, err
	}
	right, err := a.merged(ctx, r.GetRight())
	if err != nil {
		return nil, err
	}
	both := newStacks(left.Profile, max(r.GetLeft().GetMaxNodes(), r.GetRight().GetMaxNodes()),
		left.of).beside(right.Profile)
	return both.layOut(), nil
}
