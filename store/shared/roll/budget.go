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

// keepWithin takes out what is too much for the disk, the oldest first. A manifest that can not be read has nothing taken out
// of any shard: nobody knows what is the oldest then.
func (n *Roller) keepWithin(ctx context.Context, most int64) error {
	b := budget{now: n.Bucket.Now()}
	for shard, r := range n.Shards {
		_, _, err := n.Bucket.Manifest(ctx, shard, 0) // it is still there
		if err == nil {
			err = r.Begin(ctx)
		}
		if err != nil {
			return fmt.Errorf("bound the disk: shard %d: %w", shard, err)
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
		n.opts.Logger.Warn("the disk has more than it may, the oldest is deleted", "most", most, "over", over, "then", b.over)
	}
	for shard := range changed {
		if err := n.Shards[shard].Commit(ctx, b.of[shard]); err != nil {
			n.Shards[shard].Forget()
			return fmt.Errorf("bound the disk: shard %d: %w", shard, err)
		}
	}
	return nil
}

// blockSize is what the space of files is a multiple of, on most file systems.
const blockSize = 4 << 10

// sizes returns what each object takes, the first one of a folder with that, and all segments together. Symbols have a bound of their own.
func (n *Roller) sizes(ctx context.Context) (map[string]int64, error) {
	out, folder := map[string]int64{}, ""
	if place, ok := n.Bucket.Store.(interface{ FreshBytes() int64 }); ok {
		out[layout.Segments] = place.FreshBytes()
	}
	for _, kind := range append(ofManifests(), layout.Quarantine, "shard/") {
		for e, err := range n.Bucket.List(ctx, kind, "") {
			if err != nil {
				return nil, fmt.Errorf("look how much space is taken: %w", err)
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

// Taken returns how many bytes the objects take where this process is alone, but for symbols.
func (n *Roller) Taken(ctx context.Context) (sum int64, err error) {
	size, err := n.sizes(ctx)
	for _, bytes := range size {
		sum += bytes
	}
	return sum, err
}

// ofManifests returns what the keys of objects begin with that count if a manifest names them.
func ofManifests() []string { return []string{"raw/", "hours/", "days/"} }

// budget decides what of all shards goes, so that the rest takes as much as it may. It decides alike for all shards, whose pages
// have equal rights.
type budget struct {
	of   []*layout.Manifest // of the shards, which change
	size map[string]int64   // bytes of the objects that are there
	now  time.Time
	over int64 // bytes that are too many
}

// taken returns what is taken by segments, manifests and what those name. What was taken out before is as good as deleted. What
// no manifest names may be what a lost one has named: it makes nothing else go.
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

// cut takes out what is too much: the oldest traces, then the oldest days of rollups by the hour, then rollups by the day. The
// newest of each stays. It returns which shards have less now.
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

// kind is something that goes by its time.
type kind struct {
	note func(m *layout.Manifest, names map[string]bool) // the hours or days of which there is something
	may  func(m *layout.Manifest, name string) bool      // there is something that may go
	take func(m *layout.Manifest, now time.Time, shard int, name string)
}

// hourlyTraces are the traces of hours. Those of an hour stay until the next one is over: what comes twice is known by them.
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

// hoursOfDays are the rollups of the hours of a day, which go together: while there is one of them, queries do not read the day for
// a part of it.
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

// dailyRollups are the rollups of days, without which nothing is left of these.
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
