package check

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// restore restores the lost or damaged manifest of a shard from a copy.
func (r mender) restore(ctx context.Context) error {
	tag := objects.Tag("")
	got, err := r.Bucket.Get(ctx, layout.ManifestKey(r.Number), layout.MaxManifest, "")
	if err == nil {
		if _, err = r.Bucket.DecodeManifest(r.Number, got.Body); err == nil {
			return nil // it was restored in the meantime
		}
		tag = got.Tag
	}
	if !layout.IsWrong(err) {
		return err
	}
	m, err := r.Bucket.NewestOld(ctx, r.Number)
	if err != nil {
		return err
	}
	if m == nil {
		return fmt.Errorf("no copy of the manifest of shard %d can be read", r.Number)
	}
	return r.PutBack(ctx, m, tag)
}

// mend updates a restored copy of a manifest. If some runs or rollups of an hour no longer exist
// because they were compacted later, it rebuilds the rollups from the remaining runs. The runs that
// the others were compacted into are adopted afterwards. It reports whether it changed any hour.
func (r mender) mend(ctx context.Context, next *layout.Manifest) (changed bool, err error) {
	there := map[string]bool{}
	unnamed := map[string]bool{} // hours with unnamed runs
	named := next.Names(r.Number)
	for _, kind := range []string{"raw/", "hours/"} {
		for e, err := range r.Bucket.List(ctx, kind+layout.ShardName(r.Number)+"/", "") {
			if err != nil {
				return false, fmt.Errorf("list objects: %w", err)
			}
			there[e.Key] = true
			if kind == "raw/" && !named[e.Key] {
				unnamed[layout.HourOfKey(e.Key)] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next.Hours)) {
		was := *next.Hours[name]
		h := next.Hours[name]
		h.Runs = slices.DeleteFunc(slices.Clone(h.Runs), func(f layout.File) bool {
			return !there[layout.RunKey(r.Number, name, f.ID)]
		})
		gone := len(h.Runs) < len(was.Runs)
		noRollups := slices.ContainsFunc(h.Rollups, func(f layout.File) bool {
			return !there[layout.HourKey(r.Number, name, f.ID)]
		})
		if len(was.Runs) == 0 || gone && !unnamed[name] || !gone && !noRollups {
			*h = was // the missing objects have expired, or are lost
			continue
		}
		switch err := r.RemakeHour(ctx, next, name); {
		case layout.IsWrong(err):
			*h = was
		case err != nil:
			return false, err
		default:
			changed = true
		}
	}
	return changed, nil
}
