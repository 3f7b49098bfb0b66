package read

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/ahead"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/head"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Select implements [store.Reader]: it reads sums of days, sums of partitions, and the traces
// of those that are asked for in part.
func (r *Reader) Select(ctx context.Context, q store.Query, want store.Wanted, trace func(store.Record) error, rolled func(store.Rolled) error) (store.ScanStats, error) {
	if q.Page != "" {
		if why := store.CheckPage(q.Page); why != "" {
			return store.ScanStats{}, fmt.Errorf("select: %s", why)
		}
	}
	if err := r.o.Life.Enter(); err != nil {
		return store.ScanStats{}, err
	}
	defer r.o.Life.Leave()
	q.EachPage = true
	s := &selection{scan: &scan{r: r, q: q, f: trace, page: q.Page}, want: want, rolled: rolled}
	err := s.run(ctx)
	r.count(&s.stats)
	return s.stats, err
}

// selection is a Select on its way.
type selection struct {
	*scan
	want   store.Wanted
	rolled func(store.Rolled) error
}

func (s *selection) run(ctx context.Context) error {
	pieces, unpin := s.r.plan(s.q.Since, s.q.Until, s.want.None)
	defer unpin()
	s.noteMissing()
	var ofTraces []part.Info
	for len(pieces) > 0 {
		n := 1
		for n < len(pieces) && pieces[n].file != nil && pieces[n].file == pieces[0].file {
			n++
		}
		if pieces[0].file != nil {
			if err := s.readSums(ctx, pieces[:n]); err != nil {
				return err
			}
		} else if summed, err := s.readHead(ctx, pieces[0].p); err != nil {
			return err
		} else if !summed {
			ofTraces = append(ofTraces, pieces[0].p)
			if err := s.readVitals(ctx, pieces[0].p); err != nil {
				return err
			}
		}
		pieces = pieces[n:]
	}
	return s.readAll(ctx, ofTraces)
}

// fewTraces is how many traces of a page are read one by one, if nothing is rolled up yet:
// a sum of them is worth its while if it is asked for again.
const fewTraces = 100

// readHead reads a partition of traces by what its pages sum up to. It returns false if that
// is not worth while, or the partition is asked for in part: then its traces are to be read.
func (s *selection) readHead(ctx context.Context, p part.Info) (bool, error) {
	if s.want.None || !isWithin(&p, s.q.Since, s.q.Until, s.r.o.Now()) {
		return false, nil
	}
	pages := []string{s.q.Page}
	if s.q.Page == "" || !s.r.o.Head.Has(p.Partition, s.q.Page) {
		worth := s.want.Details || s.want.Vitals // which are not with the traces
		c := &cursor{p: p}
		err := s.attempt(ctx, c, func(_ *cursor, txn *part.Txn) error {
			pages, worth = s.pagesOf(txn, worth)
			return nil
		})
		if err != nil || c.done { // it can not be read
			return true, err
		}
		if !worth {
			return false, nil
		}
	}
	pages = slices.DeleteFunc(pages, func(page string) bool { return !s.q.Takes(page) })
	of := len(pages)
	read := func(ctx context.Context, page string) headPage { return s.headPage(ctx, p, page, of) }
	for got := range ahead.InOrder(ctx, runtime.GOMAXPROCS(0), pages, read) {
		if err := s.addHeadPage(ctx, p, &got); err != nil {
			return true, err
		}
	}
	s.account(&cursor{p: p})
	return true, nil
}

// readVitals hands over the Web Vitals of a partition whose traces are read, if they are wanted.
func (s *selection) readVitals(ctx context.Context, p part.Info) error {
	if !s.want.Vitals {
		return nil
	}
	var found []store.Rolled
	err := s.r.o.Parts.Read(ctx, p.Partition, func(txn *part.Txn) error {
		for _, page := range txn.Pages(record.KindVitals) {
			if !s.q.Takes(page) || s.q.Page != "" && page != s.q.Page {
				continue
			}
			rec, err := head.Vitals(txn, page, s.r.o.Limits)
			if err != nil {
				return err
			}
			if rec != nil {
				found = append(found, store.Rolled{Page: page, Stacks: trie.New(), Record: rec})
			}
		}
		return nil
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return nil // it is said when its traces are read
	}
	for _, x := range found {
		if err := s.rolled(x); err != nil {
			return err
		}
	}
	return nil
}

// pagesOf returns the pages to read, and whether it is worth while to read them by what
// they sum up to.
func (s *selection) pagesOf(txn *part.Txn, worth bool) ([]string, bool) {
	marks := head.MarkedPages(txn)
	if s.q.Page != "" {
		n, err := pageTotal(txn, s.q.Page) // a damaged one is found again, where it matters
		return []string{s.q.Page}, worth || slices.Contains(marks, s.q.Page) || err == nil && n > fewTraces
	}
	if !worth && len(marks) == 0 {
		n, err := allTotals(txn)
		if err != nil || n <= fewTraces {
			return nil, false
		}
	}
	return txn.AllPages(), true
}

// headPage is what there is of a page in a partition of traces: its rollups, the sum of the traces that came since, and page
// views without a trace.
type headPage struct {
	name string
	head.Page
	damage error // of its rollups: it is all from traces then
	err    error
}

// headPage reads a page, one of so many.
func (s *selection) headPage(ctx context.Context, p part.Info, page string, of int) headPage {
	x := headPage{name: page}
	x.Page, x.err = s.r.o.Head.Page(ctx, p.Partition, page, head.Question{Details: s.want.Details, Lag: s.want.Lag, Pages: of})
	if errors.Is(x.err, store.ErrDamaged) && ctx.Err() == nil {
		x.damage = x.err
		x.Page, x.err = s.r.o.Head.FromTraces(ctx, p.Partition, page)
	}
	return x
}

// addHeadPage hands over a page.
func (s *selection) addHeadPage(ctx context.Context, p part.Info, got *headPage) error {
	page := got.name
	if got.damage != nil {
		s.bad(p.Name, record.AppendPageKey(nil, record.KindRollup, page), got.damage)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if got.err != nil {
		s.unreadable(p.Name, got.err)
		return nil
	}
	if s.want.Lag > 0 {
		s.stats.Behind = max(s.stats.Behind, got.Behind())
	}
	s.stats.AddBad(got.Bad...)
	found := uint64(0)
	for _, rec := range got.Records {
		if rec.Level == rollup.Details && !s.want.Details {
			continue
		}
		_, n := rec.Views()
		found += uint64(n) // may be less than nothing for one of them, but not for all
		if err := s.rolled(store.Rolled{Page: page, Stacks: got.Stacks, Record: rec}); err != nil {
			return err
		}
	}
	s.stats.RolledUp += max(found, got.Traces) - got.Traces // the others are counted as what they are; damaged ones are in no record
	s.stats.Traces += got.Traces
	s.stats.Bytes += got.Bytes
	if found < got.Expected {
		s.stats.Gaps = append(s.stats.Gaps, store.Gap{Partition: p.Name, Page: page, Expected: got.Expected, Found: found})
	}
	return nil
}

// isWithin reports whether all of p was received in [since, until), also what is still to
// come.
func isWithin(p *part.Info, since, until, now time.Time) bool {
	return p.Fault == nil && !p.Blank() && (until.IsZero() || until.After(time.UnixMicro(p.Last))) &&
		(!p.Writing || until.IsZero() || until.After(now.Add(time.Minute))) && // what comes meanwhile is older
		(since.IsZero() || !time.UnixMicro(p.First).Before(since))
}
