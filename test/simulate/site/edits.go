package site

import (
	"math/rand/v2"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/compare"
)

// setCode sets the evidence from code for the functions of both sides, which belong to two
// releases.
func (s *Site) setCode(in *compare.Input, before, after string) {
	if s.plan.Edits == 0 {
		return
	}
	number := func(name string) int {
		return slices.IndexFunc(s.plan.Releases, func(r Release) bool { return r.Name == name })
	}
	a, b := number(before), number(after)
	edited := map[int]bool{}
	for i := min(a, b) + 1; i <= max(a, b); i++ {
		for _, f := range s.editedIn(i) {
			edited[f] = true
		}
	}
	for _, side := range []*compare.Side{&in.A, &in.B} {
		for i := range side.Functions {
			switch {
			case edited[i]:
				side.Functions[i].Code = compare.CodeEdited
			case a != b:
				side.Functions[i].Code = compare.CodeSame
			}
		}
	}
}

// editedIn returns the functions that a release edits.
func (s *Site) editedIn(release int) (out []int) {
	rng := rand.New(rand.NewPCG(s.plan.Seed, 100+uint64(release)))
	for range s.plan.Edits {
		out = append(out, rng.IntN(len(s.plan.Page.Functions)))
	}
	for _, e := range s.plan.Effects {
		if e.Release == s.plan.Releases[release].Name {
			out = append(out, e.Functions...)
			if e.To > 0 {
				out = append(out, e.To)
			}
		}
	}
	return out
}
