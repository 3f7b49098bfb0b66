package layout

import (
	"context"
	"fmt"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
)

// FromTraces rebuilds rollups from the traces in runs. It calls f page by page, and returns the
// number of traces.
func (b *Bucket) FromTraces(ctx context.Context, runs []*Object, f func(page string, p *Page) error) (rows uint64,
	err error) {
	x := &traceRollup{b: b, f: f}
	var list []*Cursor
	for _, o := range runs {
		list = append(list, o.Rows(len(runs)))
	}
	if err := Merge(ctx, list, x.add); err != nil {
		return x.rows, err
	}
	return x.rows, x.endPage()
}

// traceRollup adds up traces that arrive in order.
type traceRollup struct {
	b    *Bucket
	f    func(page string, p *Page) error
	d    encode.BinaryDecoder
	p    *Page // the rollup of the page of view
	view []Row // rows of the current page view
	rows uint64
}

func (x *traceRollup) add(next *Row) error {
	if n := len(x.view); n > 0 {
		last := &x.view[n-1]
		switch {
		case last.Page != next.Page:
			if err := x.endPage(); err != nil {
				return err
			}
		case last.ID == next.ID:
			return fmt.Errorf("%w: duplicate trace %s of %s", block.ErrDamaged, next.ID, next.Page)
		case last.ID.View != next.ID.View:
			x.endView()
		}
	}
	if x.p == nil {
		x.p = x.b.NewPage(next.Page)
	}
	x.view = append(x.view, *next)
	x.rows++
	return nil
}

func (x *traceRollup) endView() {
	x.p.Begin(1)
	for i := range x.view {
		row := &x.view[i]
		one := Counted{1, row.Received, row.Received}
		x.p.Counts.Add(store.Tag{}, one)
		t, err := row.Decode(&x.d)
		if err != nil {
			continue // it counts as a trace, but cannot be added to the rollup
		}
		tags, _ := store.TagsOf(t)
		for _, tag := range tags {
			x.p.Counts.Add(tag, one)
		}
		x.p.Add(t)
	}
	x.p.End()
	x.view = x.view[:0]
}

func (x *traceRollup) endPage() error {
	if len(x.view) == 0 {
		return nil
	}
	page := x.view[0].Page
	x.endView()
	p := x.p
	x.p = nil
	return x.f(page, p)
}
