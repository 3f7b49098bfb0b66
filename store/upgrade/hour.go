package upgrade

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/store/upgrade/former"
)

// sealAfter is how long after its end an hour gets nothing any more.
const sealAfter = 5 * time.Minute

// hourWriter writes an hour of a shard.
type hourWriter struct {
	u       *upgrade
	h       *former.Hour
	shard   *roll.Shard
	runs    *roll.Series[*layout.RunWriter]
	rollups *roll.Series[*layout.RollupWriter]

	traces           uint64 // that are in the rollups
	damaged, repeats uint64
	left             []former.Left
}

// hour writes an hour. It does not count as written before all shards are.
func (u *upgrade) hour(ctx context.Context, h *former.Hour) (err error) {
	left, err := h.Open()
	defer func() { err = errors.Join(err, h.Close()) }()
	if err != nil {
		return err
	}
	pages, err := h.Pages()
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return err
	}
	if err != nil {
		left = append(left, former.Left{What: h.Name, Why: err.Error()})
	}
	of := make([][]string, len(u.shards))
	for _, page := range pages {
		shard := layout.ShardOf(page, len(u.shards))
		of[shard] = append(of[shard], page)
	}
	writers, err := u.writeShards(ctx, h, of)
	if err != nil {
		return err
	}
	var sum hourWriter
	for _, w := range writers {
		left = append(left, w.left...)
		sum.traces, sum.damaged, sum.repeats = sum.traces+w.traces, sum.damaged+w.damaged, sum.repeats+w.repeats
	}
	if there := sum.traces + sum.damaged + sum.repeats; there < h.Traces {
		left = append(left, former.Left{What: h.Name, Why: fmt.Sprintf("%d of %d traces are missing", h.Traces-there, h.Traces)})
	}
	u.leave(left...)
	u.state.Hours[h.Name] = sum.traces
	u.state.Repeats += sum.repeats
	return u.saveState()
}

// writeShards writes the pages of an hour, by shard: some shards side by side.
func (u *upgrade) writeShards(ctx context.Context, h *former.Hour, of [][]string) ([]*hourWriter, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	slots := make(chan struct{}, u.o.together())
	out := make([]*hourWriter, len(of))
	for shard, pages := range of {
		out[shard] = &hourWriter{u: u, h: h, shard: u.shards[shard]}
		if len(pages) == 0 {
			continue
		}
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			err := context.Cause(ctx)
			if err == nil {
				err = out[shard].write(ctx, pages)
			}
			if err != nil {
				cancel(fmt.Errorf("shard %d: %w", shard, err))
			}
		})
	}
	group.Wait()
	return out, context.Cause(ctx)
}

// write writes pages, and has the manifest name what they are in.
func (w *hourWriter) write(ctx context.Context, pages []string) error {
	if err := w.shard.Begin(ctx); err != nil {
		return err
	}
	now := w.shard.Bucket.Now()
	sealed := layout.IsOver(w.h.Name, sealAfter, now)
	w.runs, w.rollups = w.shard.Runs(w.h.Name, 0), w.shard.HourRollups(w.h.Name, sealed, 0)
	if sealed {
		w.runs = w.shard.SettledRuns(w.h.Name)
	}
	for _, page := range pages {
		if err := w.page(ctx, page); err != nil {
			return fmt.Errorf("page %q: %w", page, err)
		}
	}
	out := &layout.Hour{Traces: w.traces, Duplicates: w.repeats, First: w.h.First, Last: w.h.Last, Sealed: sealed}
	var err error
	if out.Runs, err = w.runs.Finish(ctx); err != nil {
		return err
	}
	if out.Rollups, err = w.rollups.Finish(ctx); err != nil || len(out.Rollups) == 0 {
		return err
	}
	next := w.shard.Manifest.Clone()
	next.AsOf = now.UnixMicro()
	next.Hours[w.h.Name] = out
	return w.shard.Replace(ctx, next)
}

// note notes damage of a page, and returns what is not that.
func (w *hourWriter) note(err error) error {
	if errors.Is(err, store.ErrDamaged) {
		w.left = append(w.left, former.Left{What: w.h.Name, Why: err.Error()})
		return nil
	}
	return err
}

// page writes a page: its traces, and what it sums up to.
func (w *hourWriter) page(ctx context.Context, page string) error {
	p := w.shard.Bucket.NewPage(page)
	if err := w.note(w.h.AddTo(page, p)); err != nil {
		return err
	}
	counts, err := w.h.Counts(page)
	damage := err
	if err := w.note(damage); err != nil {
		return err
	}
	x := &pageWriter{hourWriter: w, page: page, p: p, counts: counts, tags: layout.Catalog{}}
	damaged, cut, err := w.h.EachTrace(ctx, page, func(t *former.Trace) error { return x.add(ctx, t) })
	if err != nil {
		return err
	}
	x.endView()
	w.damaged += uint64(damaged)
	if damaged > 0 {
		w.left = append(w.left, former.Left{What: w.h.Name, Why: fmt.Sprintf("%d damaged traces of %q", damaged, page)})
	}
	if err := w.note(cut); err != nil {
		return err
	}
	x.finish(uint64(damaged), damage != nil || cut != nil || damaged > 0)
	w.traces += p.Counts[store.Tag{}].Traces
	if p.Empty() && len(p.Counts) == 0 {
		return nil
	}
	to, err := w.rollups.Next(ctx)
	if err != nil {
		return err
	}
	return to.Add(page, p)
}

// pageWriter writes the traces of a page, view by view.
type pageWriter struct {
	*hourWriter
	page   string
	p      *layout.Page
	counts map[store.Tag]former.Count // by the catalogue, less what came twice
	tags   layout.Catalog             // by the traces
	d      encode.BinaryDecoder
	last   *store.ID
	all    layout.Counted // the traces
}

// add adds a trace.
func (x *pageWriter) add(ctx context.Context, t *former.Trace) error {
	row := layout.Row{Page: x.page, ID: t.ID, Received: t.Received, Others: t.Others, Payload: t.Payload}
	doc, err := row.Decode(&x.d) // one that can not be decoded is kept, and in no rollup
	var tags []store.Tag
	if err == nil {
		tags, _ = store.TagsOf(doc)
	}
	if t.Repeat {
		x.repeats++
		x.subtract(append(tags, store.Tag{}))
		return nil
	}
	if x.last == nil || x.last.View != t.ID.View {
		x.endView()
		x.p.Begin(1)
	}
	x.last = &t.ID
	if err == nil {
		x.p.Add(doc)
	}
	one := layout.Counted{Traces: 1, First: t.Received, Last: t.Received}
	for _, tag := range tags {
		x.tags.Add(tag, one)
	}
	x.see(t.Received)
	if x.all.Traces++; x.all.Traces%progressEvery == 0 {
		x.u.progress(progressEvery)
	}
	if !x.h.HasTraces {
		return nil
	}
	to, err := x.runs.Next(ctx)
	if err == nil {
		err = to.Add(&row)
	}
	return err
}

// progressEvery is how many traces are written between two messages.
const progressEvery = 1000

// see widens the time of the traces.
func (x *pageWriter) see(received int64) {
	if x.all.Traces == 0 || received < x.all.First {
		x.all.First = received
	}
	x.all.Last = max(x.all.Last, received)
}

// subtract takes a trace that came twice out of the counts of tags.
func (x *pageWriter) subtract(tags []store.Tag) {
	for _, tag := range tags {
		if c := x.counts[tag]; c.Traces > 0 {
			c.Traces--
			x.counts[tag] = c
		}
	}
}

// endView ends the page view that is under way.
func (x *pageWriter) endView() {
	if x.last != nil {
		x.p.End()
	}
	x.last = nil
}

// finish adds the counts. Traces are counted as they were read, if they are there, and so are tags, if something is damaged. Else tags are
// as they were counted when they came.
func (x *pageWriter) finish(damaged uint64, byTraces bool) {
	all := x.all
	if x.h.HasTraces && byTraces {
		for tag, c := range x.tags {
			x.p.Counts.Add(tag, c)
		}
	} else {
		for tag, c := range x.counts {
			if tag != (store.Tag{}) && c.Traces > 0 {
				x.p.Counts.Add(tag, layout.Counted(c))
			}
		}
	}
	if !x.h.HasTraces {
		all = layout.Counted(x.counts[store.Tag{}])
		all.Traces -= min(all.Traces, damaged)
	}
	if all.Traces > 0 {
		x.p.Counts.Add(store.Tag{}, all)
	}
}
