package layout

import (
	"context"
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// AddRollups adds an object of rollups to the pages in to.
func (b *Bucket) AddRollups(ctx context.Context, name string, to map[string]*Page) error {
	o, err := b.whole(ctx, name)
	if err != nil {
		return err
	}
	for _, e := range o.index.Kind(kindStacks) {
		p := to[e.Page]
		if p == nil {
			p = b.NewPage(e.Page)
			to[e.Page] = p
		}
		if err := o.AddPage(ctx, p, e.Page); err != nil {
			return err
		}
	}
	return nil
}

// AddPage adds the [OpenLevels] and counts of a page in o to p. If o does not have the page, it
// does nothing.
func (o *Object) AddPage(ctx context.Context, p *Page, page string) error {
	x, counts, err := o.Page(ctx, page, OpenLevels(), true)
	if err != nil || x == nil {
		return err
	}
	x.addTo(p)
	for t, n := range counts {
		p.Counts.Add(t, n)
	}
	return nil
}

// Page reads the rollup of a page from an object; it returns nil if the object does not have the
// page.
func (o *Object) Page(ctx context.Context, page string, levels []rollup.Level, withCounts bool) (*PageRecords,
	Catalog, error) {
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
			return nil, nil, damaged(o.key, fmt.Errorf("%w: %d blocks of kind %d of %q instead of 1", block.ErrDamaged,
				len(found), kind, page))
		}
		list = append(list, found[0])
	}
	data, err := o.data(ctx, list)
	if err != nil {
		return nil, nil, err
	}
	x, err := decodeRecords(data[0], data[1:])
	if err != nil {
		return nil, nil, damaged(o.key, fmt.Errorf("rollups of %q: %w", page, err))
	}
	if !withCounts {
		return x, nil, nil
	}
	counts, err := o.pageCounts(ctx, page)
	return x, counts, err
}

// pageCounts reads the catalogue of a page, which is not stored next to the rest of its rollups.
func (o *Object) pageCounts(ctx context.Context, page string) (Catalog, error) {
	list := o.index.Find(kindCatalog, page)
	if len(list) != 1 {
		return nil, damaged(o.key, fmt.Errorf("%w: %d catalogues of %q instead of 1", block.ErrDamaged,
			len(list), page))
	}
	data, err := o.data(ctx, list)
	if err != nil {
		return nil, err
	}
	counts, err := decodeCatalog(data[0])
	if err != nil {
		return nil, damaged(o.key, fmt.Errorf("catalogue of %q: %w", page, err))
	}
	return counts, nil
}

// CheckRollups reads and decodes a complete object of rollups.
func (o *Object) CheckRollups(ctx context.Context) error {
	for e := range o.index.All() {
		if _, err := o.data(ctx, []block.Entry{e}); err != nil {
			return err
		}
	}
	for _, e := range o.index.Kind(kindStacks) {
		if _, _, err := o.Page(ctx, e.Page, OpenLevels(), true); err != nil {
			return err
		}
	}
	return nil
}

// PageOf returns the sum of the rollups of a page in several objects.
func (b *Bucket) PageOf(ctx context.Context, list []*Object, page string) (*Page, error) {
	p := b.NewPage(page)
	for _, o := range list {
		if err := o.AddPage(ctx, p, page); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// PagesOf returns the pages in objects of rollups, sorted and without duplicates.
func PagesOf(list []*Object) (pages []string) {
	for _, o := range list {
		for _, e := range o.index.Kind(kindStacks) {
			pages = append(pages, e.Page)
		}
	}
	slices.Sort(pages)
	return slices.Compact(pages)
}

// HasLevel reports whether o has records of a level. [rollup.Narrow] is only in final rollups.
func (o *Object) HasLevel(level rollup.Level) bool {
	return len(o.index.Kind(kindRecord+byte(level))) > 0
}

// TracesOf returns the number of traces of a page in an object of rollups.
func (o *Object) TracesOf(page string) (n uint64) {
	for _, e := range o.index.Find(kindCatalog, page) {
		n += uint64(e.Rows)
	}
	return n
}

// Catalogs returns the catalogues of all pages in an object of rollups.
func (o *Object) Catalogs(ctx context.Context) (map[string]Catalog, error) {
	list := o.index.Kind(kindCatalog)
	data, err := o.data(ctx, list)
	if err != nil {
		return nil, err
	}
	out := map[string]Catalog{}
	for i, e := range list {
		if out[e.Page], err = decodeCatalog(data[i]); err != nil {
			return nil, damaged(o.key, fmt.Errorf("catalogue of %q: %w", e.Page, err))
		}
	}
	return out, nil
}

// CountRows reads a complete run. It returns the number of its rows and the number of its keys,
// which are equal in a sound run.
func (o *Object) CountRows(ctx context.Context) (rows, keys int, err error) {
	for c := o.Rows(1); ; rows++ {
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
