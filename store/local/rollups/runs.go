package rollups

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// pack returns a block to be written at p.
func (w *Writer) pack(p place, raw []byte) located {
	if len(raw) > maxBlock {
		w.err = fmt.Errorf("%v of %q: %d bytes are too many", p.kind, p.page, len(raw))
		return located{}
	}
	data := w.s.enc.EncodeAll(raw, nil)
	return located{data: data, block: block{uint32(len(data)), uint32(len(raw)), w.id.checksum(p, data)}}
}

// addStacks adds what a stack table has grown by.
func (w *Writer) addStacks(d *directory, page string, t *trie.Trie) {
	size := rollup.SizeOf(t)
	if size == d.size {
		return
	}
	from := d.size
	if len(d.stacks) >= maxPieces {
		d.stacks, from = nil, noRun().size
	}
	p := place{kind: kindStacks, page: page, start: uint32(len(d.stacks))}
	d.stacks = append(d.stacks, w.pack(p, rollup.EncodeStacks(t, from)))
	d.size = size
}

// search returns the number of the old runs, of those not written yet, before page, and
// whether there is one of page.
func (w *Writer) search(page string) (int, bool) {
	return slices.BinarySearchFunc(w.had, page, func(r run, page string) int { return cmp.Compare(r.page, page) })
}

// takeRun returns what the old file has of a page, but for what is being replaced. It must
// be the first of those not written yet, if it is there.
func (w *Writer) takeRun(page string) *directory {
	if _, found := w.search(page); !found {
		return noRun()
	}
	_, d := w.readOld(w.had[0])
	w.had = w.had[1:]
	switch {
	case d == nil:
		return w.countedRun(page)
	case w.stack.anew:
		d.dropTable()
	}
	d.remove(w.sum.Start)
	return d
}

// copyRuns copies the first n old runs of those not written yet, but for what is being
// replaced. Their blocks are copied as they are, also those that are damaged.
func (w *Writer) copyRuns(n int) {
	for ; n > 0 && w.err == nil; n-- {
		r := w.had[0]
		data, d := w.readOld(r)
		switch {
		case w.err != nil:
			return
		case d == nil || !d.remove(w.sum.Start):
			r.offset = w.at
			w.write(data)
			w.index.runs = append(w.index.runs, r)
		case len(d.hours) > 0:
			w.writeRun(r.page, d)
		}
		w.had = w.had[1:]
	}
}

// writeRun writes a run.
func (w *Writer) writeRun(page string, d *directory) {
	list := d.append(nil)
	if w.err == nil && len(list) > maxDir {
		w.err = fmt.Errorf("directory of %q: %d bytes are too many", page, len(list))
	}
	r := run{page: page, offset: w.at, directory: uint32(len(list)), crc: w.id.checksum(place{kind: kindDirectory, page: page}, list)}
	w.write(list)
	d.each(func(_ place, l *located) error {
		w.write(l.data)
		return nil
	})
	r.length = w.at - r.offset
	w.index.runs = append(w.index.runs, r)
}

// writeCounts writes the catalogues: those of other hours as they are, and the new one.
func (w *Writer) writeCounts() {
	w.index.counts = make([][]counted, len(w.index.sums))
	for i, s := range w.index.sums {
		if s.Start == w.sum.Start {
			w.index.counts[i] = w.newCounts()
			continue
		}
		old, _ := slices.BinarySearchFunc(w.base.index.sums, s.Start, byStart)
		for n, c := range w.base.index.counts[old] {
			w.write(w.readOldCounts(s.Start, n, c))
			w.index.counts[i] = append(w.index.counts[i], c)
		}
	}
}

// newCounts writes the catalogue of the hour that is written.
func (w *Writer) newCounts() (pieces []counted) {
	slices.SortFunc(w.entries, compareEntries)
	for i, e := range w.entries[min(1, len(w.entries)):] {
		if w.err == nil && compareEntries(w.entries[i], e) == 0 {
			w.err = fmt.Errorf("page %q and tag %q=%q are counted twice", e.page, e.tag.Key, e.tag.Value)
		}
	}
	for left := w.entries; len(left) > 0; {
		var raw []byte
		raw, left = appendCounts(nil, left)
		l := w.pack(place{kind: kindCounts, of: w.sum.Start, start: uint32(len(pieces))}, raw)
		w.write(l.data)
		pieces = append(pieces, counted{block: l.block})
	}
	return pieces
}
