package fleet

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/block"
	"github.com/fieldtrie/fieldtrie/rollup"
)

// foldAfter is how many runs of a tier, and how many sums of an hour, are replaced by one.
const foldAfter = 8

// fold replaces runs and sums of an hour when there are many. Sums become one. Runs, which have all that was ever
// received, are folded in tiers, so that each trace is written a few times only.
func (r *roller) fold(ctx context.Context, next *manifest, hour string) error {
	h := next.Hours[hour]
	if len(h.Sums) >= foldAfter {
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

// foldSums replaces the sums of an hour by one.
func (r *roller) foldSums(ctx context.Context, next *manifest, hour string, final bool) error {
	h := next.Hours[hour]
	var names []string
	for _, f := range h.Sums {
		names = append(names, sumsKey(r.shard, hour, f.ID))
	}
	body, err := r.addUp(ctx, names, final)
	if err != nil {
		return err
	}
	f, err := r.putNew(ctx, body, func(id string) string { return sumsKey(r.shard, hour, id) })
	if err != nil {
		return err
	}
	next.remove(r.n.Now(), names...)
	h.Sums = []file{f}
	return nil
}

// addUp returns an object with what sums add up to. All of these are in memory, but one page alone is decoded.
func (r *roller) addUp(ctx context.Context, names []string, final bool) ([]byte, error) {
	var objects []*object
	pages := map[string]bool{}
	for _, name := range names {
		o, err := r.n.wholeObject(ctx, name)
		if err != nil {
			return nil, r.missing(err)
		}
		objects = append(objects, o)
		for _, e := range o.index.Kind(kindStacks) {
			pages[e.Page] = true
		}
	}
	w := newSumsWriter(r.n.codec, final)
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		p := newPageSum(page, r.n.opts.Rollups)
		for _, o := range objects {
			if err := r.n.addPage(ctx, o, p, page); err != nil {
				return nil, err
			}
		}
		if err := w.add(page, p); err != nil {
			return nil, fmt.Errorf("write sums: %w", err)
		}
	}
	return w.finish()
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
	if withCounts {
		kinds = append(kinds, kindCatalog)
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
	x, err := decodeSummed(data[0], data[1:1+len(levels)])
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: sums of %q: %w", o.key, page, err)
	}
	var counts catalog
	if withCounts {
		if counts, err = decodeCatalog(data[len(data)-1]); err != nil {
			return nil, nil, fmt.Errorf("read %s: catalogue of %q: %w", o.key, page, err)
		}
	}
	return x, counts, nil
}

// maxRun is how large a run becomes that others are merged into, about.
const maxRun = 256 << 20

// foldRuns replaces runs of an hour by one of another tier, or by several if it is very large.
func (r *roller) foldRuns(ctx context.Context, next *manifest, hour string, of []file, tier int) error {
	var cursors []*cursor
	var names []string
	for _, f := range of {
		k := runKey(r.shard, hour, f.ID)
		x, err := r.keysOf(ctx, k)
		if err != nil {
			return err
		}
		cursors = append(cursors, r.n.cursor(x.object, x.object.index.Kind(kindTraces)))
		names = append(names, k)
	}
	var out []file
	w := newRunWriter(r.n.codec)
	finish := func() error {
		if w.rows == 0 {
			return nil
		}
		rows := w.rows
		body, err := w.finish()
		if err != nil {
			return err
		}
		id := newID()
		out = append(out, file{ID: id, Tier: tier, Rows: rows, Size: int64(len(body))})
		w = newRunWriter(r.n.codec)
		return r.put(ctx, runKey(r.shard, hour, id), body)
	}
	err := merge(ctx, cursors, func(x *row) error {
		if x.page != w.page && w.w.Size() > maxRun {
			if err := finish(); err != nil {
				return err
			}
		}
		return w.add(x)
	})
	if err == nil {
		err = finish()
	}
	if err != nil {
		return r.missing(err)
	}
	h := next.Hours[hour]
	h.Runs = append(slices.DeleteFunc(h.Runs, func(f file) bool { return slices.Contains(of, f) }), out...)
	next.remove(r.n.Now(), names...)
	return nil
}

// cursor reads rows in order.
type cursor struct {
	r    *Reader
	o    *object
	list []block.Entry // that are not read yet
	rows []row
}

func (r *Reader) cursor(o *object, list []block.Entry) *cursor {
	return &cursor{r: r, o: o, list: list}
}

// readAhead is how much is read by one request, compressed.
const readAhead = 4 << 20

// peek returns the next row, nil at the end.
func (c *cursor) peek(ctx context.Context) (*row, error) {
	for len(c.rows) == 0 && len(c.list) > 0 {
		n, size := 1, c.list[0].Length
		for n < len(c.list) && size+c.list[n].Length <= readAhead {
			size += c.list[n].Length
			n++
		}
		data, err := c.r.data(ctx, c.o, c.list[:n])
		if err != nil {
			return nil, err
		}
		for i, e := range c.list[:n] {
			rows, err := decodeTraces(data[i], e.Page, e.Rows)
			if err != nil {
				return nil, fmt.Errorf("read %s: traces of %q: %w", c.o.key, e.Page, err)
			}
			c.rows = append(c.rows, rows...)
		}
		c.list = c.list[n:]
	}
	if len(c.rows) == 0 {
		return nil, nil
	}
	return &c.rows[0], nil
}

// merge calls f with the rows of several cursors, in order.
func merge(ctx context.Context, cursors []*cursor, f func(*row) error) error {
	for {
		var least *cursor
		var at *row
		for _, c := range cursors {
			x, err := c.peek(ctx)
			if err != nil {
				return err
			}
			if x != nil && (at == nil || compareRows(x, at) < 0) {
				least, at = c, x
			}
		}
		if least == nil {
			return nil
		}
		if err := f(at); err != nil {
			return err
		}
		least.rows = least.rows[1:]
	}
}
