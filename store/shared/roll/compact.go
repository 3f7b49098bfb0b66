package roll

import (
	"context"
	"errors"
	"slices"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// compactAfter is the number of runs of a tier, or of new rollups of an hour, that are merged into
// one.
const compactAfter = 8

// compact merges runs and rollups of an hour if there are many. Storing new traces has priority: if
// the disk is full, or an object cannot be read, compaction waits for a later round.
func (r *Shard) compact(ctx context.Context, l *layout.Listing, next *layout.Manifest, hour string) error {
	if !crowded(next.Hours[hour]) {
		return nil
	}
	tried := next.Clone()
	err := r.compactMany(ctx, tried, hour)
	switch {
	case err == nil:
		*next = *tried
		return nil
	case errors.Is(err, objects.ErrNoSpace), layout.FailedObject(err) != "" && ctx.Err() == nil:
		r.note(ctx, l, err)
		r.Discard(ctx, next)
		return nil
	}
	return err
}

// crowded reports whether an hour has many runs of a tier, or many new rollups.
func crowded(h *layout.Hour) bool {
	runs, fresh := map[int]int{}, 0
	for _, f := range h.Runs {
		if runs[f.Tier]++; f.Tier >= 0 && runs[f.Tier] >= compactAfter {
			return true
		}
	}
	for _, f := range h.Rollups {
		if f.Tier == 0 {
			fresh++
		}
	}
	return fresh >= compactAfter
}

// compactMany merges runs and rollups of an hour if there are many. Rollups are merged into one
// object. Runs contain all traces of the hour, so they are merged in tiers, and each trace is
// rewritten only a few times.
func (r *Shard) compactMany(ctx context.Context, next *layout.Manifest, hour string) error {
	h := next.Hours[hour]
	fresh := 0
	for _, f := range h.Rollups {
		if f.Tier == 0 {
			fresh++
		}
	}
	if fresh >= compactAfter {
		if err := r.compactRollups(ctx, next, hour, false); err != nil {
			return err
		}
	}
	for tier := 0; ; tier++ {
		var of []layout.File
		for _, f := range h.Runs {
			if f.Tier == tier {
				of = append(of, f)
			}
		}
		if len(of) < compactAfter {
			return nil
		}
		if err := r.compactRuns(ctx, next, hour, of, tier+1); err != nil {
			return err
		}
	}
}

// compactRollups replaces the rollups of an hour by their sum.
func (r *Shard) compactRollups(ctx context.Context, next *layout.Manifest, hour string, final bool) error {
	h := next.Hours[hour]
	var of []layout.Sized
	for _, f := range h.Rollups {
		k := layout.HourKey(r.Number, hour, f.ID)
		of = append(of, layout.Sized{Key: k, Size: f.Size})
	}
	out, err := r.addUp(ctx, of, r.HourRollups(hour, final, 1))
	if err != nil {
		return err
	}
	for _, x := range of {
		next.Remove(r.Bucket.Now(), x.Key)
	}
	h.Rollups = out
	return nil
}

// addUp writes the sum of rollups. It decodes one page at a time, and keeps only a part of each
// object in memory.
func (r *Shard) addUp(ctx context.Context, of []layout.Sized, to *Series[*layout.RollupWriter]) ([]layout.File, error) {
	var objects []*layout.Object
	for _, x := range of {
		o, err := r.Bucket.OpenRollups(ctx, x, layout.ShareOf(len(of)))
		if err != nil {
			return nil, r.Missing(err)
		}
		objects = append(objects, o)
	}
	for _, page := range layout.PagesOf(objects) {
		p := r.Bucket.NewPage(page)
		for _, o := range objects {
			if err := o.AddPage(ctx, p, page); err != nil {
				return nil, r.Missing(err)
			}
		}
		if err := AddPage(ctx, to, page, p); err != nil {
			return nil, err
		}
	}
	return to.Finish(ctx)
}

// compactRuns merges runs of an hour, in order. It writes full runs, and one run of a tier with the
// rest.
func (r *Shard) compactRuns(ctx context.Context, next *layout.Manifest, hour string, of []layout.File, tier int) error {
	var cursors []*layout.Cursor
	var names []string
	for _, f := range of {
		k := layout.RunKey(r.Number, hour, f.ID)
		o, err := r.OpenRun(ctx, k)
		if err != nil {
			return r.Missing(err)
		}
		cursors = append(cursors, o.Rows(len(of)))
		names = append(names, k)
	}
	out, err := r.writeRuns(ctx, cursors, r.Runs(hour, tier))
	if err != nil {
		return err
	}
	h := next.Hours[hour]
	h.Runs = append(slices.DeleteFunc(h.Runs, func(f layout.File) bool { return slices.Contains(of, f) }), out...)
	next.Remove(r.Bucket.Now(), names...)
	return nil
}

// OpenRun opens a run that will be replaced, and drops its keys from memory.
func (r *Shard) OpenRun(ctx context.Context, k string) (*layout.Object, error) {
	if x := r.keys[k]; x != nil {
		delete(r.keys, k)
		return x.Object, nil
	}
	return r.Bucket.Open(ctx, k)
}
