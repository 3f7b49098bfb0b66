package store

import (
	"context"
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
	// Lag allows an answer without what came in the last time, of a page of which so many
	// traces come that summing them up again and again would take its toll.
	Lag time.Duration
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
	pages := []string{s.q.Page}
	if s.q.Page == "" || s.r.tails.get(tailKey{p, s.q.Page}) == nil {
		worth := s.want.Details // which are not with the traces
		c := &cursor{p: p}
		s.attempt(c, func(_ *cursor, db *badger.DB) error {
			return view(db, func(txn *badger.Txn) error {
				pages, worth = s.freshPages(txn, worth)
				return nil
			})
		})
		if c.done { // it can not be read
			return true, nil
		}
		if !worth {
			return false, nil
		}
	}
	for _, page := range pages {
		if !s.q.takes(page) {
			continue
		}
		if err := s.readFreshPage(ctx, tailKey{p, page}); err != nil {
			return true, err
		}
	}
	s.settle(&cursor{p: p})
	return true, nil
}

// freshPages returns the pages to read, and whether it is worth while to read them by what
// they sum up to.
func (s *selection) freshPages(txn *badger.Txn, worth bool) ([]string, bool) {
	marks := pagesOfMarks(txn)
	if s.q.Page != "" {
		n, err := pageTotal(txn, s.q.Page) // a damaged one is found again, where it matters
		return []string{s.q.Page}, worth || slices.Contains(marks, s.q.Page) || err == nil && n > fewTraces
	}
	if !worth && len(marks) == 0 {
		return nil, false
	}
	pages := append(pagesOf(txn, kindTrace), pagesOf(txn, kindOutcome)...)
	slices.Sort(pages)
	return slices.Compact(pages), true
}

// readFreshPage hands over what there is of a page in a partition of traces: its rollups,
// more of the traces that came since, and page views without a trace.
func (s *selection) readFreshPage(ctx context.Context, key tailKey) error {
	got, ok := s.recentPage(key)
	if ok {
		s.stats.Behind = max(s.stats.Behind, time.Since(got.at))
	} else {
		var err error
		if got, err = s.readPage(ctx, key); err != nil {
			return err
		}
	}
	found := uint64(0)
	for _, rec := range got.records() {
		if rec.Level == rollup.Details && !s.want.Details {
			continue
		}
		_, n := rec.Views()
		found += uint64(n) // may be less than nothing for one of them, but not for all
		if err := s.rolled(Rolled{key.page, got.stacks, rec}); err != nil {
			return err
		}
	}
	s.stats.RolledUp += found - got.traces // the others are counted as what they are
	s.stats.Traces += got.traces
	s.stats.Bytes += got.bytes
	if found < got.expected {
		s.stats.Gaps = append(s.stats.Gaps, Gap{key.p.name, key.page, got.expected, found})
	}
	return nil
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
		(!p.writer || until.IsZero() || until.After(now.Add(time.Minute))) && // what comes meanwhile is older
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
