package query

import (
	"context"
	"fmt"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/sums"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Sides returns the call trees of both sides of a comparison, with the means of [Source.Compare]: B
// is adjusted to A's traffic, and functions of A are at their places in B. Groups are joined.
// progress receives the number of traces read for a side; it may be nil.
func Sides(ctx context.Context, src Source, a, b selection.Selection, o compare.Options,
	progress func(uint64)) (resultA, resultB Result, err error) {
	a.GroupBy = []string{rollup.KeyBrowser, rollup.KeyDevice}
	if overPages(a, b) {
		a.GroupBy = []string{selection.KeyPage, rollup.KeyDevice}
	}
	b.GroupBy = a.GroupBy
	if resultB, err = src.Profile(ctx, b, progress); err != nil {
		return Result{}, Result{}, err
	}
	if resultA, err = src.Profile(ctx, a, progress); err != nil {
		return Result{}, Result{}, fmt.Errorf("the other side: %w", err)
	}
	kind := sums.KindOf
	if overPages(a, b) {
		kind = sums.PageKinds(resultA.Profile, resultB.Profile)
	}
	strata, err := strataOf(ctx, src, a, b, o)
	if err != nil {
		return Result{}, Result{}, fmt.Errorf("compare both sides: %w", err)
	}
	resultA.Profile, resultB.Profile = compare.Adjust(resultA.Profile, resultB.Profile, kind, strata, o)
	resultA.Profile = compare.Align(resultA.Profile, resultB.Profile)
	return resultA, resultB, nil
}

// strataOf returns the strata of a comparison, or nil if the sides cannot be compared.
func strataOf(ctx context.Context, src Source, a, b selection.Selection, o compare.Options) ([]compare.Stratum, error) {
	a.GroupBy, b.GroupBy = nil, nil
	if a.Only != "" || b.Only != "" {
		return nil, nil
	}
	for _, side := range []selection.Selection{a, b} {
		if _, err := sums.FacetOf(side); err != nil {
			return nil, nil
		}
	}
	o.Functions = 1
	compared, err := src.Compare(ctx, CompareQuery{A: a, B: b, Options: o, Brief: true})
	return compared.Strata, err
}
