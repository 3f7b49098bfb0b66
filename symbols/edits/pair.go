package edits

import "slices"

// pair pairs the functions with the same path in two builds, both in source order. Usually there is
// one on each side. Functions without a name share a path, and their numbers change when another is
// inserted before them. So functions with equal texts are paired first, and the remaining functions
// between two pairs are edited.
func pair(a, b []*Function) (pairs []Edit) {
	p := pairing{a: a, b: b, to: make([]int, len(a)), from: make([]int, len(b))}
	for i := range p.to {
		p.to[i] = -1
	}
	for i := range p.from {
		p.from[i] = -1
	}
	p.byText(func(f *Function) uint64 { return uint64(f.Own)<<32 | uint64(f.Text) })
	p.byText(func(f *Function) uint64 { return uint64(f.Own) })
	p.between()
	for i, j := range p.to {
		if j >= 0 {
			pairs = append(pairs, Edit{Before: a[i], After: b[j]})
		}
	}
	return pairs
}

// pairing has the index of each function's partner, -1 for none.
type pairing struct {
	a, b     []*Function
	to, from []int // by index in a and in b
}

func (p *pairing) set(i, j int) { p.to[i], p.from[j] = j, i }

// byText pairs functions with equal texts, in order.
func (p *pairing) byText(text func(*Function) uint64) {
	free := map[uint64][]int{}
	for j, f := range p.b {
		if p.from[j] < 0 {
			free[text(f)] = append(free[text(f)], j)
		}
	}
	for i, f := range p.a {
		if js := free[text(f)]; p.to[i] < 0 && len(js) > 0 {
			p.set(i, js[0])
			free[text(f)] = js[1:]
		}
	}
}

// between pairs the functions that remain between the same two pairs, in order. Functions that are
// not between pairs, as after a reordering, are paired only if both sides have equally many.
func (p *pairing) between() {
	next := make([]int, len(p.a)+1) // the partner of the next paired function
	next[len(p.a)] = len(p.b)
	for i := len(p.a) - 1; i >= 0; i-- {
		next[i] = next[i+1]
		if p.to[i] >= 0 {
			next[i] = p.to[i]
		}
	}
	last := -1 // the partner of the previous function
	for i := range p.a {
		if p.to[i] < 0 {
			for j := last + 1; j < next[i]; j++ {
				if p.from[j] < 0 {
					p.set(i, j)
					break
				}
			}
		}
		if p.to[i] >= 0 {
			last = p.to[i]
		}
	}
	var i, j []int
	for k, to := range p.to {
		if to < 0 {
			i = append(i, k)
		}
	}
	for k, from := range p.from {
		if from < 0 {
			j = append(j, k)
		}
	}
	if len(i) == len(j) {
		for k := range i {
			p.set(i[k], j[k])
		}
	}
}

// findMoved pairs removed functions with added ones that are certainly the same: no other function
// on either side has their text, or both sides have equally many, in the same order and with the
// same name.
func findMoved(gone, fresh []*Function) (moved []Edit) {
	type text struct {
		own, whole uint32
		name       string
	}
	match := func(of func(*Function) text, several bool) {
		fits := func(all []*Function) map[text][]*Function {
			out := map[text][]*Function{}
			for _, f := range all {
				out[of(f)] = append(out[of(f)], f)
			}
			return out
		}
		before, after := fits(left(gone, moved, Edit.before)), fits(left(fresh, moved, Edit.after))
		for key, a := range before {
			b := after[key]
			if len(a) != len(b) || len(a) > 1 && !several {
				continue
			}
			for i := range a {
				moved = append(moved, Edit{Moved, a[i], b[i]})
			}
		}
	}
	match(func(f *Function) text { return text{f.Own, f.Text, ""} }, false)
	match(func(f *Function) text { return text{f.Own, f.Text, f.Name} }, true)
	match(func(f *Function) text { return text{f.Own, 0, f.Source.Name} }, false) // renamed in its file
	match(func(f *Function) text { return text{f.Own, 0, f.Name} }, false)
	return slices.Clip(moved)
}
