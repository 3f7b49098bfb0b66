package shared

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/fieldtrie/fieldtrie/internal/ahead"
	"github.com/fieldtrie/fieldtrie/store/block"
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
		o, err := r.openObject(ctx, r.cache, k)
		if err != nil {
			return err
		}
		list := o.index.Kind(kindTraces)
		if x.q.Page != "" {
			list = o.index.Find(kindTraces, x.q.Page)
		} else if x.q.Pages != nil {
			list = slices.DeleteFunc(slices.Clone(list), func(e block.Entry) bool { return !x.q.Pages(e.Page) })
		}
		for _, e := range list {
			f.bytes += e.Length
		}
		f.rows = append(f.rows, r.cursor(o, list, len(f.runs)))
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
	if level == rollup.Narrow && len(o.index.Kind(kindRecord+byte(rollup.Narrow))) == 0 {
		level = rollup.Wide // of an hour that is not closed
	}
	if x.want.Details {
		return []rollup.Level{level, rollup.Details}
	}
	return []rollup.Level{level}
}

// fetchSums reads what an object of sums has.
func (r *Reader) fetchSums(ctx context.Context, f *fetched, k string, x *reading) error {
	o, err := r.openObject(ctx, r.cache, k)
	if err != nil {
		return err
	}
	stacks := o.index.Kind(kindStacks)
	if x.q.Page != "" {
		stacks = o.index.Find(kindStacks, x.q.Page)
	} else if int64(len(o.tail)) < o.size { // all of it is needed
		if o.size > maxObject {
			return fmt.Errorf("read %s: %d bytes at once", k, o.size)
		}
		if o.tail, _, err = r.cache.Range(ctx, k, 0, o.size); err != nil {
			return err
		}
	}
	for _, e := range stacks {
		if x.q.Page == "" && x.q.Pages != nil && !x.q.Pages(e.Page) {
			continue
		}
		got, _, err := r.pageSums(ctx, o, e.Page, x.levels(o), false)
		if err != nil {
			return err
		}
		p := pageOf{page: e.Page, summed: got}
		for _, c := range o.index.Find(kindCatalog, e.Page) {
			p.expected += uint64(c.Rows)
		}
		f.pages = append(f.pages, p)
		f.bytes += int64(got.size)
	}
	return nil
}
