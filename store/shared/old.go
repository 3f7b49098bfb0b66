package shared

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/store/bucket"
)

// A shard keeps some of its last manifests, so that it can be brought back when its manifest is lost: one every so often, and
// one whenever an hour is closed.
const (
	oldManifests = 8
	oldEvery     = 10 * time.Minute
)

// oldPrefix is what their names begin with. A number follows, which grows.
func oldPrefix(shard int) string { return "shard/" + shardName(shard) + "/OLD-" }

func oldKey(shard int, n uint64) string { return fmt.Sprintf("%s%016d", oldPrefix(shard), n) }

// olds lists the old manifests of a shard, oldest first. Numbers say what is older: clocks may be wrong.
func (r *Reader) olds(ctx context.Context, shard int) (list []bucket.Entry, last uint64, err error) {
	for e, err := range r.b.List(ctx, oldPrefix(shard), "") {
		if err != nil {
			return nil, 0, fmt.Errorf("list old manifests: %w", err)
		}
		var n uint64
		if _, err := fmt.Sscanf(strings.TrimPrefix(e.Key, oldPrefix(shard)), "%016d", &n); err == nil && oldKey(shard, n) == e.Key {
			list, last = append(list, e), n // keys are as long as each other
		}
	}
	return list, last, nil
}

// keepOld keeps the manifest as it is, if it is time for that.
func (r *roller) keepOld(ctx context.Context, closed bool) error {
	if r.m == nil || r.tag == "" || r.m.Nonce == r.kept.nonce || !closed && time.Since(r.kept.since) < oldEvery {
		return nil
	}
	list, last, err := r.n.olds(ctx, r.shard)
	if err != nil {
		return err
	}
	if n := len(list); n > 0 && !closed && r.n.Now().Sub(list[n-1].Modified).Abs() < oldEvery {
		return nil // another machine has
	}
	body, err := r.m.encode(r.n.codec)
	if err != nil {
		return err
	}
	switch _, err := r.n.b.Put(ctx, oldKey(r.shard, last+1), body, bucket.Absent); {
	case errors.Is(err, bucket.ErrConflict):
		return nil // so does another machine
	case err != nil:
		return fmt.Errorf("keep the manifest: %w", err)
	}
	r.kept = seenState{r.m.Nonce, time.Now()}
	var old []string
	for i := range max(0, len(list)+1-oldManifests) {
		old = append(old, list[i].Key)
	}
	return r.n.deleteAll(ctx, old)
}

// newestOld returns the newest old manifest of a shard that can be read; nil if there is none.
func (r *Reader) newestOld(ctx context.Context, shard int) (*manifest, error) {
	list, _, err := r.olds(ctx, shard)
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(list) {
		got, err := r.b.Get(ctx, e.Key, maxManifest, "")
		if err == nil {
			var m *manifest
			if m, err = r.decodeManifest(shard, got.Body); err == nil {
				return m, nil
			}
		}
		if !isWrong(err) {
			return nil, err
		}
	}
	return nil, nil
}

// restore brings the manifest of a shard back that is lost or damaged.
func (r *roller) restore(ctx context.Context) error {
	tag := bucket.Tag("")
	got, err := r.n.b.Get(ctx, manifestKey(r.shard), maxManifest, "")
	if err == nil {
		if _, err = r.n.decodeManifest(r.shard, got.Body); err == nil {
			return nil // it was put back meanwhile
		}
		tag = got.Tag
	}
	if !isWrong(err) {
		return err
	}
	m, err := r.n.newestOld(ctx, r.shard)
	if err != nil {
		return err
	}
	if m == nil {
		return fmt.Errorf("no old manifest of shard %d can be read", r.shard)
	}
	r.m, r.tag, r.keys, r.began = m, tag, map[string]*runKeys{}, time.Time{}
	next := m.clone()
	next.Owner = ""
	return r.replace(ctx, next)
}

// mend has an old manifest name what is there: of hours some of whose runs or sums were folded since, the sums are made again of the runs that
// are left. What these were folded into is adopted after that. It reports whether there were such hours.
func (r *roller) mend(ctx context.Context, next *manifest) (changed bool, err error) {
	there := map[string]bool{}
	unnamed := map[string]bool{} // hours that have runs without a name
	named := next.names(r.shard)
	for _, kind := range []string{"raw/", "hours/"} {
		for e, err := range r.n.b.List(ctx, kind+shardName(r.shard)+"/", "") {
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

// hourOfKey returns the hour or day in the key of an object of a shard.
func hourOfKey(key string) string {
	part := strings.Split(key, "/")
	if len(part) < 3 {
		return ""
	}
	return part[2]
}
