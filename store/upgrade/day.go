package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/store/upgrade/former"
)

// day writes the rollup of a day, of which the hours are written. It is made of these, as long as all of them are there and could be
// read; else of the one that there was, if there was one.
func (u *upgrade) day(ctx context.Context, name string, d *former.Day) error {
	keep := d != nil && (!d.Whole || u.leftOf(name))
	if d != nil {
		defer d.Forget()
	}
	for shard, r := range u.shards {
		if err := r.Begin(ctx); err != nil {
			return err
		}
		next := r.Manifest.Clone()
		hours := next.HoursOf(name)
		open := slices.ContainsFunc(hours, func(hour string) bool { return !next.Hours[hour].Sealed })
		var err error
		switch {
		case keep:
			err = u.keepDay(ctx, r, next, d)
		case len(hours) == 0 || open || !layout.IsOver(name+"T23", sealAfter, r.Bucket.Now()):
			continue // whoever rolls up closes it
		default:
			err = r.CloseDay(ctx, next, name)
		}
		if err == nil {
			err = r.Replace(ctx, next)
		}
		if err != nil {
			return fmt.Errorf("shard %d: %w", shard, err)
		}
	}
	u.state.Days[name] = true
	return u.saveState()
}

// keepDay writes the rollup of a day that there was, and adds hours that it does not have.
func (u *upgrade) keepDay(ctx context.Context, r *roll.Shard, next *layout.Manifest, d *former.Day) error {
	out := &layout.Day{Sources: slices.Clone(d.Hours), First: d.First, Last: d.Last}
	var known, more []*layout.Object
	for _, hour := range next.HoursOf(d.Name) {
		h := next.Hours[hour]
		to := &known
		if !slices.Contains(d.Hours, hour) {
			to = &more
			out.Sources = append(out.Sources, hour)
			out.First, out.Last = min(out.First, h.First), max(out.Last, h.Last)
		}
		for _, f := range h.Rollups {
			o, err := r.Bucket.OpenRollups(ctx, layout.Sized{Key: layout.HourKey(r.Number, hour, f.ID), Size: f.Size}, layout.ShareOf(len(d.Hours)))
			if err != nil {
				return err
			}
			*to = append(*to, o)
		}
	}
	slices.Sort(out.Sources)
	pages := append(d.Pages(), layout.PagesOf(more)...)
	slices.Sort(pages)
	to := r.DayRollups(d.Name)
	for _, page := range slices.Compact(pages) {
		if layout.ShardOf(page, len(u.shards)) != r.Number {
			continue
		}
		p, err := u.dayPage(ctx, r, d, page, known, more)
		if err != nil {
			return err
		}
		out.Traces += p.Counts[store.Tag{}].Traces
		if p.Empty() && len(p.Counts) == 0 {
			continue
		}
		w, err := to.Next(ctx)
		if err == nil {
			err = w.Add(page, p)
		}
		if err != nil {
			return err
		}
	}
	var err error
	if out.Rollups, err = to.Finish(ctx); err == nil && len(out.Rollups) > 0 {
		next.Days[d.Name] = out
	}
	return err
}

// dayPage adds up a page of a day: what there was of it, or else what there is of its hours; and hours that it does not have.
func (u *upgrade) dayPage(ctx context.Context, r *roll.Shard, d *former.Day, page string, known, more []*layout.Object) (*layout.Page, error) {
	p := r.Bucket.NewPage(page)
	err := d.AddTo(page, p)
	if err == nil {
		var counts map[store.Tag]former.Count
		counts, err = d.Counts(page)
		for tag, c := range counts {
			p.Counts.Add(tag, layout.Counted(c))
		}
	}
	if errors.Is(err, store.ErrDamaged) {
		u.leave(former.Left{What: d.Name, Why: err.Error()})
		if p.Empty() {
			more = append(slices.Clone(known), more...)
		}
		err = nil
	}
	for _, o := range more {
		if err == nil {
			err = o.AddPage(ctx, p, page)
		}
	}
	return p, err
}
