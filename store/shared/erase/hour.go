package erase

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// deleting applies a request to a shard.
type deleting struct {
	*roll.Shard
	matcher *deletion.Matcher
	dryRun  bool
	counts  deletion.Counts
	read    int64 // bytes
}

// hour deletes from an hour. It rewrites runs without the selected traces, and rebuilds the rollups
// of the affected pages from the remaining traces. It reports whether the hour had selected data.
func (d *deleting) hour(ctx context.Context, next *layout.Manifest, name string) (changed bool, err error) {
	h := next.Hours[name]
	if !d.matcher.Overlaps(h.First, h.Last) {
		return false, nil
	}
	before := d.counts
	defer func() {
		if err != nil {
			d.counts = before
		}
	}()
	runs, touched, err := d.runs(ctx, h, name)
	if err != nil {
		return false, err
	}
	for i := range h.Quarantined {
		if h.Quarantined[i].IsRun() {
			d.counts.Left++ // it may contain selected data
		}
	}
	drop, remake, err := d.pages(ctx, h, name, touched)
	if err != nil {
		return false, err
	}
	d.counts.Pages += uint64(len(drop) + len(remake))
	if len(touched)+len(drop)+len(remake) == 0 || d.dryRun {
		return d.counts != before, nil
	}
	if err := d.rollups(ctx, next, name, runs, drop, remake); err != nil {
		return false, err
	}
	d.replaceRuns(next, name, runs)
	if day := next.Days[layout.DayOf(name)]; day != nil && day.Complete(next) {
		next.RemoveDay(d.Bucket.Now(), d.Number, layout.DayOf(name)) // it will be rebuilt from its hours
	}
	return true, nil
}

// runs rewrites the runs of an hour without the selected traces. It returns the replacements of
// each run, and the affected pages.
func (d *deleting) runs(ctx context.Context, h *layout.Hour, name string) (out [][]layout.File, touched map[string]bool,
	err error) {
	touched = map[string]bool{}
	for _, f := range h.Runs {
		files := []layout.File{f}
		found, err := d.find(ctx, layout.RunKey(d.Number, name, f.ID), f, touched)
		if err != nil {
			return nil, nil, err
		}
		if found && !d.dryRun {
			if files, err = d.rewrite(ctx, name, f, h.Sealed); err != nil {
				return nil, nil, err
			}
		}
		out = append(out, files)
	}
	return out, touched, nil
}

// find searches a run for selected traces, and adds their pages to touched.
func (d *deleting) find(ctx context.Context, key string, f layout.File, touched map[string]bool) (found bool,
	err error) {
	if f.First > 0 && !d.matcher.Overlaps(f.First, f.Last) {
		return false, nil
	}
	if d.matcher.OfViews() {
		keys, err := d.KeysOf(ctx, key)
		if err != nil || !d.matcher.AnyView(keys.HasView) {
			return false, err
		}
	}
	o, err := d.Bucket.Open(ctx, key)
	if err != nil {
		return false, d.Missing(err)
	}
	d.read += f.Size
	err = o.EachRow(ctx, func(row *layout.Row) error {
		all, part, err := d.matcher.Row(row)
		if err != nil || !all && !part {
			return err
		}
		touched[row.Page], found = true, true
		if all {
			d.counts.Traces++
		} else {
			d.counts.Parts++
		}
		return nil
	})
	return found, d.Missing(err)
}

// rewrite rewrites a run without the selected traces.
func (d *deleting) rewrite(ctx context.Context, hour string, f layout.File, sealed bool) ([]layout.File, error) {
	o, err := d.OpenRun(ctx, layout.RunKey(d.Number, hour, f.ID))
	if err != nil {
		return nil, d.Missing(err)
	}
	to := d.Runs(hour, f.Tier)
	if sealed && f.Tier == roll.PackedTier {
		to = d.PackedRuns(hour)
	}
	return d.filter(ctx, o, to)
}

// filter writes the rows of a run that are left after the deletion.
func (d *deleting) filter(ctx context.Context, o *layout.Object, to *roll.Series[*layout.RunWriter]) ([]layout.File,
	error) {
	err := o.EachRow(ctx, func(row *layout.Row) error {
		all, part, err := d.matcher.Row(row)
		if err != nil || all {
			return err
		}
		if part {
			if row, err = d.matcher.Without(row); err != nil {
				return err
			}
		}
		w, err := to.Next(ctx)
		if err != nil {
			return err
		}
		return w.Add(row)
	})
	if err != nil {
		return nil, d.Missing(err)
	}
	return to.Finish(ctx)
}

// pages returns the pages whose rollups of an hour are dropped, and the pages whose rollups are
// rebuilt: those with deleted traces, and those with selected Web Vitals.
func (d *deleting) pages(ctx context.Context, h *layout.Hour, name string, touched map[string]bool) (drop,
	remake map[string]bool, err error) {
	list, err := d.openRollups(ctx, name, h)
	if err != nil {
		return nil, nil, err
	}
	drop, remake = map[string]bool{}, maps.Clone(touched)
	expired := len(h.Runs) == 0 && h.Traces > 0
	for _, page := range layout.PagesOf(list) {
		if !d.matcher.Page(page) {
			continue
		}
		switch {
		case d.matcher.Covers(h.First, h.Last):
			drop[page] = true
			delete(remake, page)
		case expired:
			d.counts.Left++
		case d.matcher.OfVitals(h.First, h.Last) && !remake[page]:
			if remake[page], err = d.hasVitals(ctx, list, page); err != nil {
				return nil, nil, err
			}
			if !remake[page] {
				delete(remake, page)
			}
		}
	}
	return drop, remake, nil
}

// openRollups opens the rollups of an hour. Their pages must be read in order.
func (d *deleting) openRollups(ctx context.Context, name string, h *layout.Hour) (list []*layout.Object, err error) {
	for _, f := range h.Rollups {
		o, err := d.Bucket.OpenRollups(ctx, layout.Sized{Key: layout.HourKey(d.Number, name, f.ID), Size: f.Size},
			layout.ShareOf(len(h.Rollups)))
		if err != nil {
			return nil, d.Missing(err)
		}
		d.read += f.Size
		list = append(list, o)
	}
	return list, nil
}

// hasVitals reports whether the rollups of a page have selected Web Vitals.
func (d *deleting) hasVitals(ctx context.Context, list []*layout.Object, page string) (bool, error) {
	for _, o := range list {
		x, _, err := o.Page(ctx, page, []rollup.Level{rollup.Wide}, false)
		if err != nil {
			return false, d.Missing(err)
		}
		if x == nil {
			continue
		}
		for _, rec := range x.Records {
			if slices.ContainsFunc(rec.Vitals, func(v rollup.Vital) bool { return d.matcher.Vital(v.Labels) }) {
				return true, nil
			}
		}
	}
	return false, nil
}

// rollups replaces the rollups of an hour by rollups without the selected data.
func (d *deleting) rollups(ctx context.Context, next *layout.Manifest, name string, runs [][]layout.File, drop,
	remake map[string]bool) error {
	h := next.Hours[name]
	list, err := d.openRollups(ctx, name, h)
	if err != nil {
		return err
	}
	var traces []*layout.Object
	for _, f := range slices.Concat(runs...) {
		o, err := d.Bucket.Open(ctx, layout.RunKey(d.Number, name, f.ID))
		if err != nil {
			return d.Missing(err)
		}
		traces = append(traces, o)
	}
	to := d.HourRollups(name, h.Sealed, 1)
	ofVitals := d.matcher.OfVitals(h.First, h.Last)
	for _, page := range layout.PagesOf(list) {
		if drop[page] {
			if len(h.Runs) == 0 {
				h.Traces -= min(h.Traces, tracesOf(list, page))
			}
			continue
		}
		p, err := d.page(ctx, list, traces, page, remake[page], ofVitals)
		if err != nil {
			return d.Missing(err)
		}
		if p.Empty() {
			continue
		}
		if err := roll.AddPage(ctx, to, page, p); err != nil {
			return err
		}
	}
	out, err := to.Finish(ctx)
	if err != nil {
		return err
	}
	for _, f := range h.Rollups {
		next.Remove(d.Bucket.Now(), layout.HourKey(d.Number, name, f.ID))
	}
	h.Rollups = out
	return nil
}

// tracesOf returns the number of traces of a page in rollups.
func tracesOf(list []*layout.Object, page string) (n uint64) {
	for _, o := range list {
		n += o.TracesOf(page)
	}
	return n
}

// page returns the remaining rollup of a page in an hour: unchanged, or rebuilt from its traces.
// Page views without a trace and Web Vitals are copied from the old rollups, which are their only
// source.
func (d *deleting) page(ctx context.Context, list, traces []*layout.Object, page string, remake,
	ofVitals bool) (*layout.Page, error) {
	if !remake {
		return d.Bucket.PageOf(ctx, list, page)
	}
	p, err := d.Bucket.PageFromTraces(ctx, traces, page)
	if err != nil {
		return nil, err
	}
	for _, o := range list {
		x, _, err := o.Page(ctx, page, layout.OpenLevels(), false)
		if err != nil {
			return nil, err
		}
		if x != nil {
			x.AddReports(p, func(v *rollup.Vital) bool { return !ofVitals || !d.matcher.Vital(v.Labels) })
		}
	}
	return p, nil
}

// replaceRuns replaces the runs of an hour in a manifest.
func (d *deleting) replaceRuns(next *layout.Manifest, name string, runs [][]layout.File) {
	h := next.Hours[name]
	if len(h.Runs) == 0 {
		return
	}
	h.Traces = 0
	for i, f := range h.Runs {
		if len(runs[i]) != 1 || runs[i][0].ID != f.ID {
			next.Remove(d.Bucket.Now(), layout.RunKey(d.Number, name, f.ID))
		}
		for _, x := range runs[i] {
			h.Traces += uint64(x.Rows)
		}
	}
	h.Runs = slices.Concat(runs...)
}

// days deletes from the days whose hours are gone.
func (d *deleting) days(ctx context.Context, next *layout.Manifest) error {
	for _, name := range slices.Sorted(maps.Keys(next.Days)) {
		day := next.Days[name]
		if !day.OutlivesHours(next) || !d.matcher.Overlaps(day.First, day.Last) {
			continue
		}
		if err := d.day(ctx, next, name); err != nil {
			if err = d.stays(ctx, err); err != nil {
				return fmt.Errorf("day %s: %w", name, err)
			}
		}
	}
	return nil
}

func (d *deleting) day(ctx context.Context, next *layout.Manifest, name string) error {
	old := next.Days[name]
	var list []*layout.Object
	for _, f := range old.Rollups {
		o, err := d.Bucket.OpenRollups(ctx, layout.Sized{Key: layout.DayKey(d.Number, name, f.ID), Size: f.Size},
			layout.ShareOf(len(old.Rollups)))
		if err != nil {
			return d.Missing(err)
		}
		d.read += f.Size
		list = append(list, o)
	}
	covers := d.matcher.Covers(old.First, old.Last)
	day := *old
	to := d.DayRollups(name)
	gone := uint64(0)
	for _, page := range layout.PagesOf(list) {
		if d.matcher.Page(page) {
			if !covers {
				d.counts.Left++
				continue
			}
			gone++
			day.Traces -= min(day.Traces, tracesOf(list, page))
			continue
		}
		if !covers || d.dryRun {
			continue
		}
		p, err := d.Bucket.PageOf(ctx, list, page)
		if err != nil {
			return d.Missing(err)
		}
		if err := roll.AddPage(ctx, to, page, p); err != nil {
			return err
		}
	}
	d.counts.Pages += gone
	if gone == 0 || d.dryRun {
		return nil
	}
	var err error
	if day.Rollups, err = to.Finish(ctx); err != nil {
		return err
	}
	next.RemoveDay(d.Bucket.Now(), d.Number, name)
	if len(day.Rollups) > 0 {
		next.Days[name] = &day
	}
	return nil
}
