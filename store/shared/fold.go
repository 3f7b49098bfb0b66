package shared

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// foldAfter is how many runs of a tier, and how many sums of an hour, are replaced by one.
const foldAfter = 8

// fold replaces runs and sums of an hour when there are many. Sums become one. Runs, which have all that was ever
// received, are folded in tiers, so that each trace is written a few times only.
func (r *roller) fold(ctx context.Context, next *manifest, hour string) error {
	h := next.Hours[hour]
	fresh := 0
	for _, f := range h.Sums {
		if f.Tier == 0 {
			fresh++
		}
	}
	if fresh >= foldAfter {
		if err := r.foldSums(ctx, next, hour, false); err != nil {
			return err
		}
	}
	for tier := 0; ; tier++ {
		var of []file
		for _, f := range h.Runs {
			if f.Tier == tier {
				of = append(of, f)
			}
		}
		if len(of) < foldAfter {
			return nil
		}
		if err := r.foldRuns(ctx, next, hour, of, tier+1); err != nil {
			return err
		}
	}
}

// foldSums replaces the sums of an hour by what they add up to.
func (r *roller) foldSums(ctx context.Context, next *manifest, hour string, final bool) error {
	h := next.Hours[hour]
	var of []sized
	for _, f := range h.Sums {
		k := sumsKey(r.shard, hour, f.ID)
		of = append(of, sized{k, f.Size})
	}
	out, err := r.addUp(ctx, of, r.ofHour(hour, final, 1))
	if err != nil {
		return err
	}
	for _, x := range of {
		next.remove(r.n.Now(), x.key)
	}
	h.Sums = out
	return nil
}

// sized names an object, and how large it is.
type sized struct {
	key  string
	size int64
}

// addUp stores what sums add up to. One page is decoded at a time, and some of each object is in memory.
func (r *roller) addUp(ctx context.Context, of []sized, to *series[*sumsWriter]) ([]file, error) {
	var objects []*object
	pages := map[string]bool{}
	for _, x := range of {
		o, err := r.n.openSums(ctx, x, shareOf(len(of)))
		if err != nil {
			return nil, r.missing(err)
		}
		objects = append(objects, o)
		for _, e := range o.index.Kind(kindStacks) {
			pages[e.Page] = true
		}
	}
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		p := newPageSum(page, r.n.opts.Rollups)
		for _, o := range objects {
			if err := r.n.addPage(ctx, o, p, page); err != nil {
				return nil, r.missing(err)
			}
		}
		w, err := to.next(ctx)
		if err != nil {
			return nil, err
		}
		if err := w.add(page, p); err != nil {
			return nil, fmt.Errorf("write sums: %w", err)
		}
	}
	return to.finish(ctx)
}

// openSums opens sums whose pages are read in order: at once if that is no more than share, else by and by.
func (r *Reader) openSums(ctx context.Context, x sized, share int64) (*object, error) {
	if x.size <= share {
		return r.wholeObject(ctx, x.key)
	}
	o, err := r.openObject(ctx, r.b, x.key)
	if err != nil {
		return nil, err
	}
	return o.forward(share, o.size, 2), nil
}

// wholeObject reads all of an object.
func (r *Reader) wholeObject(ctx context.Context, name string) (*object, error) {
	got, err := r.b.Get(ctx, name, maxObject, "")
	if err != nil {
		return nil, err
	}
	index, err := r.codec.ParseIndex(got.Body, int64(len(got.Body)))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return &object{name, int64(len(got.Body)), index, r.b, got.Body}, nil
}

// addSums adds sums of an hour to those of pages.
func (r *Reader) addSums(ctx context.Context, name string, to map[string]*pageSum, lim rollup.Limits) error {
	o, err := r.wholeObject(ctx, name)
	if err != nil {
		return err
	}
	for _, e := range o.index.Kind(kindStacks) {
		p := to[e.Page]
		if p == nil {
			p = newPageSum(e.Page, lim)
			to[e.Page] = p
		}
		if err := r.addPage(ctx, o, p, e.Page); err != nil {
			return err
		}
	}
	return nil
}

// addPage adds what an object of sums has of a page.
func (r *Reader) addPage(ctx context.Context, o *object, p *pageSum, page string) error {
	x, counts, err := r.pageSums(ctx, o, page, openLevels(), true)
	if err != nil || x == nil {
		return err
	}
	x.addTo(p)
	for t, n := range counts {
		p.counts.add(t, n)
	}
	return nil
}

// pageSums reads what an object of sums has of a page; nil if it has nothing.
func (r *Reader) pageSums(ctx context.Context, o *object, page string, levels []rollup.Level, withCounts bool) (*summed, catalog, error) {
	var list []block.Entry
	kinds := []byte{kindStacks}
	for _, level := range levels {
		kinds = append(kinds, kindRecord+byte(level))
	}
	for _, kind := range kinds {
		found := o.index.Find(kind, page)
		switch {
		case len(found) == 0 && kind == kindStacks:
			return nil, nil, nil
		case len(found) != 1:
			return nil, nil, fmt.Errorf("read %s: %w: it has %d blocks of kind %d of %q", o.key, block.ErrDamaged, len(found), kind, page)
		}
		list = append(list, found[0])
	}
	data, err := r.data(ctx, o, list)
	if err != nil {
		return nil, nil, err
	}
	x, err := decodeSummed(data[0], data[1:])
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: sums of %q: %w", o.key, page, err)
	}
	if !withCounts {
		return x, nil, nil
	}
	counts, err := r.pageCounts(ctx, o, page)
	return x, counts, err
}

// pageCounts reads the catalogue of a page, which lies far from the rest of its sums.
func (r *Reader) pageCounts(ctx context.Context, o *object, page string) (catalog, error) {
	list := o.index.Find(kindCatalog, page)
	if len(list) != 1 {
		return nil, fmt.Errorf("read %s: %w: it has %d catalogues of %q", o.key, block.ErrDamaged, len(list), page)
	}
	data, err := r.data(ctx, o, list)
	if err != nil {
		return nil, err
	}
	counts, err := decodeCatalog(data[0])
	if err != nil {
		return nil, fmt.Errorf("read %s: catalogue of %q: %w", o.key, page, err)
	}
	return counts, nil
}

// foldRuns replaces runs of an hour by others, in order and without gaps between them: full ones, and one of a tier with the rest.
func (r *roller) foldRuns(ctx context.Context, next *manifest, hour string, of []file, tier int) error {
	var cursors []*cursor
	var names []string
	for _, f := range of {
		k := runKey(r.shard, hour, f.ID)
		o, err := r.openRun(ctx, k)
		if err != nil {
			return r.missing(err)
		}
		cursors = append(cursors, r.n.cursor(o, o.index.Kind(kindTraces), len(of)))
		names = append(names, k)
	}
	runs := r.runsOf(hour, tier)
	err := merge(ctx, cursors, func(x *row) error {
		w, err := runs.next(ctx)
		if err != nil {
			return err
		}
		return w.add(x)
	})
	if err != nil {
		return r.missing(err)
	}
	out, err := runs.finish(ctx)
	if err != nil {
		return err
	}
	h := next.Hours[hour]
	h.Runs = append(slices.DeleteFunc(h.Runs, func(f file) bool { return slices.Contains(of, f) }), out...)
	next.remove(r.n.Now(), names...)
	return nil
}

// openRun opens a run that will be replaced, and so lets go of its keys.
func (r *roller) openRun(ctx context.Context, k string) (*object, error) {
	if x := r.keys[k]; x != nil {
		delete(r.keys, k)
		return x.object, nil
	}
	return r.n.openObject(ctx, r.n.b, k)
}
