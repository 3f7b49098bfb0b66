package sums

import (
	"math"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// ReleasedFrame is a function as browsers of a release said it.
type ReleasedFrame struct {
	Release string
	trie.Frame
}

// Functions are how the times of functions spread over page views, by release where names
// depend on it.
type Functions struct {
	of map[ReleasedFrame]*rollup.Function
	// Views is how all time of the page views varies.
	Views rollup.Moments
}

func NewFunctions() *Functions {
	return &Functions{of: map[ReleasedFrame]*rollup.Function{}}
}

// Spreads are how the times of functions spread over page views, by what they are called.
type Spreads map[trie.Frame]*rollup.Function

// functionSize is about how many bytes a function takes, with a histogram of some buckets.
const functionSize = 400

// Size returns about how many bytes s takes.
func (s *Functions) Size() int { return len(s.of) * functionSize }

// Add adds the functions of a release, whose frames are those of stacks.
func (s *Functions) Add(of *rollup.Functions, stacks *trie.Trie, byRelease bool) {
	key := ReleasedFrame{}
	if byRelease {
		key.Release = of.Release
	}
	for k := range of.Of {
		key.Frame = stacks.FrameOf(of.Of[k].Frame)
		if s.of[key] == nil {
			s.of[key] = &rollup.Function{}
		}
		s.of[key].AddAll(&of.Of[k])
	}
	s.Views.AddAll(of.Views)
}

// See shows all functions to n, with their self times unless n gets these from a profile.
func (s *Functions) See(n *naming.Naming, weighed bool) {
	if n == nil {
		return
	}
	for f, x := range s.of {
		self := x.Self.Sum
		if weighed {
			self = 0
		}
		n.See(f.Release, f.Frame, self)
	}
}

// Named returns the functions by what they are called. A page view is of one release, so that
// one function of several releases counts it once; see [naming.Coverage.Bounded] for those
// that are several in one.
func (s *Functions) Named(names *naming.Names) Spreads {
	out := make(Spreads, len(s.of))
	for f, x := range s.of {
		frame := names.Of(f.Release, f.Frame)
		if out[frame] == nil {
			out[frame] = &rollup.Function{}
		}
		out[frame].AddAll(x)
	}
	return out
}

// Amounts returns how the self times of functions, or of what rename gives for them, vary from
// page view to page view, with products if these are known. Of a part nothing is known but its functions: the time of a page view
// in it is the sum of theirs, and its square at most that of the sum of their roots, by Cauchy
// and Schwarz. So intervals of parts are too wide rather than too narrow.
func (s Spreads) Amounts(rename func(trie.Frame) trie.Frame, products bool) map[trie.Frame]compare.Amount {
	out := make(map[trie.Frame]compare.Amount, len(s))
	for f, x := range s {
		a := AmountOf(&x.Self)
		if products && !f.Own() { // which is not in the time of a page view
			a.Product = x.Product() / 1e6
		}
		if rename != nil {
			f = rename(f)
			if old, ok := out[f]; ok {
				root := math.Sqrt(old.Squares) + math.Sqrt(a.Squares)
				a = compare.Amount{Seen: old.Seen + a.Seen, Sum: old.Sum + a.Sum, Squares: root * root, Product: old.Product + a.Product}
			}
		}
		out[f] = a
	}
	return out
}

// AmountOf turns a spread into an amount.
func AmountOf(s *rollup.Spread) compare.Amount {
	return compare.Amount{Seen: float64(s.Count), Sum: float64(s.Sum) / 1e3, Squares: s.Squares() / 1e6}
}
