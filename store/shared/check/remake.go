package check

import (
	"context"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// remakeHour replaces the rollups of an hour by those of its traces.
func (r mender) remakeHour(ctx context.Context, next *layout.Manifest, name string) error {
	h := next.Hours[name]
	if h == nil {
		return nil // it is too old by now
	}
	var runs []*layout.Object
	for _, f := range h.Runs {
		o, err := r.Bucket.Open(ctx, layout.RunKey(r.Number, name, f.ID))
		if err != nil {
			return r.Missing(err)
		}
		runs = append(runs, o)
	}
	pages := map[string]*layout.Page{}
	rows, err := r.Bucket.FromTraces(ctx, runs, func(page string, p *layout.Page) error {
		pages[page] = p
		return nil
	})
	if err != nil {
		return r.Missing(err)
	}
	for _, f := range h.Rollups {
		k := layout.HourKey(r.Number, name, f.ID)
		if err := r.salvage(ctx, k, pages); err != nil {
			return err
		}
		next.Remove(r.Bucket.Now(), k)
	}
	rollups, err := r.PutRollups(ctx, pages, r.HourRollups(name, h.Sealed, 0))
	if err != nil {
		return err
	}
	h.Rollups, h.Traces = rollups, rows
	return nil
}

// salvage adds what can be read of rollups and is not in traces: page views without one, and Web Vitals.
func (r mender) salvage(ctx context.Context, k string, pages map[string]*layout.Page) error {
	o, err := r.Bucket.Open(ctx, k)
	if layout.IsWrong(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, page := range layout.PagesOf([]*layout.Object{o}) {
		for _, level := range layout.OpenLevels() {
			x, _, err := o.Page(ctx, page, []rollup.Level{level}, false)
			if layout.IsWrong(err) {
				continue
			}
			if err != nil {
				return err
			}
			p := pages[page]
			if p == nil {
				p = r.Bucket.NewPage(page)
			}
			x.AddReports(p, func(*rollup.Vital) bool { return true })
			if !p.Empty() {
				pages[page] = p
			}
		}
	}
	return nil
}

// remakeDay replaces the rollups of a day by those of its hours.
func (r mender) remakeDay(ctx context.Context, next *layout.Manifest, name string) error {
	d := next.Days[name]
	if d == nil || !d.Whole(next) {
		return nil // it is made again by now, or too late
	}
	for _, f := range d.Rollups {
		next.Remove(r.Bucket.Now(), layout.DayKey(r.Number, name, f.ID))
	}
	return r.CloseDay(ctx, next, name)
}
