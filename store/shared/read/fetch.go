package read

import (
	"context"
	"iter"

	"github.com/fieldtrie/fieldtrie/internal/ahead"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Maximum number of pieces that a query reads ahead and holds in memory. A piece with all pages may
// have several megabytes.
const (
	atOnce         = 32
	atOnceAllPages = 4
)

// fetched is a piece with its data.
type fetched struct {
	piece
	err   error
	pages []pageOf         // from rollups
	rows  []*layout.Cursor // from runs
	bytes int64

	unread []error // errors of damaged or missing runs; the other runs are read
}

// pageOf is the rollup of a page.
type pageOf struct {
	page string
	*layout.PageRecords
	expected uint64
}

// fetch yields pieces in order, and reads the following ones ahead.
func (r *Reader) fetch(ctx context.Context, pieces []piece, x *reading) iter.Seq[*fetched] {
	most := atOnce
	if x.q.Page == "" {
		most = atOnceAllPages
	}
	return ahead.InOrder(ctx, most, pieces, func(ctx context.Context, p piece) *fetched {
		f := &fetched{piece: p}
		f.err = r.fetchPiece(ctx, f, x)
		return f
	})
}

func (r *Reader) fetchPiece(ctx context.Context, f *fetched, x *reading) error {
	for _, k := range f.rollups {
		if err := r.fetchRollups(ctx, f, k, x); err != nil {
			return err
		}
	}
	if x.want.Vitals {
		for _, k := range f.vitals {
			if err := r.fetchRollups(ctx, f, k, x); err != nil {
				return err
			}
		}
		if err := f.keepVitals(); err != nil {
			return err
		}
	}
	for _, k := range f.runs {
		o, err := r.b.OpenFrom(ctx, r.cache, k)
		if layout.IsWrong(err) {
			f.unread = append(f.unread, err)
			continue
		}
		if err != nil {
			return err
		}
		rows := o.Rows
		if x.q.Page != "" {
			rows = func(of int) *layout.Cursor { return o.RowsOfPage(x.q.Page, of) }
		} else if x.q.Pages != nil {
			rows = func(of int) *layout.Cursor { return o.RowsOfPages(x.q.Pages, of) }
		}
		c := rows(len(f.runs))
		f.bytes += c.Size()
		f.rows = append(f.rows, c)
	}
	return nil
}

// keepVitals reduces rollups to their Web Vitals if traces provide everything else.
func (f *fetched) keepVitals() error {
	if !f.isTraces {
		return nil
	}
	var out []pageOf
	for _, p := range f.pages {
		b := rollup.NewBuilder(p.page, trie.New(), rollup.Limits{})
		for _, rec := range p.Records {
			for i := range rec.Vitals {
				b.AddVital(&rec.Vitals[i])
			}
		}
		if b.Empty() {
			continue
		}
		rec, err := b.Record()
		if err != nil {
			return err
		}
		out = append(out, pageOf{page: p.page, PageRecords: &layout.PageRecords{Stacks: b.Stacks(),
			Records: []*rollup.Record{rec}}})
	}
	f.pages = out
	return nil
}

// levels returns the levels of rollups that a query reads.
func (x *reading) levels(o *layout.Object) []rollup.Level {
	level := x.want.Level
	if level == rollup.Narrow && !o.HasLevel(level) {
		level = rollup.Wide // open hours have no narrow records
	}
	if x.want.Details {
		return []rollup.Level{level, rollup.Details}
	}
	return []rollup.Level{level}
}

// fetchRollups reads the wanted pages from an object of rollups.
func (r *Reader) fetchRollups(ctx context.Context, f *fetched, k string, x *reading) error {
	o, err := r.b.OpenFrom(ctx, r.cache, k)
	if err != nil {
		return err
	}
	pages := []string{x.q.Page}
	if x.q.Page == "" { // all pages are needed
		if err := o.ReadAll(ctx); err != nil {
			return err
		}
		pages = layout.PagesOf([]*layout.Object{o})
	}
	for _, page := range pages {
		if x.q.Page == "" && !x.q.Takes(page) {
			continue
		}
		got, _, err := o.Page(ctx, page, x.levels(o), false)
		if err != nil {
			return err
		}
		if got == nil {
			continue
		}
		f.pages = append(f.pages, pageOf{page: page, PageRecords: got, expected: o.TracesOf(page)})
		f.bytes += int64(got.Size)
	}
	return nil
}
