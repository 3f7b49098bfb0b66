package trie

import "testing"

// The total of a function is that of what it calls, and that of who calls it.
func TestSandwich(t *testing.T) {
	for seed := range uint64(200) {
		p := randomProfile(seed)
		for _, f := range p.Functions() {
			is := func(x Frame) bool { return x == f.Frame }
			callees, callers := p.Callees(is), p.Callers(is)
			for name, q := range map[string]*Profile{"callees": callees, "callers": callers} {
				if err := q.Validate(); err != nil {
					t.Fatalf("seed %d: %s of %v: %v", seed, name, f.Frame, err)
				}
				flat, _ := q.Flat()
				total := q.Totals(flat)
				sum, roots := int64(0), 0
				for i := 1; i < len(q.Nodes); i++ {
					if q.Nodes[i].Parent == Root {
						roots++
						sum += total[i].Self
						if q.FrameOf(q.Nodes[i].Frame) != f.Frame {
							t.Errorf("seed %d: %s begin with %v, not with %v", seed, name, q.FrameOf(q.Nodes[i].Frame), f.Frame)
						}
					}
				}
				if sum != f.Total || roots != 1 {
					t.Errorf("seed %d: %s of %v: %d µs in %d roots, want %d", seed, name, f.Frame, sum, roots, f.Total)
				}
			}
			for _, g := range callees.Functions() {
				if g.Frame == f.Frame && g.Self != f.Self {
					t.Errorf("seed %d: %v has %d µs of its own among its callees, not %d", seed, f.Frame, g.Self, f.Self)
				}
			}
		}
	}
}

// Of main > a > b > a and main > b, the callers of a are main, and of b are a, or main.
func TestCallersAndCallees(t *testing.T) {
	p := NewProfile()
	frame := func(name string) Frame { return Frame{Name: name} }
	p.Add(nil, p.Insert(frame("main"), frame("a"), frame("b"), frame("a")), Weight{Self: 5, Reach: 1})
	p.Add(nil, p.Insert(frame("main"), frame("b")), Weight{Self: 2, Reach: 3})
	named := func(name string) func(Frame) bool { return func(f Frame) bool { return f.Name == name } }
	for name, c := range map[string]struct {
		got  *Profile
		want map[string]Weight
	}{
		"callees of a": {p.Callees(named("a")), map[string]Weight{"a;b;a": {Self: 5, Reach: 1}}},
		"callees of b": {p.Callees(named("b")), map[string]Weight{"b;a": {Self: 5, Reach: 1}, "b": {Self: 2, Reach: 3}}},
		"callers of a": {p.Callers(named("a")), map[string]Weight{"a;main": {Self: 5, Reach: 1}}},
		"callers of b": {p.Callers(named("b")), map[string]Weight{"b;a;main": {Self: 5, Reach: 1}, "b;main": {Self: 2, Reach: 3}}},
		"callers of c": {p.Callers(named("c")), map[string]Weight{}},
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
