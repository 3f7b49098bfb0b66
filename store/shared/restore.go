package shared

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/store/bucket"
)

// restore brings the manifest of a shard back that is lost or damaged.
func (r mender) restore(ctx context.Context) error {
	tag := bucket.Tag("")
	got, err := r.b.Get(ctx, manifestKey(r.shard), maxManifest, "")
	if err == nil {
		if _, err = r.b.decodeManifest(r.shard, got.Body); err == nil {
			return nil // it was put back meanwhile
		}
		tag = got.Tag
	}
	if !isWrong(err) {
		return err
	}
	m, err := r.b.newestOld(ctx, r.shard)
	if err != nil {
		return err
	}
	if m == nil {
		return fmt.Errorf("no old manifest of shard %d can be read", r.shard)
	}
	return r.putBack(ctx, m, tag)
}

// mend has an old manifest name what is there: of hours some of whose runs or sums were folded since, the sums are made again of the runs that
// are left. What these were folded into is adopted after that. It reports whether there were such hours.
func (r mender) mend(ctx context.Context, next *manifest) (changed bool, err error) {
	there := map[string]bool{}
	unnamed := map[string]bool{} // hours that have runs without a name
	named := next.names(r.shard)
	for _, kind := range []string{"raw/", "hours/"} {
		for e, err := range r.b.List(ctx, kind+shardName(r.shard)+"/", "") {
			if err != nil {
				return false, fmt.Errorf("list what is there: %w", err)
			}
			there[e.Key] = true
			if kind == "raw/" && !named[e.Key] {
				unnamed[hourOfKey(e.Key)] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next.Hours)) {
		was := *next.Hours[name]
		h := next.Hours[name]
		h.Runs = slices.DeleteFunc(slices.Clone(h.Runs), func(f file) bool { return !there[runKey(r.shard, name, f.ID)] })
		gone := len(h.Runs) < len(was.Runs)
		noSums := slices.ContainsFunc(h.Sums, func(f file) bool { return !there[sumsKey(r.shard, name, f.ID)] })
		if len(was.Runs) == 0 || gone && !unnamed[name] || !gone && !noSums {
			*h = was // if something is missing, it is too old, or lost
			continue
		}
		switch err := r.remakeHour(ctx, next, name); {
		case isWrong(err):
			*h = was
		case err != nil:
			return false, err
		default:
			changed = true
		}
	}
	return changed, nil
}
