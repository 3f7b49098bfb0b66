package shared

import (
	"context"
	"fmt"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
)

// rawSums calls f with what the traces of runs sum up to, page by page, and returns how many there are.
func (b *view) rawSums(ctx context.Context, runs []*object, f func(page string, p *pageSum) error) (rows uint64, err error) {
	x := &rawSum{b: b, f: f}
	var list []*cursor
	for _, o := range runs {
		list = append(list, o.rows(len(runs)))
	}
	if err := merge(ctx, list, x.add); err != nil {
		return x.rows, err
	}
	return x.rows, x.endPage()
}

// rawSum adds up traces that come in order.
type rawSum struct {
	b    *view
	f    func(page string, p *pageSum) error
	d    encode.BinaryDecoder
	p    *pageSum // of the page of view
	view []row    // those of the present page view
	rows uint64
}

func (x *rawSum) add(next *row) error {
	if n := len(x.view); n > 0 {
		last := &x.view[n-1]
		switch {
		case last.page != next.page:
			if err := x.endPage(); err != nil {
				return err
			}
		case last.id == next.id:
			return fmt.Errorf("%w: trace %s of %s is there twice", block.ErrDamaged, next.id, next.page)
		case last.id.View != next.id.View:
			x.endView()
		}
	}
	if x.p == nil {
		x.p = x.b.newPageSum(next.page)
	}
	x.view = append(x.view, *next)
	x.rows++
	return nil
}

func (x *rawSum) endView() {
	x.p.Begin(1)
	for i := range x.view {
		row := &x.view[i]
		one := counted{1, row.received, row.received}
		x.p.counts.add(store.Tag{}, one)
		doc, err := x.d.Decode(row.payload, encode.FileLimits())
		if err != nil || doc.Trace == nil {
			continue // it is counted, and can not be summed up
		}
		tags, _ := store.TagsOf(doc.Trace)
		for _, t := range tags {
			x.p.counts.add(t, one)
		}
		x.p.Add(doc.Trace)
	}
	x.p.End()
	x.view = x.view[:0]
}

func (x *rawSum) endPage() error {
	if len(x.view) == 0 {
		return nil
	}
	page := x.view[0].page
	x.endView()
	p := x.p
	x.p = nil
	return x.f(page, p)
}
