package rollups

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/store"
)

// What of a file is damaged does not keep the next file from being written. Damaged blocks
// are copied as they are: their checksums do not depend on where they lie, so whoever reads
// them in the new file is told, too.

// Damaged returns what of the old file was found damaged so far, one error for each page and
// each catalogue, sorted by page. After Commit it is all. The errors wrap [store.ErrDamaged].
func (w *Writer) Damaged() []error {
	places := slices.SortedFunc(maps.Keys(w.damaged), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.page, b.page), cmp.Compare(a.of, b.of))
	})
	out := make([]error, len(places))
	for i, p := range places {
		out[i] = w.damaged[p]
	}
	return out
}

// noteDamage keeps the first error about the run of a page, or about the catalogue of an hour.
func (w *Writer) noteDamage(p place, err error) {
	if w.damaged == nil {
		w.damaged = make(map[place]error)
	}
	if w.damaged[p] == nil {
		w.damaged[p] = err
	}
}

// readOld reads a run of the old file. data is nil if it could not be read, which is an error
// that sticks, and d is nil if the directory is damaged.
func (w *Writer) readOld(r run) (data []byte, d *directory) {
	data, d, err := w.base.readRun(r)
	if err == nil {
		return data, d
	}
	err = w.base.wrap(r.page, err)
	if data == nil {
		w.err = cmp.Or(w.err, err)
	} else {
		w.noteDamage(place{page: r.page}, err)
	}
	return data, d
}

// readOldCounts reads a piece of a catalogue of the old file. It returns nil if it could not
// be read, which is an error that sticks.
func (w *Writer) readOldCounts(start uint32, n int, c counted) []byte {
	data, err := w.base.readCounts(start, n, c)
	if err == nil {
		return data
	}
	err = fmt.Errorf("copy counts of %s: %w", TimeOf(start).Format("2006-01-02T15:04"), err)
	if data == nil {
		w.err = cmp.Or(w.err, err)
	} else {
		w.noteDamage(place{kind: kindCounts, of: start}, err)
	}
	return data
}

// countedRun returns what takes the place of a run whose directory is damaged: how many
// traces there should be in each other hour, by the catalogues. Where the catalogue of an
// hour is damaged as well that is one trace, since nobody can say that there were none.
func (w *Writer) countedRun(page string) *directory {
	if w.expected == nil {
		w.readExpected()
	}
	d := noRun()
	for _, s := range w.base.index.sums {
		n, known := w.expected[s.Start]
		h := hour{start: s.Start, expected: n[page]}
		if !known {
			h.expected = max(h.expected, 1)
		}
		if h.expected > 0 && h.start != w.sum.Start {
			d.put(h)
		}
	}
	return d
}

// readExpected reads from the catalogues of the old file how many traces of each page were
// counted in each hour.
func (w *Writer) readExpected() {
	w.expected = make(map[uint32]map[string]uint64)
	for _, s := range w.base.index.sums {
		of := make(map[string]uint64)
		err := w.base.Counts(s.Start, func(page string, t store.Tag, c Count) {
			if t == (store.Tag{}) {
				of[page] = c.Traces
			}
		})
		switch {
		case err == nil:
			w.expected[s.Start] = of
		case !errors.Is(err, store.ErrDamaged):
			w.err = cmp.Or(w.err, err)
		}
	}
}
