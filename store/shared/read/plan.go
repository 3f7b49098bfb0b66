package read

import (
	"maps"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// piece is something of a shard that a query reads: the rollups of a day or an hour, or the traces of
// an hour.
type piece struct {
	shard       int
	name        string // of the day or hour
	isDay       bool
	rollups     []string // keys of objects; none if it is traces
	isTraces    bool
	runs        []string // of traces: those that may have some of the time that is asked for
	vitals      []string // rollups beside the traces of an hour, which have Web Vitals
	first, last int64    // µs
	traces      uint64
	widened     bool // it is read as a whole although a part is asked for
}

// planOf says what of a shard a query for [since, until) reads, so that each trace is read once: the rollups of a
// day where all of it is asked for, else those of its hours, else their traces. What has no traces any more
// is taken as a whole, if some of it is asked for.
func planOf(m *layout.Manifest, shard int, since, until time.Time, noRollups bool) (out []piece) {
	covered := map[string]bool{}
	if !noRollups {
		for _, name := range slices.Sorted(maps.Keys(m.Days)) {
			d := m.Days[name]
			p := piece{shard: shard, name: name, isDay: true, traces: d.Traces, first: d.First, last: d.Last}
			if p.within(since, until) || d.Lasts(m) && p.overlaps(since, until) {
				for _, f := range d.Rollups {
					p.rollups = append(p.rollups, layout.DayKey(shard, name, f.ID))
				}
				p.widened = !p.within(since, until)
				out = append(out, p)
				for _, h := range d.Sources {
					covered[h] = true
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Hours)) {
		h := m.Hours[name]
		p := piece{shard: shard, name: name, traces: h.Traces, first: h.First, last: h.Last}
		if covered[name] || !p.overlaps(since, until) {
			continue
		}
		gone := len(h.Runs) == 0
		if !noRollups && (p.within(since, until) || gone) {
			for _, f := range h.Rollups {
				p.rollups = append(p.rollups, layout.HourKey(shard, name, f.ID))
			}
			p.widened = !p.within(since, until)
		} else {
			p.isTraces = len(h.Runs) > 0
			for _, f := range h.Runs {
				if f.Last == 0 || store.Overlaps(f.First, f.Last, since, until) {
					p.runs = append(p.runs, layout.RunKey(shard, name, f.ID))
				}
			}
			for _, f := range h.Rollups {
				p.vitals = append(p.vitals, layout.HourKey(shard, name, f.ID))
			}
		}
		if len(p.rollups) > 0 || p.isTraces {
			out = append(out, p)
		}
	}
	return out
}

func (p *piece) within(since, until time.Time) bool {
	return (since.IsZero() || p.first >= since.UnixMicro()) && (until.IsZero() || p.last < until.UnixMicro())
}

func (p *piece) overlaps(since, until time.Time) bool {
	return (since.IsZero() || p.last >= since.UnixMicro()) && (until.IsZero() || p.first < until.UnixMicro())
}

// shardsOf returns the shards that a query reads.
func (r *Reader) shardsOf(page string) []int {
	if page != "" {
		return []int{layout.ShardOf(page, r.b.Shards)}
	}
	all := make([]int, r.b.Shards)
	for i := range all {
		all[i] = i
	}
	return all
}

// clip moves the start of a query to where retention begins.
func (r *Reader) clip(since time.Time) time.Time {
	if keep := time.Duration(r.retention.Load()); keep > 0 {
		if oldest := r.b.Now().Add(-keep); oldest.After(since) {
			return oldest
		}
	}
	return since
}
