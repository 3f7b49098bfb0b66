package query

import (
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// naming returns what names the frames of a response, nil if they stay as browsers said them.
func (l Local) naming(sel selection.Selection) *naming.Naming {
	if sel.Minified {
		return nil
	}
	return l.Symbols.Begin()
}

// forNaming returns a selection with releases kept apart if names depend on them.
func forNaming(s selection.Selection, n *naming.Naming) selection.Selection {
	if n.ByRelease() && !slices.Contains(s.GroupBy, rollup.KeyRelease) {
		s.GroupBy = append(slices.Clip(s.GroupBy), rollup.KeyRelease)
	}
	return s
}

// named names the frames of a response to forNaming(s, n).
func named(s selection.Selection, r Result, n *naming.Naming) Result {
	if n == nil {
		r.Profile = naming.WithoutDebugIDs(r.Profile)
		return r
	}
	n.SeeProfile(r.Profile)
	r.names = n.Names()
	r.Profile = r.names.Profile(r.Profile, n.ByRelease(), slices.Contains(s.GroupBy, rollup.KeyRelease))
	r.Stats.Names = r.names.Coverage()
	if r.Stats.Names.Bounded > 0 {
		r.Profile.BoundReach()
	}
	return r
}

// releasedFrame is a function as browsers of a release said it.
type releasedFrame struct {
	release string
	trie.Frame
}

// functionSums are how the times of functions spread over page views, by release where names
// depend on it.
type functionSums struct {
	of map[releasedFrame]*rollup.Function
	// views is how all time of the page views varies. It and the products of functions mean nothing
	// if vague is set: a record does not have them.
	views rollup.Moments
	vague bool
}

func newFunctionSums() *functionSums {
	return &functionSums{of: map[releasedFrame]*rollup.Function{}}
}

// spreads are how the times of functions spread over page views, by what they are called.
type spreads map[trie.Frame]*rollup.Function

// functionSize is about how many bytes a function takes, with a histogram of some buckets.
const functionSize = 400

// size returns about how many bytes s takes.
func (s *functionSums) size() int { return len(s.of) * functionSize }

// add adds the functions of a release, whose frames are those of stacks.
func (s *functionSums) add(of *rollup.Functions, stacks *trie.Trie, byRelease bool) {
	key := releasedFrame{}
	if byRelease {
		key.release = of.Release
	}
	for k := range of.Of {
		key.Frame = stacks.FrameOf(of.Of[k].Frame)
		if s.of[key] == nil {
			s.of[key] = &rollup.Function{}
		}
		s.of[key].AddAll(&of.Of[k])
	}
	if of.Views == nil {
		s.vague = s.vague || len(of.Of) > 0
		return
	}
	s.views.AddAll(*of.Views)
}

// see shows all functions to n, with their self times unless n gets these from a profile.
func (s *functionSums) see(n *naming.Naming, weighed bool) {
	if n == nil {
		return
	}
	for f, x := range s.of {
		self := x.Self.Sum
		if weighed {
			self = 0
		}
		n.See(f.release, f.Frame, self)
	}
}

// named returns the functions by what they are called. A page view is of one release, so that
// one function of several releases counts it once; see [naming.Coverage.Bounded] for those
// that are several in one.
func (s *functionSums) named(names *naming.Names) spreads {
	out := make(spreads, len(s.of))
	for f, x := range s.of {
		frame := names.Of(f.release, f.Frame)
		if out[frame] == nil {
			out[frame] = &rollup.Function{}
		}
		out[frame].AddAll(x)
	}
	return out
}

// amounts returns how the self times of functions, or of what rename gives for them, vary from
// page view to page view, with products if these are known. Of a part nothing is known but its functions: the time of a page view
// in it is the sum of theirs, and its square at most that of the sum of their roots, by Cauchy
// and Schwarz. So intervals of parts are too wide rather than too narrow.
func (s spreads) amounts(rename func(trie.Frame) trie.Frame, products bool) map[trie.Frame]compare.Amount {
	out := make(map[trie.Frame]compare.Amount, len(s))
	for f, x := range s {
		a := amountOf(&x.Self)
		if products {
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
