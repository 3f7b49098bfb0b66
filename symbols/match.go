package symbols

import (
	"cmp"
	"slices"

	"github.com/fieldtrie/fieldtrie/symbols/outline"
	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
)

// matching finds the original of each function of a script.
//
// A map alone is not enough. A place within a line may have no mapping of its own, because bundlers
// map complete fragments of packages, and minifiers move functions to their callers. So matching
// first finds the functions of the script and of the sources. Then it assigns originals to the
// functions of the script: by the mapping of the beginning (start), by the mappings of the body
// (body, moved), and for the rest by order (order).
type matching struct {
	written   // of the script
	m         *sourcemap.Map
	mappings  []sourcemap.Mapping
	positions *sourcemap.Positions // in the script
	originals []*original          // by source; nil without a text
	offsets   []int32              // by mapping: its target offset in the text of its source, or -1

	heads   []head
	votes   []votes
	matches []match
}

// head is the last mapping at or before the beginning of a function.
type head struct {
	source int32 // -1: none
	offset int32 // in the text of the source, or -1
	line   int32 // from 0
	column int32
	exact  bool // at the beginning, or at the white space before it
}

// match is the original of a function.
type match struct {
	source, function int32 // -1: none
	way              Way
}

// votes count, for each original, the mappings in the body of a function, without nested functions.
type votes struct {
	of       []vote // most frequent first
	inside   int32  // in functions of some source
	outside  int32  // outside all functions
	toplevel int32  // source of the last mapping outside
}

type vote struct{ source, function, n int32 }

// mostVotes is the maximum number of originals counted for one function. A function combined from
// more originals by inlining matches none of them.
const mostVotes = 64

// newMatching parses script and sources.
func newMatching(script []byte, m *sourcemap.Map) *matching {
	x := &matching{m: m, mappings: m.Mappings(), positions: sourcemap.NewPositions(script)}
	x.written = read(script, outline.Script)
	x.originals = make([]*original, len(m.Sources))
	for i, s := range m.Sources {
		if s.Content != nil {
			x.originals[i] = newOriginal(s.Name, s.Content)
		}
	}
	x.offsets = make([]int32, len(x.mappings))
	for i := range x.mappings {
		to := &x.mappings[i]
		x.offsets[i] = -1
		if to.Source >= 0 && x.originals[to.Source] != nil {
			o := x.originals[to.Source]
			x.offsets[i] = int32(o.positions.Offset(to.SourceLine, to.SourceColumn))
			o.markMapped(x.offsets[i])
		}
	}
	x.heads = make([]head, len(x.functions))
	x.votes = make([]votes, len(x.functions))
	x.matches = make([]match, len(x.functions))
	for i := range x.functions {
		x.heads[i] = x.headOf(x.functions[i].Place)
		x.matches[i] = match{-1, -1, Kept}
	}
	x.countVotes()
	return x
}

// run applies the rules in order of certainty, so that more certain rules choose originals first.
func (x *matching) run() {
	for i := range x.functions {
		if !x.byStart(i) {
			x.byBody(i)
		}
	}
	x.byOrder(true)
	for i := range x.functions {
		if x.matches[i].function < 0 {
			x.byMove(i)
		}
	}
	x.byOrder(false)
}

func (x *matching) headOf(offset int) head {
	line, column := x.positions.Place(offset)
	k := x.m.At(line, column)
	if k < 0 || x.mappings[k].Source < 0 {
		return head{source: -1, offset: -1}
	}
	to := &x.mappings[k]
	from := x.positions.Offset(line, to.Column)
	exact := skipSpace(x.code[:offset], from) == offset // oxc maps a parameter without parenthesis at the space before
	return head{to.Source, x.offsets[k], to.SourceLine, to.SourceColumn, exact}
}

// countVotes walks the mappings and the functions of the script together.
func (x *matching) countVotes() {
	var open []int
	next := 0
	for line := range x.m.Lines() {
		first, end := x.m.Line(line)
		for k := first; k < end; k++ {
			to := &x.mappings[k]
			if to.Source < 0 {
				continue
			}
			offset := x.positions.Offset(int32(line), to.Column)
			for next < len(x.functions) && x.functions[next].Start <= offset {
				if x.functions[next].Kind.Written() {
					for len(open) > 0 && x.functions[open[len(open)-1]].End <= x.functions[next].Start {
						open = open[:len(open)-1]
					}
					open = append(open, next)
				}
				next++
			}
			for len(open) > 0 && x.functions[open[len(open)-1]].End <= offset {
				open = open[:len(open)-1]
			}
			if len(open) > 0 && x.offsets[k] >= 0 && offset >= x.functions[open[len(open)-1]].Body {
				x.votes[open[len(open)-1]].add(to.Source, x.originals[to.Source].innermost(x.offsets[k]))
			}
		}
	}
	for i := range x.votes {
		slices.SortStableFunc(x.votes[i].of, func(a, b vote) int { return cmp.Compare(b.n, a.n) })
	}
}

func (v *votes) add(source, function int32) {
	if function < 0 {
		v.outside++
		v.toplevel = source
		return
	}
	v.inside++
	for i := range v.of {
		if o := &v.of[i]; o.source == source && o.function == function {
			o.n++
			return
		}
	}
	if len(v.of) < mostVotes {
		v.of = append(v.of, vote{source, function, 1})
	}
}

func (x *matching) set(i int, source, function int32, way Way) {
	x.matches[i] = match{source, function, way}
	x.originals[source].taken[function] = true
}

// original returns the source that a head points to, or nil.
func (x *matching) original(h head) *original {
	if h.offset < 0 {
		return nil
	}
	return x.originals[h.source]
}

// byStart matches a function to the original whose beginning its own beginning points to.
func (x *matching) byStart(i int) bool {
	h := x.heads[i]
	if o := x.original(h); o != nil {
		f, ok := o.begins[h.offset]
		if !ok && h.exact {
			f, ok = o.parameters[h.offset]
		}
		if ok && x.fits(i, h.source, f) {
			x.set(i, h.source, f, Start)
			return true
		}
	}
	return x.byParameter(i)
}

// byParameter matches a function by its first parameter: if a name was dropped, some minifiers map
// nothing before the parameter. It must point to the first parameter of the original.
func (x *matching) byParameter(i int) bool {
	at := x.functions[i].Place
	if at >= len(x.code) || x.code[at] != '(' {
		return false
	}
	line, column := x.positions.Place(skipSpace(x.code, at+1))
	first, _ := x.m.Line(int(line))
	// Turbopack writes several mappings for one place.
	for k := x.m.At(line, column); k >= first && x.mappings[k].Column == column; k-- {
		to := &x.mappings[k]
		if to.Source < 0 || x.offsets[k] < 0 {
			continue
		}
		if f, ok := x.originals[to.Source].parameters[x.offsets[k]]; ok && x.fits(i, to.Source, f) {
			x.set(i, to.Source, f, Start)
			return true
		}
	}
	return false
}

// byBody matches a function to the original that most of its body points to, among the originals
// that begin in the fragment that its beginning points to.
func (x *matching) byBody(i int) {
	h := x.heads[i]
	o := x.original(h)
	if o == nil {
		return
	}
	for _, v := range x.votes[i].of {
		if v.source != h.source {
			continue
		}
		f := &o.functions[v.function]
		if otherKey(&x.functions[i], f) || !x.fits(i, v.source, v.function) {
			continue
		}
		if f.Place >= int(h.offset) && beginning(f) <= int(o.fragmentEnd(h.offset)) {
			x.set(i, v.source, v.function, Body)
			return
		}
	}
}

// byMove matches a function to the original that most of its body points to, wherever its beginning
// points.
func (x *matching) byMove(i int) {
	if len(x.votes[i].of) == 0 {
		return
	}
	v := x.votes[i].of[0]
	o := x.originals[v.source]
	if o.taken[v.function] || !x.fits(i, v.source, v.function) || !movable(&x.functions[i], &o.functions[v.function],
		v.n, x.votes[i].inside) {
		return
	}
	if h := x.heads[i]; h.source == v.source {
		// The beginning points into the original or just before it. So the function was not moved,
		// but is nested in it or next to it.
		f := &o.functions[v.function]
		within := int(h.offset) >= f.Start && int(h.offset) < f.End
		before := int(h.offset) <= f.Place && f.Place <= int(o.fragmentEnd(h.offset))
		if within || before {
			return
		}
	}
	x.set(i, v.source, v.function, Moved)
}

// movable reports whether g of the script may be f, moved from elsewhere, if n of all mappings of
// its body point into f.
func movable(g, f *outline.Function, n, all int32) bool {
	if g.Kind == outline.Arrow {
		return f.Kind == outline.Arrow && 5*n >= 4*all
	}
	return 2*n >= all && !otherKey(g, f) && !moduleWrapper(g)
}

// moduleWrapper reports whether a function of a script is webpack's wrapper of a module: its key is
// a number. It is not a function of the module, even if it contains its code.
func moduleWrapper(g *outline.Function) bool {
	return (g.Kind == outline.Method || g.Binding == outline.Key) && g.Name != "" && numeric(g.Name)
}

// otherKey reports whether g of the script cannot be f because their keys differ: keys of methods
// are not minified.
func otherKey(g, f *outline.Function) bool {
	switch g.Kind {
	case outline.Method, outline.Getter, outline.Setter:
		return g.Name != "" && !numeric(g.Name) && f.Name != g.Name
	}
	return false
}

// byOrder matches the remaining functions that point to one place with the free originals from
// there to the end of the fragment.
func (x *matching) byOrder(sure bool) {
	type fragment struct{ source, offset int32 }
	left := map[fragment][]int{}
	var order []fragment
	for i := range x.functions {
		h := x.heads[i]
		if x.matches[i].function >= 0 || !x.functions[i].Kind.Written() || x.original(h) == nil {
			continue
		}
		at := fragment{h.source, h.offset}
		if left[at] == nil {
			order = append(order, at)
		}
		left[at] = append(left[at], i)
	}
	for _, at := range order {
		free := x.originals[at.source].free(at.offset)
		if sure && !(len(free) == 1 && len(left[at]) == 1 && x.alike(left[at][0], at.source, free[0])) {
			continue
		}
		x.pair(left[at], at.source, free)
	}
}

// free returns the unmatched functions that begin in the fragment at offset.
func (o *original) free(offset int32) (free []int32) {
	end := int(o.fragmentEnd(offset))
	first, _ := slices.BinarySearchFunc(o.functions, int(offset), func(f outline.Function, at int) int {
		return cmp.Compare(f.Start, at)
	})
	for j := max(first-1, 0); j < len(o.functions) && o.functions[j].Start <= end; j++ {
		if f := &o.functions[j]; f.Kind.Written() && !o.taken[j] && f.Place >= int(offset) && f.Place <= end {
			free = append(free, int32(j))
		}
	}
	return free
}

// fits reports whether a function of the script may match an original at all. A bundler's wrapper
// of a lazily loaded module has code from outside all functions, and begins where the first
// function of the module does.
func (x *matching) fits(i int, source, original int32) bool {
	return !x.votes[i].toplevelCode() || x.alike(i, source, original)
}

// toplevelCode reports whether most of a body points outside all functions.
func (v *votes) toplevelCode() bool { return v.outside > 0 && v.outside >= v.inside }

// alike reports whether a function of the script and an original have the same number of
// parameters, and are both arrow functions if the original is one.
func (x *matching) alike(i int, source, original int32) bool {
	g, f := &x.functions[i], &x.originals[source].functions[original]
	return f.Parameters == g.Parameters && (f.Kind == outline.Arrow) == (g.Kind == outline.Arrow)
}

// pair matches functions of the script with free originals: in order if their numbers are equal,
// otherwise only where exactly one has as many parameters and the same kind.
func (x *matching) pair(functions []int, source int32, free []int32) {
	fit := len(free) == len(functions)
	for n := 0; fit && n < len(free); n++ {
		fit = x.fits(functions[n], source, free[n])
	}
	if fit {
		for n, i := range functions {
			x.set(i, source, free[n], Order)
		}
		return
	}
	for _, i := range functions {
		only := int32(-1)
		for _, j := range free {
			if !x.alike(i, source, j) {
				continue
			}
			if only >= 0 {
				only = -1
				break
			}
			only = j
		}
		if only >= 0 {
			x.set(i, source, only, Order)
		}
	}
}
