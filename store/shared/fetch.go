package shared

import (
	"context"
	"iter"

	"github.com/fieldtrie/fieldtrie/internal/ahead"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// How many pieces are read ahead for one question, and held until it is their turn: of all pages, one piece may be megabytes.
const (
	atOnce         = 32
	atOnceAllPages = 4
)

// fetched is a piece, and what was read of it.
type fetched struct {
	piece
	err   error
	pages []pageOf  // of sums
	rows  []*cursor // of traces
	bytes int64
}

// pageOf is what sums have of a page.
type pageOf struct {
	page string
	*summed
	expected uint64
}

// fetch yields pieces in their order, while some that follow are read.
func (r *queries) fetch(ctx context.Context, pieces []piece, x *reading) iter.Seq[*fetched] {
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

func (r *queries) fetchPiece(ctx context.Context, f *fetched, x *reading) error {
	for _, k := range f.sums {
		if err := r.fetchSums(ctx, f, k, x); err != nil {
			return err
		}
	}
	if x.want.Vitals {
		for _, k := range f.vitals {
			if err := r.fetchSums(ctx, f, k, x); err != nil {
				return err
			}
		}
		if err := f.keepVitals(); err != nil {
			return err
		}
	}
	for _, k := range f.runs {
		o, err := r.b.openFrom(ctx, r.cache, k)
		if err != nil {
			return err
		}
		rows := o.rows
		if x.q.Page != "" {
			rows = func(of int) *cursor { return o.rowsOfPage(x.q.Page, of) }
		} else if x.q.Pages != nil {
			rows = func(of int) *cursor { return o.rowsOfPages(x.q.Pages, of) }
		}
		c := rows(len(f.runs))
		f.bytes += c.size()
		f.rows = append(f.rows, c)
	}
	return nil
}

// keepVitals leaves of sums the Web Vitals, where traces tell all else.
func (f *fetched) keepVitals() error {
	if len(f.runs) == 0 {
		return nil
	}
	var out []pageOf
	for _, p := range f.pages {
		b := rollup.NewBuilder(p.page, trie.New(), rollup.Limits{})
		for _, rec := range p.records {
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
		out = append(out, pageOf{page: p.page, summed: &summed{stacks: b.Stacks(), records: []*rollup.Record{rec}}})
	}
	f.pages = out
	return nil
}

// levels returns which records a question reads of sums.
func (x *reading) levels(o *object) []rollup.Level {
	level := x.want.Level
	if level == rollup.Narrow && !o.hasLevel(level) {
		level = rollup.Wide // of an hour that is not closed
	}
	if x.want.Details {
		return []rollup.Level{level, rollup.Details}
	}
	return []rollup.Level{level}
}

// fetchSums reads what an object of sums has.
func (r *queries) fetchSums(ctx context.Context, f *fetched, k string, x *reading) error {
	o, err := r.b.openFrom(ctx, r.cache, k)
	if err != nil {
		return err
	}
	pages := []string{x.q.Page}
	if x.q.Page == "" { // all of it is needed
		if err := o.readAll(ctx); err != nil {
			return err
		}
		pages = pagesOf([]*object{o})
	}
	for _, page := range pages {
		if x.q.Page == "" && x.q.Pages != nil && !x.q.Pages(page) {
			continue
		}
		got, _, err := o.pageSums(ctx, page, x.levels(o), false)
		if err != nil {
			return err
		}
		if got == nil {
			continue
		}
		f.pages = append(f.pages, pageOf{page: page, summed: got, expected: o.tracesOf(page)})
		f.bytes += int64(got.size)
	}
	return nil
}
