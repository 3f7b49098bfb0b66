package rollup

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Version is the first byte of encoded records. The package documentation describes the other
// bytes.
const Version = 1

// writer appends to a record. Numbers are variants of LEB128.
type writer struct {
	out     []byte
	strings map[string]uint64
	texts   []string
}

func (w *writer) uint(v uint64)    { w.out = binary.AppendUvarint(w.out, v) }
func (w *writer) length(n int)     { w.uint(uint64(n)) }
func (w *writer) int(v int64)      { w.out = binary.AppendVarint(w.out, v) }
func (w *writer) ints(vs ...int64) { eachOf(vs, w.int) }

func eachOf[E any](s []E, f func(E)) {
	for _, e := range s {
		f(e)
	}
}

// text appends the number of s in the table of texts.
func (w *writer) text(s string) {
	n, ok := w.strings[s]
	if !ok {
		n = uint64(len(w.texts))
		w.strings[s] = n
		w.texts = append(w.texts, s)
	}
	w.uint(n)
}

func (w *writer) labels(l trie.Labels) {
	w.length(len(l))
	for _, x := range l {
		w.text(x.Key)
		w.text(x.Value)
	}
}

func (w *writer) spread(s *Spread) {
	w.moments(s.Moments)
	w.histogram(&s.Histogram)
}

func (w *writer) moments(m Moments) {
	w.ints(m.Count, m.Sum)
	w.product(m.squares)
}

func (w *writer) product(p product) {
	w.int(int64(p.hi))
	w.uint(p.lo)
}

func (w *writer) histogram(h *Histogram) {
	used := h.used()
	w.length(len(used))
	last := int32(0)
	for _, b := range used {
		w.length(int(b.at - last))
		w.int(b.count)
		last = b.at
	}
}

// Encode returns the sums as a record of a level. A final record keeps only the heaviest functions,
// see [Limits]. A record that will be added to others keeps all, or the order of adding would
// matter. Equal sums with the same stack table have equal encodings.
func (b *Builder) Encode(level Level, final bool) []byte {
	w := &writer{strings: map[string]uint64{}}
	if level == Details {
		for range 3 { // cells, touches, and distributions; rows of no cells are free
			w.length(0)
		}
	} else {
		w.sums(b, level)
	}
	if level == Narrow || level == Wide {
		w.length(0)
		w.length(0)
	} else {
		w.functions(b.functions, b.lim.Functions, final)
		w.outcomes(b.outcomes)
	}
	if level == Details {
		w.length(0)
	} else {
		w.vitals(b.vitals.of, level)
	}
	head := &writer{out: []byte{Version, byte(level)}}
	head.length(len(w.texts))
	for _, s := range w.texts {
		head.length(len(s))
		head.out = append(head.out, s...)
	}
	return append(head.out, w.out...)
}

// sums writes all data that is kept by label.
func (w *writer) sums(b *Builder, level Level) {
	liveCells, liveTouches := b.live()
	cells, cellTo := b.projectCells(level, liveCells)
	touches, touchTo := b.projectTouches(cellTo, liveTouches)
	w.length(len(cells))
	for _, c := range cells {
		w.labels(c.labels)
		w.ints(c.Stackless, c.Idle, c.Unsampled, c.Truncated, c.Likely)
	}
	w.length(len(touches))
	for _, t := range touches {
		w.length(len(t.cells))
		last := 0
		for _, c := range t.cells {
			w.length(c - last)
			last = c
		}
		w.ints(t.views, t.traces)
	}
	weights := b.weights.mapped(cellTo, len(cells), func(to *weight, r weight) {
		to.self += r.self
		to.samples += r.samples
	})
	writeRows(w, weights, func(r weight) { w.ints(r.self, r.samples) })
	reach := b.reach.mapped(touchTo, len(touches), func(to *int64, r int64) { *to += r })
	writeRows(w, reach, w.int)
	w.distributions(b.dists, level)
}

// live reports which cells and touches are not zero: adding and subtracting can leave empty ones.
func (b *Builder) live() (cells, touches []bool) {
	cells, touches = make([]bool, len(b.cells)), make([]bool, len(b.touches))
	for i := range cells {
		cells[i] = i < len(b.weights.of) && b.weights.of[i].used()
	}
	for i := range touches {
		touches[i] = i < len(b.reach.of) && b.reach.of[i].used()
	}
	for i, t := range b.touches {
		touches[i] = touches[i] || t.views != 0 || t.traces != 0
		for _, c := range t.cells {
			cells[c] = cells[c] || touches[i]
		}
	}
	for i, c := range b.cells {
		cells[i] = cells[i] || c.Silence != Silence{}
	}
	return cells, touches
}

// projectCells returns the live cells of a level, sorted, and for each cell of b its number among
// them.
func (b *Builder) projectCells(level Level, live []bool) (out []cell, to []int) {
	type place struct {
		key  string
		cell cell
		from []int
	}
	byKey := map[string]*place{}
	for i, c := range b.cells {
		if !live[i] {
			continue
		}
		l := level.project(c.labels)
		key := string(appendLabelsKey(nil, l))
		p := byKey[key]
		if p == nil {
			p = &place{key: key, cell: cell{labels: l}}
			byKey[key] = p
		}
		p.cell.add(c.Silence, 1)
		p.from = append(p.from, i)
	}
	sorted := slices.SortedFunc(maps.Values(byKey), func(a, b *place) int { return cmp.Compare(a.key, b.key) })
	to = slices.Repeat([]int{-1}, len(b.cells))
	for n, p := range sorted {
		for _, i := range p.from {
			to[i] = n
		}
		out = append(out, p.cell)
	}
	return out, to
}

// projectTouches is like projectCells for touches.
func (b *Builder) projectTouches(cellTo []int, live []bool) (out []touch, to []int) {
	mapped := make([]touch, len(b.touches))
	var order []int
	for i, t := range b.touches {
		if !live[i] {
			continue
		}
		m := touch{views: t.views, traces: t.traces}
		for _, c := range t.cells {
			m.cells = append(m.cells, cellTo[c])
		}
		slices.Sort(m.cells)
		m.cells = slices.Compact(m.cells)
		mapped[i] = m
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(mapped[a].cells, mapped[b].cells) })
	to = slices.Repeat([]int{-1}, len(b.touches))
	for _, i := range order {
		if n := len(out); n == 0 || !slices.Equal(out[n-1].cells, mapped[i].cells) {
			out = append(out, touch{cells: mapped[i].cells})
		}
		last := &out[len(out)-1]
		last.views += mapped[i].views
		last.traces += mapped[i].traces
		to[i] = len(out) - 1
	}
	return out, to
}

// writeRows writes the number of rows of each cell or touch. For each row it writes the
// step from the previous node, and calls write.
func writeRows[R comparable](w *writer, t *table[R], write func(R)) {
	for _, of := range t.of {
		n := 0
		of.each(func(trie.NodeID, R) { n++ })
		w.length(n)
		last := trie.NodeID(0)
		of.each(func(n trie.NodeID, r R) {
			w.uint(uint64(n - last))
			last = n
			write(r)
		})
	}
}

func (w *writer) distributions(dists []Distribution, level Level) {
	byKey := map[string]*Distribution{}
	for i := range dists {
		l := level.project(dists[i].Labels)
		key := string(appendLabelsKey(nil, l))
		if byKey[key] == nil {
			byKey[key] = &Distribution{Labels: l}
		}
		byKey[key].AddAll(&dists[i])
	}
	maps.DeleteFunc(byKey, func(_ string, d *Distribution) bool { return d.isZero() })
	w.length(len(byKey))
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		d := byKey[key]
		w.labels(d.Labels)
		w.spread(&d.Time)
		w.spread(&d.Long)
		w.ints(d.Population, d.PopulationSquares)
	}
}

func (w *writer) functions(byRelease map[string]*functions, most int, final bool) {
	kepts, rests := map[string][]*Function{}, map[string]Rest{}
	for release, of := range byRelease {
		kept, rest := of.heaviest(most, final)
		if len(kept) > 0 || rest != (Rest{}) || of.views != (Moments{}) {
			kepts[release], rests[release] = kept, rest
		}
	}
	w.length(len(kepts))
	for _, release := range slices.Sorted(maps.Keys(kepts)) {
		kept, rest := kepts[release], rests[release]
		w.text(release)
		w.ints(rest.Functions, rest.Self, rest.Reach)
		w.moments(byRelease[release].views)
		w.length(len(kept))
		last := trie.FrameID(0)
		for _, f := range kept {
			w.length(int(f.Frame - last))
			last = f.Frame
			w.spread(&f.Self)
			w.spread(&f.Total)
			w.product(f.beside)
		}
	}
}

// heaviest returns the functions to keep, by frame, and the sum of the others.
func (s *functions) heaviest(most int, final bool) (kept []*Function, rest Rest) {
	rest = s.rest
	for _, f := range s.of {
		if !f.isZero() {
			kept = append(kept, f)
		}
	}
	byFrame := func(a, b *Function) int { return cmp.Compare(a.Frame, b.Frame) }
	slices.SortFunc(kept, byFrame)
	if !final || len(kept) <= most {
		return kept, rest
	}
	slices.SortStableFunc(kept, func(a, b *Function) int { return cmp.Compare(b.Self.Sum, a.Self.Sum) })
	for _, f := range kept[most:] {
		rest.Add(f.rest())
	}
	kept = kept[:most]
	slices.SortFunc(kept, byFrame)
	return kept, rest
}

func (w *writer) outcomes(o map[string]int64) {
	w.length(len(o))
	for _, name := range slices.Sorted(maps.Keys(o)) {
		w.text(name)
		w.int(o[name])
	}
}
