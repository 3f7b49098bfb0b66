package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// pair is a function of both sides. If one side lacks it, its index there is -1.
type pair struct {
	a, b  int
	moved bool // to another file, or far from the new place of its neighbours
}

const (
	// packedColumn is the column beyond which a script counts as a bundle of a few very long lines.
	// Places in bundles are columns.
	packedColumn = 1000
	// packedLine is the number of columns of a bundle that count as a line.
	packedLine = 40
	// tellingName is the minimum length of a name that is not minified.
	tellingName = 3
	// neighbours is how many functions around a place determine its shift.
	neighbours = 5
	// candidates is how many functions on each side of a place are considered.
	candidates = 8
)

// matching matches the functions of two releases.
type matching struct {
	a, b  []Function
	lines float64 // how far is near
	pairs []pair
	doneA []bool
	doneB []bool
}

// match pairs the functions of A and B, each function in one pair: first those of A in
// order, then those only in B.
//
// A name that each side has exactly once in a file is the same function, wherever it is,
// and shows by how many lines the file shifted there. Other functions of the same name, and
// those without one, are paired with the nearest one to their shifted place, if it is near.
// Last, a name that each side has exactly once overall is a function that moved to another
// file.
func match(a, b []Function, lines int) []pair {
	if slices.EqualFunc(a, b, func(x, y Function) bool { return x.Frame == y.Frame }) {
		return same(len(a)) // two selections of one release
	}
	m := &matching{a: a, b: b, lines: float64(lines), doneA: make([]bool, len(a)), doneB: make([]bool, len(b))}
	fileA, fileB := files(a, b)
	groupsA, groupsB := group(fileA), group(fileB)
	for _, f := range groupsA.order {
		if of := groupsB.of[f]; len(of) > 0 {
			m.matchFile(groupsA.of[f], of)
		}
	}
	m.matchMoved()
	for i := range a {
		if !m.doneA[i] {
			m.pairs = append(m.pairs, pair{i, -1, false})
		}
	}
	slices.SortFunc(m.pairs, func(x, y pair) int { return cmp.Compare(x.a, y.a) })
	for i := range b {
		if !m.doneB[i] {
			m.pairs = append(m.pairs, pair{-1, i, false})
		}
	}
	return m.pairs
}

// same returns pairs of n functions with themselves.
func same(n int) []pair {
	out := make([]pair, n)
	for i := range out {
		out[i] = pair{i, i, false}
	}
	return out
}

func (m *matching) add(a, b int, moved bool) {
	m.doneA[a], m.doneB[b] = true, true
	m.pairs = append(m.pairs, pair{a, b, moved})
}

// groups groups numbers by a text. The texts are ordered by their first number.
type groups struct {
	order []string
	of    map[string][]int
}

func group(texts []string) groups {
	g := groups{of: make(map[string][]int, len(texts)/2)}
	for i, t := range texts {
		if g.of[t] == nil {
			g.order = append(g.order, t)
		}
		g.of[t] = append(g.of[t], i)
	}
	return g
}

func groupNames(functions []Function, of []int) groups {
	names := make([]string, len(of))
	for i, f := range of {
		names[i] = functions[f].Frame.Name
	}
	g := group(names)
	for _, places := range g.of {
		for i := range places {
			places[i] = of[places[i]]
		}
	}
	return g
}

// place is the place of a function in its file, in lines. Shifted, it is the expected place
// on the other side.
type place struct {
	at       float64
	function int
}

// placeIn returns the place of a frame. Columns only distinguish functions on the same
// line. If the script is packed, lines only distinguish functions in the same column.
func placeIn(f trie.Frame, packed bool) float64 {
	if packed {
		return float64(f.Column)/packedLine + float64(f.Line)/1e6
	}
	return float64(f.Line) + math.Min(float64(f.Column), packedColumn)/(10*packedColumn)
}

func (m *matching) matchFile(a, b []int) {
	packed := false
	for _, i := range a {
		packed = packed || m.a[i].Frame.Column > packedColumn
	}
	for _, i := range b {
		packed = packed || m.b[i].Frame.Column > packedColumn
	}
	namesA, namesB := groupNames(m.a, a), groupNames(m.b, b)
	var known []anchor
	for _, name := range namesA.order {
		x, y := namesA.of[name], namesB.of[name]
		if len(x) == 1 && len(y) == 1 && len(name) >= tellingName {
			from, to := placeIn(m.a[x[0]].Frame, packed), placeIn(m.b[y[0]].Frame, packed)
			known = append(known, anchor{from, to - from, x[0], y[0]})
		}
	}
	slices.SortFunc(known, func(x, y anchor) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.a, y.a)) })
	for _, k := range known {
		m.add(k.a, k.b, math.Abs(k.shift-shiftAt(known, k.at)) > m.lines)
	}
	for _, name := range namesA.order {
		x, y := namesA.of[name], namesB.of[name]
		if len(y) == 0 || m.doneA[x[0]] {
			continue
		}
		near := m.lines
		if len(name) < tellingName {
			near /= 5
		}
		m.matchNear(expected(m.a, x, packed, known), expected(m.b, y, packed, nil), near)
	}
}

// anchor is a function already matched.
type anchor struct {
	at    float64 // in A
	shift float64 // from there to its place in B
	a, b  int
}

// shiftAt returns by how much the file shifted at a place of A: the median shift of the
// nearest anchors, so that a single moved function does not mislead. The anchors are sorted
// by place.
func shiftAt(known []anchor, at float64) float64 {
	if len(known) == 0 {
		return 0
	}
	high, _ := slices.BinarySearchFunc(known, at, func(k anchor, at float64) int { return cmp.Compare(k.at, at) })
	low := high
	for high-low < neighbours && (low > 0 || high < len(known)) {
		if high == len(known) || low > 0 && at-known[low-1].at <= known[high].at-at {
			low--
		} else {
			high++
		}
	}
	var shifts [neighbours]float64
	n := 0
	for _, k := range known[low:high] {
		shifts[n] = k.shift
		n++
	}
	slices.Sort(shifts[:n])
	if x, y := shifts[(n-1)/2], shifts[n/2]; math.Abs(x) < math.Abs(y) {
		return x
	}
	return shifts[n/2]
}

// expected returns the expected places of functions, shifted like their neighbours, in
// order.
func expected(functions []Function, of []int, packed bool, known []anchor) []place {
	out := make([]place, len(of))
	for i, f := range of {
		at := placeIn(functions[f].Frame, packed)
		out[i] = place{at + shiftAt(known, at), f}
	}
	slices.SortFunc(out, func(x, y place) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.function, y.function))
	})
	return out
}

// matchNear pairs near places, nearest first, each once.
func (m *matching) matchNear(a, b []place, near float64) {
	type candidate struct {
		distance float64
		a, b     int
	}
	var all []candidate
	for _, x := range a {
		middle, _ := slices.BinarySearchFunc(b, x.at, func(y place, at float64) int { return cmp.Compare(y.at, at) })
		for _, y := range b[max(middle-candidates, 0):min(middle+candidates, len(b))] {
			if d := math.Abs(y.at - x.at); d <= near {
				all = append(all, candidate{d, x.function, y.function})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y candidate) int { return cmp.Compare(x.distance, y.distance) })
	for _, c := range all {
		if !m.doneA[c.a] && !m.doneB[c.b] {
			m.add(c.a, c.b, false)
		}
	}
}

// matchMoved pairs names that each side has exactly once overall.
func (m *matching) matchMoved() {
	if !slices.Contains(m.doneA, false) || !slices.Contains(m.doneB, false) {
		return
	}
	once := func(functions []Function) map[string]int {
		out := make(map[string]int, len(functions))
		for i := range functions {
			name := functions[i].Frame.Name
			if _, twice := out[name]; twice {
				out[name] = -1
			} else {
				out[name] = i
			}
		}
		return out
	}
	a, b := once(m.a), once(m.b)
	for i := range m.a {
		name := m.a[i].Frame.Name
		if m.doneA[i] || len(name) < tellingName || synthetic(name) || a[name] < 0 {
			continue
		}
		if k, ok := b[name]; ok && k >= 0 && !m.doneB[k] {
			m.add(i, k, true)
		}
	}
}

// places returns the new places in B of the functions of A whose place changed, as matched by a
// comparison. Both lists hold each frame once.
func places(a, b []trie.Frame) map[trie.Frame]trie.Frame {
	functions := func(frames []trie.Frame) (out []Function) {
		for _, f := range frames {
			out = append(out, Function{Frame: f})
		}
		return out
	}
	to := map[trie.Frame]trie.Frame{}
	for _, p := range match(functions(a), functions(b), Options{}.withDefaults().Lines) {
		if p.a >= 0 && p.b >= 0 && a[p.a] != b[p.b] {
			to[a[p.a]] = b[p.b]
		}
	}
	return to
}
