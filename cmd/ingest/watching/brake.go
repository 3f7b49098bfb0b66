package watching

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/cost"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

const (
	steerEvery = time.Minute
	// looksBack is the maximum age of page views in a decision. Older ones are from a different
	// version of the site.
	looksBack = 7 * 24 * time.Hour
	// mostBraked is how many pages are checked after an hour; pages with the most profiled page
	// views come first.
	mostBraked = 50
)

// brake checks after each hour on which pages profiling costs more than the limits, and reduces
// their sampling, until ctx is done.
func (w *Watcher) brake(ctx context.Context) {
	if w.o.Steer == nil {
		return
	}
	tick := time.NewTicker(steerEvery)
	defer tick.Stop()
	for {
		if err := w.brakeOnce(ctx); err != nil && ctx.Err() == nil {
			w.o.Log.Error("it could not be looked at what profiling costs; it is tried again", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// brakeOnce applies the stored brakes, and checks pages if another hour is closed.
func (w *Watcher) brakeOnce(ctx context.Context) error {
	limits := *w.limits.Load()
	if len(limits.Of) == 0 {
		w.o.Steer(nil)
		return nil
	}
	r, err := w.board.Register(ctx)
	if err != nil {
		return err // browsers keep the previous shares
	}
	w.steer(r)
	return w.look(ctx, r, limits, w.board.Closed())
}

// braked returns the active brakes.
func (w *Watcher) braked(r *changes.Register) []changes.Brake {
	limits := w.limits.Load()
	if len(limits.Of) == 0 {
		return nil
	}
	return r.Holding(limits.Since)
}

// steer passes the pages with reduced sampling to Options.Steer.
func (w *Watcher) steer(r *changes.Register) {
	most := map[string]float64{}
	for _, b := range w.braked(r) {
		most[b.Page] = b.Rate
	}
	w.o.Steer(most)
}

// look checks on which pages profiling costs more than the limits, based on the page views up to an
// hour, unless another node has already checked them.
func (w *Watcher) look(ctx context.Context, r *changes.Register, limits cost.Limits, hour time.Time) error {
	if !r.Costs.Before(hour) {
		return nil
	}
	since := hour.Add(-looksBack)
	if limits.Since.After(since) {
		since = limits.Since
	}
	if !since.Before(hour) {
		return nil
	}
	drawn, err := w.drawn(ctx, since, hour)
	if err != nil {
		return err
	}
	var over []changes.Excess
	for _, d := range drawn {
		from := since
		if b := r.Brake(d.page); b != nil && b.Acted.After(from) {
			if from = b.Acted; b.Rate == 0 || !from.Before(hour) {
				continue
			}
		}
		c, err := w.o.Source.Cost(ctx, selection.Selection{Page: d.page, Since: from, Until: hour})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // continue with the other pages
			w.o.Log.Error("measuring the cost of profiling failed", "page", d.page, "err", err)
			continue
		}
		if x := limits.Exceeded(c.Report); x != nil {
			over = append(over, changes.Excess{Page: d.page, Share: d.share, Why: x.String()})
		}
	}
	acted, err := w.board.Braked(ctx, hour, limits.Since, over)
	for _, b := range acted {
		w.o.Log.Warn("profiling costs visitors more than the limit: fewer page views are profiled", "page", b.Page,
			"rate", b.Rate, "before", b.First, "measured", b.Why)
	}
	return err
}

// draw is a page with page views of both arms.
type draw struct {
	page     string
	profiled int64   // page views that reported
	share    float64 // of page views that are profiled
}

// drawn returns the pages with page views of both arms, those with the most profiled ones first.
func (w *Watcher) drawn(ctx context.Context, since, until time.Time) (out []draw, err error) {
	vitals, err := w.o.Source.Vitals(ctx, selection.Selection{Since: since, Until: until,
		GroupBy: []string{rollup.KeyArm}})
	if err != nil {
		return nil, err
	}
	type counts struct{ profiled, weight, others int64 }
	of := map[string]counts{}
	for i := range vitals.Pages {
		p := &vitals.Pages[i]
		c := of[p.Page]
		views, weight := int64(0), int64(0)
		for _, v := range p.Vitals {
			views, weight = max(views, v.Views), max(weight, v.PageViews)
		}
		switch p.Labels[rollup.KeyArm] {
		case rollup.ArmProfiled:
			c.profiled, c.weight = views, weight
		case rollup.ArmNone, rollup.ArmHeader:
			c.others += weight
		}
		of[p.Page] = c
	}
	for page, c := range of {
		if c.weight > 0 && c.others > 0 {
			out = append(out, draw{page, c.profiled, float64(c.weight) / float64(c.weight+c.others)})
		}
	}
	slices.SortFunc(out, func(a, b draw) int {
		return cmp.Or(cmp.Compare(b.profiled, a.profiled), cmp.Compare(a.page, b.page))
	})
	return out[:min(len(out), mostBraked)], nil
}
