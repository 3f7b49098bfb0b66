package move

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
)

// Export moves what the bucket has into a directory, hour by hour, with the times at which all was received. What was
// acknowledged before is rolled up first; what comes meanwhile may be left, so nodes should have stopped. What
// was exported before, and is the same still, is not exported again.
func Export(ctx context.Context, n *roll.Roller, to store.Loader, moving Moving) (Stats, error) {
	x := &exporter{n: n, to: to}
	if err := rollUp(ctx, n); err != nil {
		return x.stats, fmt.Errorf("roll up what waits: %w", err)
	}
	for shard := range n.Bucket.Shards {
		m, _, err := n.Bucket.Manifest(ctx, shard, 0)
		if err != nil {
			return x.stats, err
		}
		x.list = append(x.list, m)
	}
	hours, days := x.names()
	done := 0
	step := func(name string, err error) error {
		if err != nil {
			return fmt.Errorf("export %s: %w", name, err)
		}
		done++
		moving(done, len(hours)+len(days), x.stats.Traces)
		return nil
	}
	for _, name := range hours {
		x.stats.Hours++
		if err := step(name, x.hour(ctx, name)); err != nil {
			return x.stats, err
		}
	}
	for _, name := range days {
		x.stats.Days++
		if err := step(name, x.day(ctx, name)); err != nil {
			return x.stats, err
		}
	}
	return x.stats, nil
}

// rollUp rolls up all that waits.
func rollUp(ctx context.Context, n *roll.Roller) error {
	l, err := n.Bucket.ListSegments(ctx)
	if err != nil {
		return err
	}
	for shard := range n.Bucket.Shards {
		r := n.Errand(shard)
		for lost, more := 0, true; more; {
			if more, err = r.Cycle(ctx, l); errors.Is(err, roll.ErrLost) && lost < importAttempts {
				lost++
				more = true
				l, err = n.Bucket.ListSegments(ctx)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// exporter is an export on its way.
type exporter struct {
	n     *roll.Roller
	to    store.Loader
	list  []*layout.Manifest // by shard
	stats Stats
}

// names returns the hours there are, and the days of which not all hours are there.
func (x *exporter) names() (hours, days []string) {
	ofHours, ofDays := map[string]bool{}, map[string]bool{}
	for _, m := range x.list {
		for name, h := range m.Hours {
			if len(h.Runs)+len(h.Rollups) > 0 {
				ofHours[name] = true
			}
		}
		for name, d := range m.Days {
			if !d.Whole(m) {
				ofDays[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(ofHours)), slices.Sorted(maps.Keys(ofDays))
}

// has reports whether something was exported, and is the same still: then it is made of the same objects.
func (x *exporter) has(name string, keys []string) (state string, has bool) {
	h := fnv.New128a()
	_, _ = h.Write([]byte(strings.Join(keys, "\n"))) // a hash takes everything
	state = fmt.Sprintf("%x", h.Sum(nil))
	if has = x.to.Has(name, state); has {
		x.stats.Known++
	}
	return state, has
}

// span is when something was received.
type span struct{ first, last int64 }

func (s *span) sees(first, last int64) {
	if first > 0 && (s.first == 0 || first < s.first) {
		s.first = first
	}
	s.last = max(s.last, last)
}

// hour exports an hour: its traces if all of them are there, else its rollups.
func (x *exporter) hour(ctx context.Context, name string) error {
	start, err := layout.ParseHour(name)
	if err != nil {
		return err
	}
	hasRaw, gone := false, false
	var at span
	var runs, keys []string
	for shard, m := range x.list {
		h := m.Hours[name]
		if h == nil {
			continue
		}
		hasRaw = hasRaw || len(h.Runs) > 0
		gone = gone || h.Traces > 0 && len(h.Runs) == 0
		at.sees(h.First, h.Last)
		for _, f := range h.Runs {
			runs = append(runs, layout.RunKey(shard, name, f.ID))
		}
		for _, f := range h.Rollups {
			keys = append(keys, layout.HourKey(shard, name, f.ID))
		}
	}
	state, has := x.has(name, append(slices.Clone(runs), keys...))
	if has {
		return nil
	}
	if gone || !hasRaw {
		return x.rollups(ctx, name, state, store.LoadSums{Start: start}, keys, at)
	}
	return x.traces(ctx, name, state, start, runs, keys, at)
}

// traces exports the traces of an hour.
func (x *exporter) traces(ctx context.Context, name, state string, start time.Time, runs, keys []string, at span) error {
	to, err := x.to.Hour(start)
	if err != nil {
		return err
	}
	defer to.Cancel()
	var cursors []*layout.Cursor
	for _, k := range runs {
		o, err := x.n.Bucket.Open(ctx, k)
		if err != nil {
			return err
		}
		cursors = append(cursors, o.Rows(len(runs)))
	}
	err = layout.Merge(ctx, cursors, func(r *layout.Row) error {
		pages := append([]string{r.Page}, r.Others...)
		slices.Sort(pages)
		payload, err := r.Document()
		if err != nil {
			return err
		}
		err = to.Add(&store.Record{ID: r.ID, Page: r.Page, Pages: pages, Received: time.UnixMicro(r.Received), Payload: payload})
		if e, ok := errors.AsType[*store.RecordError](err); ok {
			x.stats.leave(name+", trace "+e.ID.String(), e.Reason)
			return nil
		}
		x.stats.Traces++
		return err
	})
	if err != nil {
		return err
	}
	objects, err := x.open(ctx, keys)
	if err != nil {
		return err
	}
	for _, page := range layout.PagesOf(objects) {
		p, err := x.n.Bucket.PageOf(ctx, objects, page)
		if err != nil {
			return err
		}
		for _, e := range entriesOf(page, p.Counts) {
			if err := to.Count(e); err != nil {
				return err
			}
		}
		rec, err := p.Record()
		if err != nil {
			return err
		}
		if err := to.Untraced(page, rec, at.first, at.last); err != nil {
			return err
		}
	}
	return to.Close(name, state, at.first, at.last)
}

func (x *exporter) open(ctx context.Context, keys []string) (out []*layout.Object, err error) {
	for _, k := range keys {
		o, err := x.n.Bucket.Open(ctx, k)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// entriesOf returns a catalogue of a page as the store has it.
func entriesOf(page string, c layout.Catalog) (out []store.CatalogEntry) {
	for t, n := range c {
		if n.Traces > 0 {
			out = append(out, store.CatalogEntry{Page: page, Tag: t, Traces: n.Traces, First: time.UnixMicro(n.First), Last: time.UnixMicro(n.Last)})
		}
	}
	return out
}

// rollups exports what objects of rollups add up to.
func (x *exporter) rollups(ctx context.Context, name, state string, to store.LoadSums, keys []string, at span) error {
	list, err := x.open(ctx, keys)
	if err != nil {
		return err
	}
	to.First, to.Last = time.UnixMicro(at.first), time.UnixMicro(at.last)
	to.Pages = layout.PagesOf(list)
	to.Sums = func(page string) ([]store.Rolled, error) {
		p, err := x.n.Bucket.PageOf(ctx, list, page)
		if err != nil || p.Empty() {
			return nil, err
		}
		rec, err := p.Record()
		return []store.Rolled{{Page: page, Stacks: p.Stacks(), Record: rec}}, err
	}
	to.Catalog = func(f func(store.CatalogEntry)) error {
		for _, page := range to.Pages {
			p, err := x.n.Bucket.PageOf(ctx, list, page)
			if err != nil {
				return err
			}
			for _, e := range entriesOf(page, p.Counts) {
				f(e)
				if e.Tag == (store.Tag{}) {
					x.stats.Traces += e.Traces
				}
			}
		}
		return nil
	}
	return x.to.Sums(name, state, to)
}

// day exports the rollups of a day. Where a shard has none of it, or has all of its hours, these are added up.
func (x *exporter) day(ctx context.Context, name string) error {
	start, err := time.Parse(layout.DayFormat, name)
	if err != nil {
		return err
	}
	var at span
	var keys []string
	sources := map[string]bool{}
	for shard, m := range x.list {
		if d := m.Days[name]; d != nil {
			at.sees(d.First, d.Last)
			for _, f := range d.Rollups {
				keys = append(keys, layout.DayKey(shard, name, f.ID))
			}
			for _, hour := range d.Sources {
				sources[hour] = true
			}
			continue
		}
		for hour, h := range m.Hours {
			if layout.DayOf(hour) == name {
				sources[hour] = true
				at.sees(h.First, h.Last)
				for _, f := range h.Rollups {
					keys = append(keys, layout.HourKey(shard, hour, f.ID))
				}
			}
		}
	}
	slices.Sort(keys)
	state, has := x.has(name, keys)
	if has {
		return nil
	}
	to := store.LoadSums{Start: start}
	for _, hour := range slices.Sorted(maps.Keys(sources)) {
		t, err := layout.ParseHour(hour)
		if err != nil {
			return err
		}
		to.Hours = append(to.Hours, t)
	}
	return x.rollups(ctx, name, state, to, keys, at)
}
