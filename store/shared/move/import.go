package move

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
)

// Stats say what was moved into a bucket, or out of it.
type Stats struct {
	Hours, Days int    // moved, or there already
	Known       int    // of these: there already
	Traces      uint64 // moved; one of two pages counts twice
	Duplicates  uint64 // traces that were there already
	// Left says what is not moved, and why.
	Left []string
}

// leave notes what is not moved; of many shards once.
func (s *Stats) leave(what, why string) {
	if text := what + ": " + why; !slices.Contains(s.Left, text) {
		s.Left = append(s.Left, text)
	}
}

// Moving is told now and then how far something is: hours and days of all that there are, and traces.
type Moving func(done, of int, traces uint64)

func originOf(x *store.Stretch) layout.Origin {
	return layout.Origin{Start: x.Start.UnixMicro(), First: x.First.UnixMicro(), Last: x.Last.UnixMicro(), Day: len(x.Hours) > 0}
}

// Import moves what a directory has into the bucket, hour by hour, while others may use it: traces with all that
// they have, sums where the traces are gone, page views without a trace, and Web Vitals. What was imported before is
// not imported again, so that an import that was cut off is begun anew. A trace that is there already, in
// the same hour or one beside it, counts once.
//
// What can not be told apart from what the bucket has is left, and so is what can not be read: the stats say what.
func Import(ctx context.Context, n *roll.Roller, from store.Source, moving Moving) (Stats, error) {
	var stats Stats
	list, unreadable := from.Stretches()
	for _, u := range unreadable {
		stats.leave(u.Partition, u.Err.Error())
	}
	done := 0
	for _, unit := range unitsOf(list) {
		x := &importer{n: n, stats: &stats, moving: func() { moving(done, len(list), stats.Traces) }}
		if err := x.unit(ctx, unit); err != nil {
			return stats, fmt.Errorf("import %s: %w", unit[0].Name, err)
		}
		done += len(unit)
		moving(done, len(list), stats.Traces)
	}
	return stats, nil
}

// unitsOf divides stretches into what is committed at once: an hour with traces, or rollups that lie in one file.
func unitsOf(list []store.Stretch) (out [][]store.Stretch) {
	name := func(x *store.Stretch) string {
		switch {
		case x.HasTraces:
			return x.Name
		case len(x.Hours) > 0:
			return x.Start.Format("days 200601")
		}
		return x.Start.Format("hours 20060102")
	}
	for len(list) > 0 {
		k := 1
		for k < len(list) && name(&list[k]) == name(&list[0]) {
			k++
		}
		out = append(out, list[:k])
		list = list[k:]
	}
	return out
}

// importer moves stretches that are committed at once.
type importer struct {
	n      *roll.Roller
	stats  *Stats
	moving func()
}

// content is what a stretch has of a shard.
type content struct {
	*store.Stretch
	pages  []string
	counts map[string]layout.Catalog // of pages
}

// unit moves stretches, shard by shard.
func (x *importer) unit(ctx context.Context, unit []store.Stretch) error {
	shards := make([][]content, x.n.Bucket.Shards)
	for i := range unit {
		all, err := x.contents(ctx, &unit[i])
		if err != nil {
			return err
		}
		for shard, c := range all {
			if len(c.pages) > 0 {
				shards[shard] = append(shards[shard], c)
			}
		}
	}
	moved := map[string]bool{}
	for shard, list := range shards {
		if err := x.shard(ctx, shard, list, moved); err != nil {
			return fmt.Errorf("shard %d: %w", shard, err)
		}
	}
	for i := range unit {
		if len(unit[i].Hours) > 0 {
			x.stats.Days++
		} else {
			x.stats.Hours++
		}
		if !moved[unit[i].Name] {
			x.stats.Known++
		}
	}
	return nil
}

// contents divides what a stretch has among shards.
func (x *importer) contents(ctx context.Context, s *store.Stretch) ([]content, error) {
	out := make([]content, x.n.Bucket.Shards)
	for i := range out {
		out[i] = content{Stretch: s, counts: map[string]layout.Catalog{}}
	}
	of := func(page string) *content { return &out[layout.ShardOf(page, x.n.Bucket.Shards)] }
	err := s.Catalog(ctx, func(e store.CatalogEntry) {
		c := of(e.Page)
		if c.counts[e.Page] == nil {
			c.counts[e.Page] = layout.Catalog{}
		}
		c.counts[e.Page].Add(e.Tag, layout.Counted{Traces: e.Traces, First: e.First.UnixMicro(), Last: e.Last.UnixMicro()})
	})
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return nil, err
	}
	if err != nil {
		x.stats.leave("the catalogue of "+s.Name, err.Error())
	}
	pages, err := s.Pages(ctx)
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		c := of(page)
		c.pages = append(c.pages, page)
	}
	return out, nil
}

// Waits between attempts to replace a manifest that others replace, too.
const (
	importPause    = 100 * time.Millisecond
	importAttempts = 50
)

// shard moves what stretches have of a shard: objects first, then one commit. If another node was faster, it commits
// again; what it has made is good as long as nothing has changed that it was made for.
func (x *importer) shard(ctx context.Context, shard int, list []content, moved map[string]bool) error {
	r := x.n.Errand(shard)
	made := map[string]*addition{}
	for attempt := 0; ; attempt++ {
		err := x.commit(ctx, r, list, made)
		if err == nil {
			x.note(made, moved)
			return nil
		}
		if !errors.Is(err, roll.ErrLost) || attempt == importAttempts {
			return err
		}
		r.Forget()
		if err := x.n.Bucket.Pause(ctx, 0, importPause/2+rand.N(importPause)); err != nil {
			return err
		}
	}
}

// commit adds stretches to a shard, or what was made of them before. It fails with [roll.ErrLost] if another node has
// written the manifest meanwhile.
func (x *importer) commit(ctx context.Context, r *roll.Shard, list []content, made map[string]*addition) error {
	if err := r.Load(ctx); err != nil {
		return err
	}
	changed := false
	for i := range list {
		a, err := x.add(ctx, r, &list[i], made[list[i].Name])
		if err != nil {
			return err
		}
		made[list[i].Name] = a
		changed = changed || a.adds()
		x.moving()
	}
	if !changed {
		return nil
	}
	next := r.Manifest.Clone()
	for i := range list {
		if a := made[list[i].Name]; a.adds() {
			a.apply(r, next)
		}
	}
	return r.Replace(ctx, next)
}

// note counts what was committed.
func (x *importer) note(made map[string]*addition, moved map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(made)) {
		a := made[name]
		if a.why != "" {
			x.stats.leave(name, a.why)
		}
		for _, bad := range a.bad {
			x.stats.leave(name, bad)
		}
		if a.adds() {
			moved[name] = true
			x.stats.Traces += a.traces
			x.stats.Duplicates += a.duplicates
		}
	}
}
