package shared

import (
	"context"
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// addSums adds sums of an hour to those of pages.
func (b *view) addSums(ctx context.Context, name string, to map[string]*pageSum) error {
	o, err := b.whole(ctx, name)
	if err != nil {
		return err
	}
	for _, e := range o.index.Kind(kindStacks) {
		p := to[e.Page]
		if p == nil {
			p = b.newPageSum(e.Page)
			to[e.Page] = p
		}
		if err := o.addPage(ctx, p, e.Page); err != nil {
			return err
		}
	}
	return nil
}

// addPage adds what an object of sums has of a page.
func (o *object) addPage(ctx context.Context, p *pageSum, page string) error {
	x, counts, err := o.pageSums(ctx, page, openLevels(), true)
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
func (o *object) pageSums(ctx context.Context, page string, levels []rollup.Level, withCounts bool) (*summed, catalog, error) {
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
	data, err := o.data(ctx, list)
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
	counts, err := o.pageCounts(ctx, page)
	return x, counts, err
}

// pageCounts reads the catalogue of a page, which lies far from the rest of its sums.
func (o *object) pageCounts(ctx context.Context, page string) (catalog, error) {
	list := o.index.Find(kindCatalog, page)
	if len(list) != 1 {
		return nil, fmt.Errorf("read %s: %w: it has %d catalogues of %q", o.key, block.ErrDamaged, len(list), page)
	}
	data, err := o.data(ctx, list)
	if err != nil {
		return nil, err
	}
	counts, err := decodeCatalog(data[0])
	if err != nil {
		return nil, fmt.Errorf("read %s: catalogue of %q: %w", o.key, page, err)
	}
	return counts, nil
}

// checkSums reads an object of sums.
func (o *object) checkSums(ctx context.Context) error {
	for e := range o.index.All() {
		if _, err := o.data(ctx, []block.Entry{e}); err != nil {
			return err
		}
	}
	for _, e := range o.index.Kind(kindStacks) {
		if _, _, err := o.pageSums(ctx, e.Page, openLevels(), true); err != nil {
			return err
		}
	}
	return nil
}

// pageOf adds up what objects of sums have of a page.
func (b *view) pageOf(ctx context.Context, list []*object, page string) (*pageSum, error) {
	p := b.newPageSum(page)
	for _, o := range list {
		if err := o.addPage(ctx, p, page); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// pagesOf returns the pages that objects of sums have, sorted.
func pagesOf(list []*object) (pages []string) {
	for _, o := range list {
		for _, e := range o.index.Kind(kindStacks) {
			pages = append(pages, e.Page)
		}
	}
	slices.Sort(pages)
	return slices.Compact(pages)
}

// hasLevel reports whether an object of rollups has records of a level.
func (o *object) hasLevel(level rollup.Level) bool {
	return len(o.index.Kind(kindRecord+byte(level))) > 0
}

// tracesOf returns how many traces of a page are in an object of rollups.
func (o *object) tracesOf(page string) (n uint64) {
	for _, e := range o.index.Find(kindCatalog, page) {
		n += uint64(e.Rows)
	}
	return n
}

// catalogs returns the catalogues of all pages of an object of rollups.
func (o *object) catalogs(ctx context.Context) (map[string]catalog, error) {
	list := o.index.Kind(kindCatalog)
	data, err := o.data(ctx, list)
	if err != nil {
		return nil, err
	}
	out := map[string]catalog{}
	for i, e := range list {
		if out[e.Page], err = decodeCatalog(data[i]); err != nil {
			return nil, fmt.Errorf("read %s: catalogue of %q: %w", o.key, e.Page, err)
		}
	}
	return out, nil
}

// countRows reads a run, and returns how many traces it has, and how many keys of traces.
func (o *object) countRows(ctx context.Context) (rows, keys int, err error) {
	for c := o.rows(1); ; rows++ {
		more, err := c.next(ctx)
		if err != nil {
			return rows, keys, err
		}
		if !more {
			break
		}
	}
	for _, e := range o.index.Kind(kindKeys) {
		data, err := o.data(ctx, []block.Entry{e})
		if err != nil {
			return rows, keys, err
		}
		list, err := decodeKeys(data[0], e.Rows)
		if err != nil {
			return rows, keys, err
		}
		keys += len(list)
	}
	return rows, keys, nil
}
