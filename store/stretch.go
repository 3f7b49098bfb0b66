package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store/head"
	"github.com/fieldtrie/fieldtrie/store/part"
	"github.com/fieldtrie/fieldtrie/store/record"
	"github.com/fieldtrie/fieldtrie/store/sums"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Stretch is all that a directory has of an hour, or of a day: traces or, where these are gone,
// their sums. It is for those who copy a directory into another store.
type Stretch struct {
	Name        string
	Start       time.Time
	First, Last time.Time // when something of it was received
	Traces      uint64    // a trace of two pages counts twice
	// Hours are the starts of the hours that the sums of a day were made of; none if it is an hour.
	Hours []time.Time
	// HasTraces says that the traces are there, which all is made of.
	HasTraces bool
	MayGrow   bool // it gets more when the directory is written to

	r    *Reader
	p    part.Info
	file *sums.File
	sum  sums.Sum
}

// Stretches returns what there is: first what has traces, then sums of hours, then those of days of which
// not all hours are there. It also says what can not be read, and of which there are no sums.
func (r *Reader) Stretches() (list []Stretch, unreadable []Unreadable) {
	known := map[uint32]bool{} // starts of hours
	var faulty []part.Info
	for _, p := range r.parts.All() {
		switch {
		case p.Fault != nil:
			faulty = append(faulty, p)
		case !p.Blank():
			known[minutes(p.Start)] = true
			list = append(list, Stretch{Name: p.Name, Start: p.Start, First: timeOf(p.First), Last: timeOf(p.Last), Traces: p.Entries, HasTraces: true, MayGrow: !p.Sealed, r: r, p: p})
		}
	}
	files := r.sums.Files()
	add := func(f *sums.File, x sums.Sum) {
		s := Stretch{Name: nameOfSum(f.Name(), x.Start), Start: timeOfMinutes(x.Start), First: timeOf(x.First), Last: timeOf(x.Last), Traces: x.Traces, r: r, file: f, sum: x}
		for _, source := range x.Sources {
			s.Hours = append(s.Hours, timeOfMinutes(source))
		}
		list = append(list, s)
	}
	eachSum(files, sums.Hours, func(f *sums.File, x sums.Sum) {
		if !known[x.Start] {
			known[x.Start] = true
			add(f, x)
		}
	})
	covered := map[uint32]bool{}
	eachSum(files, sums.Days, func(f *sums.File, x sums.Sum) {
		if slices.ContainsFunc(x.Sources, func(s uint32) bool { return !known[s] }) {
			add(f, x)
			for _, s := range x.Sources {
				covered[s] = true
			}
		}
	})
	for _, p := range faulty {
		if start := minutes(p.Start); !known[start] && !covered[start] {
			unreadable = append(unreadable, Unreadable{p.Name, p.Fault})
		}
	}
	s := &scan{r: r}
	s.noteMissing()
	for _, g := range s.stats.Gaps {
		unreadable = append(unreadable, Unreadable{g.Partition, fmt.Errorf("%w: sums of %d traces", ErrDamaged, g.Expected)})
	}
	return list, append(unreadable, s.stats.Unreadable...)
}

func timeOf(us int64) time.Time { return time.UnixMicro(us).UTC() }

// Pages returns the pages that there may be something of, sorted.
func (x *Stretch) Pages(ctx context.Context) (pages []string, err error) {
	if x.file != nil {
		return slices.Collect(x.file.Pages()), nil
	}
	err = x.read(ctx, func(txn *part.Txn) error {
		pages = pagesIn(txn)
		return nil
	})
	return pages, err
}

// read calls f with a transaction on the partition.
func (x *Stretch) read(ctx context.Context, f func(*part.Txn) error) error {
	if err := x.r.enter(); err != nil {
		return err
	}
	defer x.r.leave()
	return x.r.parts.Read(ctx, x.p.Partition, f)
}

// Catalog calls f for each page and tag that is counted.
func (x *Stretch) Catalog(ctx context.Context, f func(CatalogEntry)) error {
	add := func(page string, t Tag, c record.Count) {
		f(CatalogEntry{Page: page, Tag: t, Traces: c.Traces, First: timeOf(c.First), Last: timeOf(c.Last)})
	}
	if x.file != nil {
		return x.file.Counts(x.sum.Start, add)
	}
	return x.read(ctx, func(txn *part.Txn) error { return eachCount(txn, add) })
}

// Scan calls f for each trace of a page, as [Reader.Scan] does, of whatever age.
func (x *Stretch) Scan(ctx context.Context, page string, f func(Record) error) (ScanStats, error) {
	if !x.HasTraces {
		return ScanStats{}, nil
	}
	if err := x.r.enter(); err != nil {
		return ScanStats{}, err
	}
	defer x.r.leave()
	s := &scan{r: x.r, q: Query{Page: page}, f: f, page: page}
	err := s.readAll(ctx, []part.Info{x.p})
	return s.stats, err
}

// Sums returns what there is of a page beside traces that are there: all of its sums, or else page views
// without a trace and Web Vitals. An error that wraps [ErrDamaged] is about this page alone.
func (x *Stretch) Sums(ctx context.Context, page string) (out []Rolled, err error) {
	if x.file == nil {
		err = x.read(ctx, func(txn *part.Txn) error {
			rec, err := head.Untraced(txn, page, x.r.opts.Rollups)
			if rec != nil {
				out = append(out, Rolled{page, trie.New(), rec})
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
			out = append(out, Rolled{page, stacks, rec})
		}
	}
	return out, nil
}
