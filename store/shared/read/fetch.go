package read

import (
	"context"
	"iter"

	"github.com/fieldtrie/fieldtrie/internal/ahead"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// How many pieces are read ahead for one query, and held until it is their turn: of all pages, one piece may be megabytes.
const (
	atOnce         = 32
	atOnceAllPages = 4
)

// fetched is a piece, and what was read of it.
type fetched struct {
	piece
	err   error
	pages []pageOf         // of rollups
	rows  []*layout.Cursor // of traces
	bytes int64

	unread []error // of runs that are damaged or missing: the others are read
}

// pageOf is what rollups have of a page.
type pageOf struct {
	page string
	*layout.PageRecords
	expected uint64
}

// fetch yields pieces in their order, while some that follow are read.
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

// keepVitals leaves of rollups the Web Vitals, where traces tell all else.
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
		out = append(out, pageOf{page: p.page, PageRecords: &layout.PageRecords{Stacks: b.Stacks(), Records: []*rollup.Record{rec}}})
	}
	f.pages = out
	return nil
}

// levels returns which records a query reads of rollups.
func (x *reading) levels(o *layout.Object) []rollup.Level {
	level := x.want.Level
	if level == rollup.Narrow && !o.HasLevel(level) {
		level = rollup.Wide // of an hour that is not closed
	}
	if x.want.Details {
		return []rollup.Level{level, rollup.Details}
	}
	return []rollup.Level{level}
}

// fetchRollups reads what an object of rollups has.
func (r *Reader) fetchRollups(ctx context.Context, f *fetched, k string, x *reading) error {
	o, err := r.b.OpenFrom(ctx, r.cache, k)
	if err != nil {
		return err
	}
	pages := []string{x.q.Page}
	if x.q.Page == "" { // all of it is needed
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
