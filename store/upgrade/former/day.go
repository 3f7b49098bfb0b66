package former

import (
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/store"
)

// summed is what a file of rollups has of an hour, a part of an hour, or a day.
type summed struct {
	file *sumsFile
	sum
}

// Day is the rollup of a day.
type Day struct {
	Name        string   // such as 20261121
	Hours       []string // that it was made of, such as 20261121T08, by time
	Whole       bool     // all of these are there
	Traces      uint64   // one of two pages counts twice
	First, Last int64    // when something was received, µs since the epoch

	of      summed
	sources []uint32
	counts  catalog // nil if it was not read yet
}

func newDay(f *sumsFile, s sum) *Day {
	d := &Day{Name: timeOf(s.start).Format("20060102"), Traces: s.traces, First: s.first, Last: s.last, of: summed{f, s}, sources: s.sources}
	for _, start := range s.sources {
		d.Hours = append(d.Hours, timeOf(start).Format(hourFormat))
	}
	slices.Sort(d.Hours)
	d.Hours = slices.Compact(d.Hours)
	return d
}

// Pages returns the pages that there may be something of, sorted.
func (d *Day) Pages() []string { return d.of.file.pages() }

// AddTo adds the rollups of a page. Damage is an error that wraps [store.ErrDamaged]; then nothing is added.
func (d *Day) AddTo(page string, to Adder) error {
	if err := d.of.file.addTo(page, d.of.start, to); err != nil {
		return fmt.Errorf("sums of %q: %w", page, err)
	}
	return nil
}

// Counts returns how many traces of a page carry which tag. An error that wraps [store.ErrDamaged] is about all pages, and is told once.
func (d *Day) Counts(page string) (map[store.Tag]Count, error) {
	var err error
	if d.counts == nil {
		d.counts = catalog{}
		err = d.counts.read(d.of)
	}
	return d.counts[page], err
}

// Forget gives up what is kept of the day.
func (d *Day) Forget() { d.counts = nil }

// catalog says how many traces of pages carry which tag.
type catalog map[string]map[store.Tag]Count

func (c catalog) add(page string, t store.Tag, n Count) {
	if c[page] == nil {
		c[page] = map[store.Tag]Count{}
	}
	if n.Traces > 0 {
		c[page][t] = c[page][t].plus(n)
	}
}

// read adds what a file has.
func (c catalog) read(s summed) error {
	if err := s.file.countsOf(s.start, c.add); err != nil {
		return fmt.Errorf("catalogue: %w", err)
	}
	return nil
}

// pages returns the pages of a file.
func (f *sumsFile) pages() []string {
	out := make([]string, len(f.runs))
	for i := range f.runs {
		out[i] = f.runs[i].page
	}
	return out
}
