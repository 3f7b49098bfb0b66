package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/rollup"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Rolled is a rollup of a page, as a query reads it.
type Rolled struct {
	Page   string
	Stacks *trie.Trie // rollups that follow each other share it, if they can
	Record *rollup.Record
}

// Wanted says which rollups a query can use.
type Wanted struct {
	Level   rollup.Level // Narrow or Wide: which labels are kept apart
	Details bool         // read the functions and outcomes, too
	None    bool         // use traces alone
}

// Select reads what q asks for by the shortest way: rollups of days, rollups of partitions,
// and the traces of those that are asked for in part. Rollups of pages and traces are
// handed over as they come, traces as by [Reader.Scan] with EachPage; rolled or trace gets
// each of them once. A page view in several partitions is in each of them by itself.
func (r *Reader) Select(ctx context.Context, q Query, want Wanted, trace func(Record) error, rolled func(Rolled) error) (ScanStats, error) {
	if q.Page != "" {
		if why := checkPage(q.Page); why != "" {
			return ScanStats{}, fmt.Errorf("select: %s", why)
		}
	}
	if err := r.enter(); err != nil {
		return ScanStats{}, err
	}
	defer r.leave()
	q.EachPage = true
	s := &selection{scan: &scan{r: r, q: q, f: trace, page: q.Page}, want: want, rolled: rolled}
	err := s.run(ctx)
	r.damaged.Add(s.stats.Damaged)
	for _, g := range s.stats.Gaps {
		r.missing.Add(g.Expected - g.Found)
	}
	return s.stats, err
}

// selection is a Select on its way.
type selection struct {
	*scan
	want   Wanted
	rolled func(Rolled) error
}

func (s *selection) run(ctx context.Context) error {
	parts, unpin := s.r.shelf.plan(s.q.Since, s.q.Until, s.want.None)
	defer unpin()
	s.noteAside()
	var ofTraces []*partition
	for len(parts) > 0 {
		n := 1
		for n < len(parts) && parts[n].p == parts[0].p {
			n++
		}
		if p := parts[0].p; p.span != traces {
			if err := s.readRolled(ctx, p, parts[:n]); err != nil {
				return err
			}
		} else if fresh, err := s.readFresh(ctx, p); err != nil {
			return err
		} else if !fresh {
			ofTraces = append(ofTraces, p)
		}
		parts = parts[n:]
	}
	return s.readAll(ctx, ofTraces)
}

// fewTraces is how many traces of a page are read one by one, if nothing is rolled up yet:
// a sum of them is worth its while if it is asked for again.
const fewTraces = 100

// plan pins what a query reads.
func (s *shelf) plan(since, until time.Time, noRollups bool) (parts []part, unpin func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sums := s.sums
	if noRollups {
		sums = nil
	}
	parts = plan(s.parts, sums, since, until)
	var pinned []*partition
	for _, x := range parts {
		if !slices.Contains(pinned, x.p) {
			x.p.pins++
			pinned = append(pinned, x.p)
		}
	}
	return parts, func() { s.unpin(pinned) }
}

// readFresh reads a partition of traces by the rollups that it has so far, and the traces
// that came since. It returns false if there are none, or the partition is asked for in
// part: then its traces are to be read.
func (s *selection) readFresh(ctx context.Context, p *partition) (bool, error) {
	if s.want.None || !s.r.shelf.isWithin(p, s.q.Since, s.q.Until, s.r.opts.Now()) {
		return false, nil
	}
	c := &cursor{p: p}
	pages := []string{s.q.Page}
	any := s.want.Details // which are not with the traces
	s.attempt(c, func(_ *cursor, db *badger.DB) error {
		return view(db, func(txn *badger.Txn) error {
			marks := pagesOfMarks(txn)
			if s.q.Page == "" {
				any = any || len(marks) > 0
			} else {
				n, err := pageTotal(txn, s.q.Page) // a damaged one is found again, where it matters
				any = any || slices.Contains(marks, s.q.Page) || err == nil && n > fewTraces
			}
			if any && s.q.Page == "" {
				pages = append(pagesOf(txn, kindTrace), pagesOf(txn, kindOutcome)...)
				slices.Sort(pages)
				pages = slices.Compact(pages)
			}
			return nil
		})
	})
	if c.done { // it can not be read
		return true, nil
	}
	if !any {
		return false, nil
	}
	for _, page := range pages {
		if !s.q.takes(page) {
			continue
		}
		if err := s.readFreshPage(ctx, p, page); err != nil {
			return true, err
		}
	}
	s.settle(&cursor{p: p})
	return true, nil
}

// readFreshPage hands over what there is of a page in a partition of traces: its rollups,
// more of the traces that came since, and one of page views without a trace.
func (s *selection) readFreshPage(ctx context.Context, p *partition, page string) error {
	none := rollup.NewBuilder(page, trie.New(), s.r.opts.Rollups) // of page views without a trace
	key := tailKey{p, page}
	var sum *tailSum // locked
	c := pageCursor(p, page, noSnapshot)
	var expected uint64
	sure := false
	s.attempt(c, func(c *cursor, db *badger.DB) error {
		return view(db, func(txn *badger.Txn) (err error) {
			c.snapshot = txn.ReadTs()
			if expected, err = pageTotal(txn, page); err != nil && !errors.Is(err, ErrDamaged) {
				return err
			}
			sure = err == nil
			if sum, err = s.readMarked(txn, key); err != nil {
				s.bad(p.name, appendPageKey(nil, kindRollup, page), err)
				sum = &tailSum{table: trie.New(), fresh: pageRecords{stacks: trie.New()}} // it is all in the traces
				sum.mu.Lock()
			}
			return addOutcomes(txn, page, none)
		})
	})
	if sum == nil {
		return nil
	}
	if !c.done { // else some of it could not be read
		if err := s.readTail(ctx, c, key, sum); err != nil {
			sum.mu.Unlock()
			return err
		}
	}
	got := sum.fresh
	sum.mu.Unlock()
	found, err := s.handOver(page, got, none)
	if err == nil && sure && found < expected {
		s.stats.Gaps = append(s.stats.Gaps, Gap{p.name, page, expected, found})
	}
	return err
}

// handOver hands over what is known of a page, and returns how many traces that is of.
func (s *selection) handOver(page string, p pageRecords, none *rollup.Builder) (traces uint64, err error) {
	var all []Rolled
	for _, rec := range append(slices.Clip(p.rolled), p.recs...) {
		if rec.Level != rollup.Details || s.want.Details {
			all = append(all, Rolled{page, p.stacks, rec})
		}
	}
	if !none.Empty() {
		rec, err := none.Record()
		if err != nil {
			return 0, err
		}
		all = append(all, Rolled{page, none.Stacks(), rec})
	}
	for _, x := range all {
		_, n := x.Record.Views()
		traces += uint64(n) // may be less than nothing for one of them, but not for all
		if err := s.rolled(x); err != nil {
			return 0, err
		}
	}
	s.stats.RolledUp += traces - p.traces // the others are counted as what they are
	s.stats.Traces += p.traces
	s.stats.Bytes += p.bytes
	return traces, nil
}

// freshRollups reads the rollups of a page in a partition of traces.
func (s *selection) freshRollups(txn *badger.Txn, page string, m mark) (stacks *stackTable, out []*rollup.Record, err error) {
	if stacks, err = s.r.readStacks(txn, page); err != nil {
		return nil, nil, err
	}
	keys, _ := rollupKeys(txn, page, m)
	for _, k := range keys {
		if k.level == byte(rollup.Details) && !s.want.Details {
			continue
		}
		rec, err := s.r.readRollup(txn, k, stacks.Trie)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, rec)
	}
	return stacks, out, nil
}

// isWithin reports whether all of p was received in [since, until), also what is still to
// come.
func (s *shelf) isWithin(p *partition, since, until, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.fault == nil && !p.blank() && (until.IsZero() || until.After(time.UnixMicro(p.Last))) &&
		(!p.writer || until.IsZero() || until.After(now)) && // what comes meanwhile is older
		(since.IsZero() || !time.UnixMicro(p.First).Before(since))
}

// pagesOfMarks returns the pages that have rollups in a partition of traces.
func pagesOfMarks(txn *badger.Txn) (pages []string) {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kindMark}})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		pages = append(pages, string(it.Item().Key()[1:]))
	}
	return pages
}
