package shared

import (
	"context"

	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// remakeHour replaces the sums of an hour by those of its traces.
func (r mender) remakeHour(ctx context.Context, next *manifest, name string) error {
	h := next.Hours[name]
	if h == nil {
		return nil // it is too old by now
	}
	var runs []*object
	for _, f := range h.Runs {
		o, err := r.b.open(ctx, runKey(r.shard, name, f.ID))
		if err != nil {
			return r.missing(err)
		}
		runs = append(runs, o)
	}
	pages := map[string]*pageSum{}
	rows, err := r.b.rawSums(ctx, runs, func(page string, p *pageSum) error {
		pages[page] = p
		return nil
	})
	if err != nil {
		return r.missing(err)
	}
	for _, f := range h.Sums {
		k := sumsKey(r.shard, name, f.ID)
		if err := r.salvage(ctx, k, pages); err != nil {
			return err
		}
		next.remove(r.b.Now(), k)
	}
	sums, err := r.putSums(ctx, pages, r.ofHour(name, h.Sealed, 0))
	if err != nil {
		return err
	}
	h.Sums, h.Traces = sums, rows
	return nil
}

// salvage adds what can be read of sums and is not in traces: page views without one, and Web Vitals.
func (r mender) salvage(ctx context.Context, k string, pages map[string]*pageSum) error {
	o, err := r.b.open(ctx, k)
	if isWrong(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, page := range pagesOf([]*object{o}) {
		for _, level := range openLevels() {
			x, _, err := o.pageSums(ctx, page, []rollup.Level{level}, false)
			if isWrong(err) {
				continue
			}
			if err != nil {
				return err
			}
			p := pages[page]
			if p == nil {
				p = r.b.newPageSum(page)
			}
			for _, rec := range x.records {
				for _, out := range rec.Outcomes {
					p.AddOutcome(out.Reason, out.Views)
				}
				for i := range rec.Vitals {
					p.AddVital(&rec.Vitals[i])
				}
			}
			if !p.Empty() {
				pages[page] = p
			}
		}
	}
	return nil
}

// remakeDay replaces the sums of a day by those of its hours.
func (r mender) remakeDay(ctx context.Context, next *manifest, name string) error {
	d := next.Days[name]
	if d == nil || !d.whole(next) {
		return nil // it is made again by now, or too late
	}
	for _, f := range d.Sums {
		next.remove(r.b.Now(), daySumsKey(r.shard, name, f.ID))
	}
	return r.closeDay(ctx, next, name)
}
