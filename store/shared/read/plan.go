package read

import (
	"maps"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// piece is a unit that a query reads from a shard: the rollups of a day or an hour, or the traces
// of an hour.
type piece struct {
	shard       int
	name        string // of the day or the hour
	isDay       bool
	rollups     []string // keys of objects; empty for traces
	isTraces    bool
	runs        []string // keys of the runs that overlap the query
	vitals      []string // keys of rollups that are read for their Web Vitals, in addition to traces
	first, last int64    // µs
	traces      uint64
	widened     bool // read completely although the query covers only a part

	quarantined []layout.Quarantined // objects that are missing from it
	instead     []piece              // the hours of a day, in case its rollups cannot be read
}

// planOf returns the pieces of a shard for a query over [since, until). Each trace is read once:
// from the rollups of its day if the query covers the whole day, else from the rollups of its hour,
// else from the runs. If the traces or hours of a partly covered period have expired, the period is
// read completely.
func planOf(m *layout.Manifest, shard int, since, until time.Time, noRollups bool) (out []piece) {
	covered := map[string]bool{}
	if !noRollups {
		for _, name := range slices.Sorted(maps.Keys(m.Days)) {
			d := m.Days[name]
			p := piece{shard: shard, name: name, isDay: true, traces: d.Traces, first: d.First, last: d.Last}
			if p.within(since, until) || d.OutlivesHours(m) && p.overlaps(since, until) {
				for _, f := range d.Rollups {
					p.rollups = append(p.rollups, layout.DayKey(shard, name, f.ID))
				}
				p.widened = !p.within(since, until)
				for _, h := range d.Sources {
					covered[h] = true
					if hour, ok := hourPiece(m, shard, h, since, until, false); ok {
						p.quarantined = append(p.quarantined, hour.quarantined...)
						p.instead = append(p.instead, hour)
					}
				}
				if !d.Complete(m) {
					p.instead = nil
				}
				out = append(out, p)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Hours)) {
		if covered[name] {
			continue
		}
		if p, ok := hourPiece(m, shard, name, since, until, noRollups); ok {
			out = append(out, p)
		}
	}
	return out
}

// hourPiece returns the piece of an hour for a query over [since, until). It returns false if there
// is none.
func hourPiece(m *layout.Manifest, shard int, name string, since, until time.Time, noRollups bool) (p piece, ok bool) {
	h := m.Hours[name]
	if h == nil {
		return p, false
	}
	p = piece{shard: shard, name: name, traces: h.Traces, first: h.First, last: h.Last}
	if !p.overlaps(since, until) {
		return p, false
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
			if store.Overlaps(f.First, f.Last, since, until) {
				p.runs = append(p.runs, layout.RunKey(shard, name, f.ID))
			}
		}
		for _, f := range h.Rollups {
			p.vitals = append(p.vitals, layout.HourKey(shard, name, f.ID))
		}
	}
	for _, q := range h.Quarantined {
		if q.Lost > 0 || q.Summed() && len(p.rollups) == 0 {
			p.quarantined = append(p.quarantined, q)
		}
	}
	return p, len(p.rollups) > 0 || p.isTraces || len(p.quarantined) > 0
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

// clip moves the start of a query to the start of the retention.
func (r *Reader) clip(since time.Time) time.Time {
	if keep := time.Duration(r.retention.Load()); keep > 0 {
		if oldest := r.b.Now().Add(-keep); oldest.After(since) {
			return oldest
		}
	}
	return since
}
