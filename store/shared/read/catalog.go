package read

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// Catalog implements [store.Reader]. With a lag of 0, the result includes all traces that were
// acknowledged before the call.
func (r *Reader) Catalog(ctx context.Context, since, until time.Time, lag time.Duration) ([]store.CatalogEntry,
	store.ScanStats, error) {
	x := &reading{r: r, q: store.Query{Since: since, Until: until}, want: store.Wanted{Lag: lag}}
	if err := x.begin(ctx); err != nil {
		return nil, x.stats, err
	}
	var parts []*catalogPart
	for _, shard := range r.shardsOf("") {
		pieces, err := x.plan(ctx, shard)
		if err != nil {
			return nil, x.stats, err
		}
		for _, p := range pieces {
			for _, k := range slices.Concat(p.rollups, p.vitals) { // the catalogue is in the same object as the rollups
				parts = append(parts, &catalogPart{of: p, key: k})
			}
		}
	}
	x.readCatalogs(ctx, parts)
	if ctx.Err() != nil {
		return nil, x.stats, context.Cause(ctx)
	}
	totals := map[string]layout.Catalog{}
	for _, p := range parts {
		if p.err != nil {
			x.unreadable(&fetched{piece: p.of}, p.err)
			continue
		}
		for page, counts := range p.pages {
			if totals[page] == nil {
				totals[page] = layout.Catalog{}
			}
			for t, n := range counts {
				totals[page].Add(t, n)
			}
		}
	}
	var out []store.CatalogEntry
	for page, c := range totals {
		for t, n := range c {
			out = append(out, store.CatalogEntry{Page: page, Tag: t, Traces: n.Traces,
				First: time.UnixMicro(n.First).UTC(), Last: time.UnixMicro(n.Last).UTC()})
		}
	}
	slices.SortFunc(out, store.CompareEntries)
	return out, x.stats, nil
}

// catalogPart is the catalogue in one object of rollups.
type catalogPart struct {
	of    piece
	key   string
	pages map[string]layout.Catalog
	err   error
}

// readCatalogs reads catalogues in parallel.
func (x *reading) readCatalogs(ctx context.Context, parts []*catalogPart) {
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, p := range parts {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if p.err = context.Cause(ctx); p.err == nil {
				p.pages, p.err = x.readCatalog(ctx, p.key)
			}
		})
	}
	group.Wait()
}

// readCatalog reads the catalogue of an object of rollups. It returns the entries that overlap the
// time of the query.
func (x *reading) readCatalog(ctx context.Context, k string) (map[string]layout.Catalog, error) {
	o, err := x.r.b.OpenFrom(ctx, x.r.cache, k)
	if err != nil {
		return nil, err
	}
	out, err := o.Catalogs(ctx)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(out, func(_ string, counts layout.Catalog) bool {
		maps.DeleteFunc(counts, func(_ store.Tag, n layout.Counted) bool {
			p := piece{first: n.First, last: n.Last}
			return n.Traces == 0 || !p.overlaps(x.q.Since, x.q.Until)
		})
		return len(counts) == 0
	})
	return out, nil
}

// newest returns the manifests of all shards, at most [layout.ManifestAge] old.
func (r *Reader) newest(ctx context.Context) ([]*layout.Manifest, error) {
	out := make([]*layout.Manifest, r.b.Shards)
	for i := range out {
		m, _, err := r.b.Manifest(ctx, i, layout.ManifestAge)
		if err != nil {
			return nil, err
		}
		out[i] = m
	}
	return out, nil
}

// versionWait bounds how long Version and similar methods wait for manifests. These methods return
// no errors.
const versionWait = 10 * time.Second

// Version returns a string that changes whenever the data of [since, until) changes. Zero times are
// open ends. If the store does not respond, each call returns a new string.
func (r *Reader) Version(since, until time.Time) string {
	ctx, cancel := context.WithTimeout(context.Background(), versionWait)
	defer cancel()
	list, err := r.newest(ctx)
	if err != nil {
		return layout.NewID()
	}
	h := fnv.New128a()
	for shard, m := range list {
		for _, p := range planOf(m, shard, since, until, false) {
			_, _ = fmt.Fprintln(h, p.name, p.rollups, p.runs, p.traces) // a hash never returns an error
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// Deleted returns a string that changes whenever data is deleted on request, as far as this node
// knows.
func (r *Reader) Deleted() string {
	h := fnv.New128a()
	for shard := range r.b.Shards {
		m, _ := r.b.NewestKnown(shard)
		if m == nil {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(m.Deletions)) {
			at := m.Deletions[id]
			_, _ = fmt.Fprintln(h, shard, id, at.Pages, at.Parts) // a hash never returns an error
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// HasTraces reports whether all traces of [since, until) are still stored, rather than only their
// rollups.
func (r *Reader) HasTraces(since, until time.Time) bool { return r.canTell(since, until, false) }

// HasHours reports whether all data of [since, until) is still stored by the hour.
func (r *Reader) HasHours(since, until time.Time) bool { return r.canTell(since, until, true) }

func (r *Reader) canTell(since, until time.Time, hoursWillDo bool) bool {
	ctx, cancel := context.WithTimeout(context.Background(), versionWait)
	defer cancel()
	list, err := r.newest(ctx)
	if err != nil {
		return false
	}
	for _, m := range list {
		there := map[string]bool{}
		asked := map[string]bool{}
		for name, h := range m.Hours {
			there[name] = hoursWillDo || len(h.Runs) > 0 || h.Traces == 0
			asked[name] = true
		}
		for _, d := range m.Days {
			for _, name := range d.Sources {
				asked[name] = true
			}
		}
		for name := range maps.Keys(asked) {
			start, err := layout.ParseHour(name)
			if err != nil {
				continue // never happens: names in manifests are checked
			}
			overlaps := (until.IsZero() || start.Before(until)) && start.Add(time.Hour).After(since)
			if overlaps && !there[name] {
				return false
			}
		}
	}
	return true
}
