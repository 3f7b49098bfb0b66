package fleet

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

// Catalog returns what is stored for which page and tag, as [store.Reader.Catalog] does.
func (r *Reader) Catalog(ctx context.Context, since, until time.Time) ([]store.CatalogEntry, store.ScanStats, error) {
	x := &reading{r: r}
	totals := map[string]catalog{}
	for _, shard := range r.shardsOf("") {
		pieces, asOf, err := r.plan(ctx, shard, since, until, false)
		if err != nil {
			return nil, x.stats, err
		}
		x.stats.Behind = max(x.stats.Behind, r.Now().Sub(asOf))
		m, _, err := r.manifest(ctx, shard, manifestAge)
		if err != nil {
			return nil, x.stats, err
		}
		for _, p := range pieces {
			if ctx.Err() != nil {
				return nil, x.stats, context.Cause(ctx)
			}
			keys := p.sums
			if len(keys) == 0 { // the catalogue lies with the sums
				for _, f := range m.Hours[p.name].sums() {
					keys = append(keys, sumsKey(shard, p.name, f.ID))
				}
			}
			for _, k := range keys {
				if err := r.addCatalog(ctx, k, since, until, totals); err != nil {
					if ctx.Err() != nil {
						return nil, x.stats, context.Cause(ctx)
					}
					x.unreadable(&fetched{piece: p}, err)
				}
			}
		}
	}
	var out []store.CatalogEntry
	for page, c := range totals {
		for t, n := range c {
			out = append(out, store.CatalogEntry{Page: page, Tag: t, Traces: n.traces, First: time.UnixMicro(n.first).UTC(), Last: time.UnixMicro(n.last).UTC()})
		}
	}
	slices.SortFunc(out, compareEntries)
	return out, x.stats, nil
}

// sums returns the sums of an hour that may not be there.
func (h *hour) sums() []file {
	if h == nil {
		return nil
	}
	return h.Sums
}

// addCatalog adds the catalogue of an object of sums.
func (r *Reader) addCatalog(ctx context.Context, k string, since, until time.Time, to map[string]catalog) error {
	o, err := r.openObject(ctx, r.cache, k)
	if err != nil {
		return err
	}
	list := o.index.Kind(kindCatalog)
	data, err := r.data(ctx, o, list)
	if err != nil {
		return err
	}
	for i, e := range list {
		counts, err := decodeCatalog(data[i])
		if err != nil {
			return fmt.Errorf("read %s: catalogue of %q: %w", k, e.Page, err)
		}
		for t, n := range counts {
			p := piece{first: n.first, last: n.last}
			if n.traces == 0 || !p.overlaps(since, until) {
				continue
			}
			if to[e.Page] == nil {
				to[e.Page] = catalog{}
			}
			to[e.Page].add(t, n)
		}
	}
	return nil
}

// newest returns the manifests that are known of shards, and asks for those that are not.
func (r *Reader) newest(ctx context.Context) ([]*manifest, error) {
	out := make([]*manifest, r.shards)
	for i := range out {
		m, _, err := r.manifest(ctx, i, manifestAge)
		if err != nil {
			return nil, err
		}
		out[i] = m
	}
	return out, nil
}

// versionWait bounds how long it is waited for a manifest by those who can not be told of an error.
const versionWait = 10 * time.Second

// Version returns a text that changes whenever what is stored of [since, until) changes. Zero times are open ends.
// Without an answer of the store it is another one each time.
func (r *Reader) Version(since, until time.Time) string {
	ctx, cancel := context.WithTimeout(context.Background(), versionWait)
	defer cancel()
	list, err := r.newest(ctx)
	if err != nil {
		return newID()
	}
	h := fnv.New128a()
	for shard, m := range list {
		for _, p := range planOf(m, shard, since, until, false) {
			_, _ = fmt.Fprintln(h, p.name, p.sums, p.runs, p.traces) // a hash takes everything
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// HasTraces reports whether the traces of all that was received in [since, until) are there, and not only what they
// sum up to.
func (r *Reader) HasTraces(since, until time.Time) bool { return r.canTell(since, until, false) }

// HasHours reports whether what was received in [since, until) can be told apart by the hour.
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
			start, err := parseHour(name)
			if err != nil {
				continue // never: manifests are checked
			}
			overlaps := (until.IsZero() || start.Before(until)) && start.Add(time.Hour).After(since)
			if overlaps && !there[name] {
				return false
			}
		}
	}
	return true
}
