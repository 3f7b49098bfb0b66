package read

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/head"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// stretch is what a directory has of a [store.Stretch].
type stretch struct {
	r    *Reader
	p    part.Info
	file *rollups.File // nil if there are traces
	sum  rollups.Sum
}

// Stretches implements [store.Source].
func (r *Reader) Stretches() (list []store.Stretch, unreadable []store.Unreadable) {
	known := map[uint32]bool{} // starts of hours
	var faulty []part.Info
	for _, p := range r.o.Parts.All() {
		switch {
		case p.Fault != nil:
			faulty = append(faulty, p)
		case !p.Blank():
			known[rollups.Minutes(p.Start)] = true
			list = append(list, store.Stretch{Name: p.Name, Start: p.Start, First: timeOf(p.First), Last: timeOf(p.Last), Traces: p.Entries, HasTraces: true, MayGrow: !p.Sealed,
				Contents: &stretch{r: r, p: p}})
		}
	}
	files := r.o.Sums.Files()
	add := func(f *rollups.File, x rollups.Sum) {
		s := store.Stretch{Name: nameOfSum(f.Name(), x.Start), Start: rollups.TimeOf(x.Start), First: timeOf(x.First), Last: timeOf(x.Last), Traces: x.Traces,
			Contents: &stretch{r: r, file: f, sum: x}}
		for _, source := range x.Sources {
			s.Hours = append(s.Hours, rollups.TimeOf(source))
		}
		list = append(list, s)
	}
	rollups.EachSum(files, rollups.Hours, func(f *rollups.File, x rollups.Sum) {
		if !known[x.Start] {
			known[x.Start] = true
			add(f, x)
		}
	})
	covered := map[uint32]bool{}
	rollups.EachSum(files, rollups.Days, func(f *rollups.File, x rollups.Sum) {
		if slices.ContainsFunc(x.Sources, func(s uint32) bool { return !known[s] }) {
			add(f, x)
			for _, s := range x.Sources {
				covered[s] = true
			}
		}
	})
	for _, p := range faulty {
		if start := rollups.Minutes(p.Start); !known[start] && !covered[start] {
			unreadable = append(unreadable, store.Unreadable{Partition: p.Name, Err: p.Fault})
		}
	}
	s := &scan{r: r}
	s.noteMissing()
	for _, g := range s.stats.Gaps {
		unreadable = append(unreadable, store.Unreadable{Partition: g.Partition, Err: fmt.Errorf("%w: sums of %d traces", store.ErrDamaged, g.Expected)})
	}
	return list, append(unreadable, s.stats.Unreadable...)
}

func timeOf(us int64) time.Time { return time.UnixMicro(us).UTC() }

// Pages implements [store.Contents].
func (x *stretch) Pages(ctx context.Context) (pages []string, err error) {
	if x.file != nil {
		return slices.Collect(x.file.Pages()), nil
	}
	err = x.read(ctx, func(txn *part.Txn) error {
		pages = txn.AllPages()
		return nil
	})
	return pages, err
}

// read calls f with a transaction on the partition.
func (x *stretch) read(ctx context.Context, f func(*part.Txn) error) error {
	if err := x.r.o.Life.Enter(); err != nil {
		return err
	}
	defer x.r.o.Life.Leave()
	return x.r.o.Parts.Read(ctx, x.p.Partition, f)
}

// Catalog implements [store.Contents].
func (x *stretch) Catalog(ctx context.Context, f func(store.CatalogEntry)) error {
	add := func(page string, t store.Tag, c record.Count) {
		f(store.CatalogEntry{Page: page, Tag: t, Traces: c.Traces, First: timeOf(c.First), Last: timeOf(c.Last)})
	}
	if x.file != nil {
		return x.file.Counts(x.sum.Start, add)
	}
	return x.read(ctx, func(txn *part.Txn) error { return txn.EachCount(add) })
}

// Scan implements [store.Contents].
func (x *stretch) Scan(ctx context.Context, page string, f func(store.Record) error) (store.ScanStats, error) {
	if x.file != nil {
		return store.ScanStats{}, nil
	}
	if err := x.r.o.Life.Enter(); err != nil {
		return store.ScanStats{}, err
	}
	defer x.r.o.Life.Leave()
	s := &scan{r: x.r, q: store.Query{Page: page}, f: f, page: page}
	err := s.readAll(ctx, []part.Info{x.p})
	return s.stats, err
}

// Sums implements [store.Contents].
func (x *stretch) Sums(ctx context.Context, page string) (out []store.Rolled, err error) {
	if x.file == nil {
		err = x.read(ctx, func(txn *part.Txn) error {
			rec, err := head.Untraced(txn, page, x.r.o.Limits)
			if rec != nil {
				out = append(out, store.Rolled{Page: page, Stacks: trie.New(), Record: rec})
			}
			return err
		})
		return out, err
	}
	stacks, err := x.file.Stacks(page)
	if err != nil {
		return nil, err
	}
	for _, level := range []rollup.Level{rollup.Wide, rollup.Details} {
		rec, _, err := x.file.Record(page, x.sum.Start, level, stacks)
		if err != nil {
			return nil, err
		}
		if rec != nil {
			out = append(out, store.Rolled{Page: page, Stacks: stacks, Record: rec})
		}
	}
	return out, nil
}
