package move

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
)

// Bounds of the memory of an import.
const (
	importRows  = 2048    // traces that are taken at once
	importBytes = 8 << 20 // or bytes of them
)

// importWriter writes what a stretch has of a shard.
type importWriter struct {
	r    *roll.Shard
	a    *addition
	runs *roll.Series[*layout.RunWriter]

	rows  []layout.Row // of a page, not yet written
	bytes int
}

// read reads a stretch: it stores runs of its traces, and leaves the rollups of its pages.
func (x *importer) read(ctx context.Context, r *roll.Shard, c *content, a *addition) (err error) {
	w := &importWriter{r: r, a: a, runs: r.Runs(a.hour, 0)}
	for _, page := range c.pages {
		if err := w.page(ctx, c, page); err != nil {
			return err
		}
		if a.why != "" {
			return nil
		}
	}
	a.runs, err = w.runs.Finish(ctx)
	return err
}

// page adds a page.
func (w *importWriter) page(ctx context.Context, c *content, page string) error {
	rollups, err := c.Sums(ctx, page)
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return err
	}
	if err != nil {
		w.bad("sums of %s can not be read: %v", page, err)
	}
	p, err := w.untraced(ctx, page, rollups)
	if err != nil {
		return err
	}
	if c.HasTraces {
		err = w.traces(ctx, c, p, page)
	} else {
		p.Counts = c.counts[page]
	}
	if err != nil {
		return err
	}
	w.a.traces += p.Counts[store.Tag{}].Traces
	if !p.Empty() || len(p.Counts) > 0 {
		w.a.pages[page] = p
	}
	return nil
}

func (w *importWriter) bad(format string, args ...any) {
	w.a.bad = append(w.a.bad, fmt.Sprintf(format, args...))
}

// traces adds the traces of a page, and what the directory counts of their tags, which are not with them.
func (w *importWriter) traces(ctx context.Context, c *content, p *layout.Page, page string) error {
	repeated := map[store.Tag]uint64{}
	stats, err := c.Scan(ctx, page, func(rec store.Record) error {
		if n := len(w.rows); n > 0 && (n >= importRows || w.bytes >= importBytes) && w.rows[n-1].ID.View != rec.ID.View {
			if err := w.batch(ctx, p, repeated); err != nil {
				return err
			}
		}
		i := slices.Index(rec.Pages, page)
		if i < 0 {
			return fmt.Errorf("trace %s is not of its page %q", rec.ID, page)
		}
		w.rows = append(w.rows, layout.Row{Page: page, ID: rec.ID, Received: rec.Received.UnixMicro(), Others: slices.Delete(slices.Clone(rec.Pages), i, i+1), Payload: slices.Clone(rec.Payload)})
		w.bytes += len(rec.Payload)
		return nil
	})
	if err == nil {
		err = w.batch(ctx, p, repeated)
	}
	if err != nil {
		return err
	}
	if len(stats.Unreadable) > 0 {
		w.a.why = fmt.Sprintf("it can not be read to its end: %v", stats.Unreadable[0].Err)
	}
	if stats.Damaged > 0 {
		w.bad("%d damaged traces of %s", stats.Damaged, page)
	}
	for tag, n := range c.counts[page] {
		if n.Traces -= min(n.Traces, repeated[tag]); n.Traces > 0 && tag != (store.Tag{}) {
			p.Counts.Add(tag, n)
		}
	}
	return nil
}

// batch adds rows of a page: all of some page views.
func (w *importWriter) batch(ctx context.Context, p *layout.Page, repeated map[store.Tag]uint64) error {
	rows := w.rows
	w.rows, w.bytes = nil, 0
	for name := range w.r.Manifest.Nearby(w.a.hour, rows) {
		w.a.near[name] = true
	}
	fresh, err := w.r.NewRows(ctx, w.r.Manifest, w.a.hour, rows)
	if err != nil {
		return err
	}
	left := fresh
	var d encode.BinaryDecoder
	for i := range rows {
		if len(left) > 0 && left[0].ID == rows[i].ID {
			left = left[1:]
			continue
		}
		w.a.duplicates++
		t, err := rows[i].Decode(&d)
		if err != nil {
			continue // its tags are not known
		}
		tags, _ := store.TagsOf(t)
		for _, t := range tags {
			repeated[t]++
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if err := w.r.AddToPage(ctx, w.r.Manifest, w.a.hour, p, fresh); err != nil {
		return err
	}
	for i := range fresh {
		to, err := w.runs.Next(ctx)
		if err != nil {
			return err
		}
		if err := to.Add(&fresh[i]); err != nil {
			return fmt.Errorf("write a run: %w", err)
		}
	}
	return nil
}
