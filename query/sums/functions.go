package sums

import (
	"math"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// ReleasedFrame is a function as reported by browsers of a release.
type ReleasedFrame struct {
	Release string
	trie.Frame
}

// Functions holds the distributions of function times over page views, by release if names depend
// on it.
type Functions struct {
	of map[ReleasedFrame]*rollup.Function
	// Views holds the moments of the total time of the page views.
	Views rollup.Moments
}

func NewFunctions() *Functions {
	return &Functions{of: map[ReleasedFrame]*rollup.Function{}}
}

// Spreads holds the distributions of function times over page views, by named function.
type Spreads map[trie.Frame]*rollup.Function

// functionSize is the approximate size of a function in bytes, with a histogram of several buckets.
const functionSize = 400

// Size returns the approximate size of s in bytes.
func (s *Functions) Size() int { return len(s.of) * functionSize }

// Add adds the functions of a release. Their frames index stacks.
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

// See passes all functions to n, with their self times unless a profile provides these.
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

// Named returns the functions by name. A page view has one release, so a function of several
// releases counts each page view once. See [naming.Coverage.Bounded] for functions that share a
// name within one release.
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

// Amounts returns the variation of the functions' self times between page views, with products if
// these are known. With rename, functions are merged into parts. For a part, only its functions are
// known: its time is the sum of their times, and its sum of squares is at most the square of the
// sum of the roots of theirs (Cauchy and Schwarz). So intervals of parts are too wide rather than
// too narrow.
func (s Spreads) Amounts(rename func(trie.Frame) trie.Frame, products bool) map[trie.Frame]compare.Amount {
	out := make(map[trie.Frame]compare.Amount, len(s))
	for f, x := range s {
		a := AmountOf(&x.Self)
		if products && !f.Own() { // the profiling script is not part of the time of a page view
			a.Product = x.Product() / 1e6
		}
		if rename != nil {
			f = rename(f)
			if old, ok := out[f]; ok {
				root := math.Sqrt(old.Squares) + math.Sqrt(a.Squares)
				a = compare.Amount{Seen: old.Seen + a.Seen, Sum: old.Sum + a.Sum, Squares: root * root,
					Product: old.Product + a.Product}
			}
		}
		out[f] = a
	}
	return out
}

// AmountOf converts a spread to an amount.
func AmountOf(s *rollup.Spread) compare.Amount {
	return compare.Amount{Seen: float64(s.Count), Sum: float64(s.Sum) / 1e3, Squares: s.Squares() / 1e6}
}
