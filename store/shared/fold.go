package shared

import (
	"context"
	"fmt"
	"slices"
)

// foldAfter is how many runs of a tier, and how many sums of an hour, are replaced by one.
const foldAfter = 8

// fold replaces runs and sums of an hour when there are many. Sums become one. Runs, which have all that was ever
// received, are folded in tiers, so that each trace is written a few times only.
func (r *roller) fold(ctx context.Context, next *manifest, hour string) error {
	h := next.Hours[hour]
	fresh := 0
	for _, f := range h.Sums {
		if f.Tier == 0 {
			fresh++
		}
	}
	if fresh >= foldAfter {
		if err := r.foldSums(ctx, next, hour, false); err != nil {
			return err
		}
	}
	for tier := 0; ; tier++ {
		var of []file
		for _, f := range h.Runs {
			if f.Tier == tier {
				of = append(of, f)
			}
		}
		if len(of) < foldAfter {
			return nil
		}
		if err := r.foldRuns(ctx, next, hour, of, tier+1); err != nil {
			return err
		}
	}
}

// foldSums replaces the sums of an hour by what they add up to.
func (r *roller) foldSums(ctx context.Context, next *manifest, hour string, final bool) error {
	h := next.Hours[hour]
	var of []sized
	for _, f := range h.Sums {
		k := sumsKey(r.shard, hour, f.ID)
		of = append(of, sized{key: k, size: f.Size})
	}
	out, err := r.addUp(ctx, of, r.ofHour(hour, final, 1))
	if err != nil {
		return err
	}
	for _, x := range of {
		next.remove(r.b.Now(), x.key)
	}
	h.Sums = out
	return nil
}

// addUp stores what sums add up to. One page is decoded at a time, and some of each object is in memory.
func (r *roller) addUp(ctx context.Context, of []sized, to *series[*sumsWriter]) ([]file, error) {
	var objects []*object
	for _, x := range of {
		o, err := r.b.openSums(ctx, x, shareOf(len(of)))
		if err != nil {
			return nil, r.missing(err)
		}
		objects = append(objects, o)
	}
	for _, page := range pagesOf(objects) {
		p := r.b.newPageSum(page)
		for _, o := range objects {
			if err := o.addPage(ctx, p, page); err != nil {
				return nil, r.missing(err)
			}
		}
		w, err := to.next(ctx)
		if err != nil {
			return nil, err
		}
		if err := w.add(page, p); err != nil {
			return nil, fmt.Errorf("write sums: %w", err)
		}
	}
	return to.finish(ctx)
}

// foldRuns replaces runs of an hour by others, in order and without gaps between them: full ones, and one of a tier with the rest.
func (r *roller) foldRuns(ctx context.Context, next *manifest, hour string, of []file, tier int) error {
	var cursors []*cursor
	var names []string
	for _, f := range of {
		k := runKey(r.shard, hour, f.ID)
		o, err := r.openRun(ctx, k)
		if err != nil {
			return r.missing(err)
		}
		cursors = append(cursors, o.rows(len(of)))
		names = append(names, k)
	}
	runs := r.runsOf(hour, tier)
	err := merge(ctx, cursors, func(x *row) error {
		w, err := runs.next(ctx)
		if err != nil {
			return err
		}
		return w.add(x)
	})
	if err != nil {
		return r.missing(err)
	}
	out, err := runs.finish(ctx)
	if err != nil {
		return err
	}
	h := next.Hours[hour]
	h.Runs = append(slices.DeleteFunc(h.Runs, func(f file) bool { return slices.Contains(of, f) }), out...)
	next.remove(r.b.Now(), names...)
	return nil
}

// openRun opens a run that will be replaced, and so lets go of its keys.
func (r *roller) openRun(ctx context.Context, k string) (*object, error) {
	if x := r.keys[k]; x != nil {
		delete(r.keys, k)
		return x.object, nil
	}
	return r.b.open(ctx, k)
}
