package check

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// restore brings the manifest of a shard back that is lost or damaged.
func (r mender) restore(ctx context.Context) error {
	tag := objects.Tag("")
	got, err := r.Bucket.Get(ctx, layout.ManifestKey(r.Number), layout.MaxManifest, "")
	if err == nil {
		if _, err = r.Bucket.DecodeManifest(r.Number, got.Body); err == nil {
			return nil // it was put back meanwhile
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
		return fmt.Errorf("no old manifest of shard %d can be read", r.Number)
	}
	return r.PutBack(ctx, m, tag)
}

// mend has an old manifest name what is there: of hours some of whose runs or rollups were compacted since, the rollups are made again of the runs that
// are left. What these were compacted into is adopted after that. It reports whether there were such hours.
func (r mender) mend(ctx context.Context, next *layout.Manifest) (changed bool, err error) {
	there := map[string]bool{}
	unnamed := map[string]bool{} // hours that have runs without a name
	named := next.Names(r.Number)
	for _, kind := range []string{"raw/", "hours/"} {
		for e, err := range r.Bucket.List(ctx, kind+layout.ShardName(r.Number)+"/", "") {
			if err != nil {
				return false, fmt.Errorf("list what is there: %w", err)
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
		h.Runs = slices.DeleteFunc(slices.Clone(h.Runs), func(f layout.File) bool { return !there[layout.RunKey(r.Number, name, f.ID)] })
		gone := len(h.Runs) < len(was.Runs)
		noRollups := slices.ContainsFunc(h.Rollups, func(f layout.File) bool { return !there[layout.HourKey(r.Number, name, f.ID)] })
		if len(was.Runs) == 0 || gone && !unnamed[name] || !gone && !noRollups {
			*h = was // if something is missing, it is too old, or lost
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
