package calls

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// randomProfile returns a profile of few functions, which often call themselves.
func randomProfile(seed uint64) *trie.Profile {
	r := rand.New(rand.NewPCG(seed, 8))
	p := trie.NewProfile()
	for range r.IntN(40) {
		var stack []trie.Frame
		for range 1 + r.IntN(8) {
			stack = append(stack, trie.Frame{Name: string(rune('a' + r.IntN(5))), Line: uint32(r.IntN(2))})
		}
		labels := trie.MakeLabels("page", fmt.Sprint(r.IntN(2)))
		p.Add(labels, p.Insert(stack...), trie.Weight{Self: int64(r.IntN(1000)), Samples: int64(r.IntN(3)),
			Reach: int64(r.IntN(4))})
	}
	return p
}

// stacks returns the weights of a profile by the names of the stack.
func stacks(p *trie.Profile) map[string]trie.Weight {
	out := map[string]trie.Weight{}
	flat, _ := p.Flat()
	for n, w := range flat {
		if w.IsZero() {
			continue
		}
		var names []string
		for n := range p.Stack(trie.NodeID(n)) {
			names = append(names, p.Frame(n).Name)
		}
		slices.Reverse(names)
		out[strings.Join(names, ";")] = w
	}
	return out
}

// The total of a function equals the sum over its callees, and the sum over its callers.
func TestSandwich(t *testing.T) {
	for seed := range uint64(200) {
		p := randomProfile(seed)
		for _, f := range p.Functions() {
			is := func(x trie.Frame) bool { return x == f.Frame }
			callees, callers := Callees(p, is), Callers(p, is)
			for name, q := range map[string]*trie.Profile{"callees": callees, "callers": callers} {
				if err := q.Validate(); err != nil {
					t.Fatalf("seed %d: %s of %v: %v", seed, name, f.Frame, err)
				}
				flat, _ := q.Flat()
				total := q.Totals(flat)
				sum, roots := int64(0), 0
				for i := 1; i < len(q.Nodes); i++ {
					if q.Nodes[i].Parent == trie.Root {
						roots++
						sum += total[i].Self
						if q.FrameOf(q.Nodes[i].Frame) != f.Frame {
							t.Errorf("seed %d: %s start with %v, not with %v", seed, name,
								q.FrameOf(q.Nodes[i].Frame), f.Frame)
						}
					}
				}
				if sum != f.Total || roots != 1 {
					t.Errorf("seed %d: %s of %v: %d µs in %d roots, want %d", seed, name, f.Frame, sum, roots, f.Total)
				}
			}
			for _, g := range callees.Functions() {
				if g.Frame == f.Frame && g.Self != f.Self {
					t.Errorf("seed %d: %v has the self time %d µs among its callees, not %d", seed, f.Frame,
						g.Self, f.Self)
				}
			}
		}
	}
}

// In main > a > b > a and main > b, the callers of a are main and b, and the callers of b are a and
// main.
func TestCallersAndCallees(t *testing.T) {
	p := trie.NewProfile()
	frame := func(name string) trie.Frame { return trie.Frame{Name: name} }
	p.Add(nil, p.Insert(frame("main"), frame("a"), frame("b"), frame("a")), trie.Weight{Self: 5, Reach: 1})
	p.Add(nil, p.Insert(frame("main"), frame("b")), trie.Weight{Self: 2, Reach: 3})
	named := func(name string) func(trie.Frame) bool { return func(f trie.Frame) bool { return f.Name == name } }
	for name, c := range map[string]struct {
		got  *trie.Profile
		want map[string]trie.Weight
	}{
		"callees of a": {Callees(p, named("a")), map[string]trie.Weight{"a;b;a": {Self: 5, Reach: 1}}},
		"callees of b": {Callees(p, named("b")), map[string]trie.Weight{"b;a": {Self: 5, Reach: 1},
			"b": {Self: 2, Reach: 3}}},
		"callers of a": {Callers(p, named("a")), map[string]trie.Weight{"a;main": {Self: 5, Reach: 1}}},
		"callers of b": {Callers(p, named("b")), map[string]trie.Weight{"b;a;main": {Self: 5, Reach: 1},
			"b;main": {Self: 2, Reach: 3}}},
		"callers of c": {Callers(p, named("c")), map[string]trie.Weight{}},
	} {
		got := stacks(c.got)
		if len(got) != len(c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
		for stack, w := range c.want {
			if got[stack] != w {
				t.Errorf("%s: %s: got %v, want %v", name, stack, got[stack], w)
			}
		}
	}
}
