package roll

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// keepWithin removes the oldest data until the disk usage is below most bytes. If any manifest
// cannot be read, it removes nothing, because the oldest data is unknown then.
func (n *Roller) keepWithin(ctx context.Context, most int64) error {
	b := budget{now: n.Bucket.Now()}
	for shard, r := range n.Shards {
		_, _, err := n.Bucket.Manifest(ctx, shard, 0) // fail if it has been lost since it was cached
		if err == nil {
			err = r.Begin(ctx)
		}
		if err != nil {
			return fmt.Errorf("limit disk usage: shard %d: %w", shard, err)
		}
		b.of = append(b.of, r.Manifest.Clone())
	}
	var err error
	if b.size, err = n.sizes(ctx); err != nil {
		return err
	}
	b.over = b.taken() - most
	over := b.over
	changed := b.cut()
	if len(changed) > 0 {
		n.opts.Logger.Warn("disk usage exceeds --max-disk; the oldest data is deleted", "max_disk", most, "excess",
			over, "excess_left", b.over)
	}
	for shard := range changed {
		if err := n.Shards[shard].Commit(ctx, b.of[shard]); err != nil {
			n.Shards[shard].Forget()
			return fmt.Errorf("limit disk usage: shard %d: %w", shard, err)
		}
	}
	return nil
}

// blockSize is the allocation unit of most file systems, in bytes.
const blockSize = 4 << 10

// sizes returns the disk space of each object, and of all segments together under the key
// [layout.Segments]. The first object of a folder includes the space of the folder. Symbols are
// excluded, because they have their own limit.
func (n *Roller) sizes(ctx context.Context) (map[string]int64, error) {
	out, folder := map[string]int64{}, ""
	if place, ok := n.Bucket.Store.(interface{ FreshBytes() int64 }); ok {
		out[layout.Segments] = place.FreshBytes()
	}
	for _, kind := range append(ofManifests(), layout.Quarantine, "shard/") {
		for e, err := range n.Bucket.List(ctx, kind, "") {
			if err != nil {
				return nil, fmt.Errorf("measure disk usage: %w", err)
			}
			out[e.Key] = (e.Size + blockSize - 1) / blockSize * blockSize
			if in := path.Dir(e.Key); in != folder {
				out[e.Key] += blockSize
				folder = in
			}
		}
	}
	return out, nil
}

// Taken returns the disk usage of all objects except symbols, in bytes. It is only meaningful for a
// process with exclusive access.
func (n *Roller) Taken(ctx context.Context) (sum int64, err error) {
	size, err := n.sizes(ctx)
	for _, bytes := range size {
		sum += bytes
	}
	return sum, err
}

// ofManifests returns the prefixes of objects that count only if a manifest names them.
func ofManifests() []string { return []string{"raw/", "hours/", "days/"} }

// budget decides which data of all shards to delete, so that the rest fits. It applies the same
// rule to all shards, because their pages are equally important.
type budget struct {
	of   []*layout.Manifest // of the shards; cut changes them
	size map[string]int64   // of the existing objects, in bytes
	now  time.Time
	over int64 // bytes above the limit
}

// taken returns the size of segments, manifests and all objects that manifests name. Removed
// objects do not count, because they will be deleted anyway. Objects that no manifest names do not
// count either: they may belong to a lost manifest, and must not cause other data to be deleted.
func (b *budget) taken() (sum int64) {
	for key, n := range b.size {
		if !slices.ContainsFunc(ofManifests(), func(kind string) bool { return strings.HasPrefix(key, kind) }) {
			sum += n
		}
	}
	for shard, m := range b.of {
		for key := range m.Names(shard) {
			sum += b.size[key]
		}
	}
	return sum
}

// cut removes data until the rest fits: the oldest traces, then the oldest days of hourly rollups,
// then daily rollups. It keeps the newest of each. It returns the shards that it changed.
func (b *budget) cut() map[int]bool {
	changed := map[int]bool{}
	for _, k := range []kind{hourlyTraces(b.now), hoursOfDays(), dailyRollups()} {
		names := map[string]bool{}
		for _, m := range b.of {
			k.note(m, names)
		}
		oldest := slices.Sorted(maps.Keys(names))
		for _, name := range oldest[:max(0, len(oldest)-1)] {
			if b.over <= 0 {
				return changed
			}
			for shard, m := range b.of {
				if k.may(m, name) {
					before := len(m.Removed)
					k.take(m, b.now, shard, name)
					for _, x := range m.Removed[before:] {
						b.over -= b.size[x.Key]
					}
					changed[shard] = true
				}
			}
		}
	}
	return changed
}

// kind is a kind of data that is deleted by age.
type kind struct {
	note func(m *layout.Manifest, names map[string]bool) // adds the hours or days that have such data
	may  func(m *layout.Manifest, name string) bool      // whether this hour or day has data that may be deleted
	take func(m *layout.Manifest, now time.Time, shard int, name string)
}

// hourlyTraces are the traces of an hour. They are kept until the next hour is over, because they
// are needed to detect duplicates.
func hourlyTraces(now time.Time) kind {
	return kind{
		func(m *layout.Manifest, names map[string]bool) {
			for name, h := range m.Hours {
				if len(h.Runs) > 0 {
					names[name] = true
				}
			}
		},
		func(m *layout.Manifest, name string) bool {
			h := m.Hours[name]
			return h != nil && h.Sealed && len(h.Runs) > 0 && layout.IsOver(layout.HourAfter(name, 1), sealAfter, now)
		},
		(*layout.Manifest).RemoveRuns,
	}
}

// hoursOfDays are the hourly rollups of a day. They are removed together, because queries do not
// use the day while any of its hours is left.
func hoursOfDays() kind {
	return kind{
		func(m *layout.Manifest, names map[string]bool) {
			for name := range m.Hours {
				names[layout.DayOf(name)] = true
			}
		},
		func(m *layout.Manifest, day string) bool {
			hours := m.HoursOf(day)
			needed := func(name string) bool { return !m.Hours[name].Sealed || len(m.Hours[name].Runs) > 0 }
			return m.Days[day] != nil && len(hours) > 0 && !slices.ContainsFunc(hours, needed)
		},
		func(m *layout.Manifest, now time.Time, shard int, day string) {
			for _, name := range m.HoursOf(day) {
				m.RemoveHour(now, shard, name)
			}
		},
	}
}

// dailyRollups are the rollups of days, the last data of a day that is left.
func dailyRollups() kind {
	return kind{
		func(m *layout.Manifest, names map[string]bool) {
			for name := range m.Days {
				names[name] = true
			}
		},
		func(m *layout.Manifest, name string) bool {
			return m.Days[name] != nil && m.Days[name].OutlivesHours(m)
		},
		(*layout.Manifest).RemoveDay,
	}
}
