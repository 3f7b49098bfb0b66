package read

import (
	"context"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

// Catalog implements [store.Reader]: times are exact to the partition. A lag is not made use of.
func (r *Reader) Catalog(ctx context.Context, since, until time.Time, _ time.Duration) ([]store.CatalogEntry, store.ScanStats, error) {
	if err := r.o.Life.Enter(); err != nil {
		return nil, store.ScanStats{}, err
	}
	defer r.o.Life.Leave()
	if r.o.Unrolled { // else what is left of expired traces is as good as any
		since = r.clip(since)
	}
	s := &scan{r: r, q: store.Query{Since: since, Until: until}}
	totals := make(map[store.CatalogEntry]record.Count) // by page and tag, the rest zero
	add := func(page string, t store.Tag, c record.Count) {
		in := part.Contents{Commits: c.Traces, First: c.First, Last: c.Last}
		if in.Overlaps(since, until) {
			of := store.CatalogEntry{Page: page, Tag: t}
			totals[of] = totals[of].Plus(c)
		}
	}
	parts, unpin := r.plan(since, until, false)
	defer unpin()
	s.noteMissing()
	for _, x := range parts {
		if x.file != nil {
			if err := ctx.Err(); err != nil {
				return nil, s.stats, context.Cause(ctx)
			}
			if err := x.file.Counts(x.sum.Start, add); err != nil {
				s.bad(x.name(), nil, err)
			}
			continue
		}
		c := &cursor{p: x.p}
		if err := s.attempt(ctx, c, func(_ *cursor, txn *part.Txn) error { return txn.EachCount(add) }); err != nil {
			return nil, s.stats, err
		}
		s.account(c)
	}
	r.o.Found.Damaged.Add(s.stats.Damaged)
	entries := make([]store.CatalogEntry, 0, len(totals))
	for e, c := range totals {
		e.Traces, e.First, e.Last = c.Traces, time.UnixMicro(c.First).UTC(), time.UnixMicro(c.Last).UTC()
		entries = append(entries, e)
	}
	slices.SortFunc(entries, store.CompareEntries)
	return entries, s.stats, nil
}
