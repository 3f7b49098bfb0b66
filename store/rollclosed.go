package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/rollup"
)

// rollClosed adds up the partitions of traces that are closed for good.
func (s *Store) rollClosed(ctx context.Context) error {
	for {
		p := s.shelf.nextToRoll()
		if p == nil || s.checkSpace() != nil {
			return nil
		}
		err := s.rollPartition(ctx, p)
		s.shelf.unpin([]*partition{p})
		if err != nil {
			return fmt.Errorf("roll up partition %s: %w", p.name, err)
		}
	}
}

// nextToRoll pins the oldest partition that is to be rolled up, and returns it.
func (s *shelf) nextToRoll() *partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := s.rolledStarts(hours)
	for i, p := range s.parts {
		final := p.Sealed || i < len(s.parts)-1
		if final && !p.writer && !p.busy && p.fault == nil && !p.blank() && !done[minutes(p.start)] {
			p.pins++
			return p
		}
	}
	return nil
}

// rolledStarts returns the starts of what the partitions of a span have. It is called
// with the lock held.
func (s *shelf) rolledStarts(sp span) map[uint32]bool {
	done := make(map[uint32]bool)
	for _, p := range s.sums {
		if p.span == sp && p.fault == nil {
			for _, r := range p.Rolled {
				done[r.Start] = true
			}
		}
	}
	return done
}

// rollPartition writes the rollup of a closed partition of traces.
func (s *Store) rollPartition(ctx context.Context, p *partition) (err error) {
	w, err := s.openRollups(hours, p.start)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	var pages []string
	r := rolled{Start: minutes(p.start), First: math.MaxInt64, Last: math.MinInt64}
	err = s.look(p, func(txn *badger.Txn) error {
		pages = append(pagesOf(txn, kindTrace), pagesOf(txn, kindOutcome)...)
		return w.copyCounts(txn, &r)
	})
	if err != nil {
		return err
	}
	slices.Sort(pages)
	found := uint64(0)
	for _, page := range slices.Compact(pages) {
		n, err := s.rollClosedPage(ctx, w, p, page)
		if err != nil {
			return err
		}
		found += n
	}
	r.Missing = max(r.Traces, found) - found
	if r.First > r.Last { // the catalogue is gone
		r.First, r.Last = p.First, p.Last
	}
	s.opts.Logger.Info("partition rolled up", logPartition, p.name, "traces", found, "missing", r.Missing)
	return w.commit(r)
}

// copyCounts copies the catalogue of a partition of traces, and adds it up.
func (w *rollupWriter) copyCounts(txn *badger.Txn, r *rolled) error {
	var pairs []pair
	err := eachCount(txn, func(page string, t Tag, c count) {
		key := appendCountsKey(nil, r.Start, page, t)
		pairs = append(pairs, pair{key, appendCount(nil, key, c)})
		if t == (Tag{}) {
			r.Traces += c.traces
			r.First, r.Last = min(r.First, c.first), max(r.Last, c.last)
		}
	})
	if errors.Is(err, ErrDamaged) {
		err = nil // what is missing from it is not known
	}
	if err != nil {
		return err
	}
	return w.write(pairs)
}

// rollClosedPage writes the rollup of one page. It returns how many traces are in it.
func (s *Store) rollClosedPage(ctx context.Context, w *rollupWriter, p *partition, page string) (traces uint64, err error) {
	x := &pageRoll{}
	var have *stackTable
	if err := s.look(w.p, func(txn *badger.Txn) (err error) { have, err = s.readStacks(txn, page); return err }); err != nil {
		return 0, err
	}
	b := rollup.NewBuilder(page, have.Trie, s.opts.Rollups)
	err = s.look(p, func(txn *badger.Txn) (err error) {
		if x, err = s.readPageRoll(txn, page, b); err != nil {
			x = &pageRoll{} // it is all in the traces
			b = rollup.NewBuilder(page, have.Trie, s.opts.Rollups)
		}
		return addOutcomes(txn, page, b)
	})
	if err != nil {
		return 0, err
	}
	t := &tail{scan: &scan{r: s.Reader, q: Query{EachPage: true}, page: page}, c: pageCursor(p, page, noSnapshot), since: x.mark.version}
	if err := t.addTo(ctx, b); err != nil {
		return 0, err
	}
	s.damaged.Add(t.stats.Damaged)
	s.rolledUp.Add(t.news)
	if b.Empty() {
		return 0, nil
	}
	if err := w.putPage(b, have, page, minutes(p.start)); err != nil {
		return 0, err
	}
	_, n := b.Views()
	return uint64(n), nil
}

// readPageRoll adds the rollups of a page in a partition of traces to b.
func (r *Reader) readPageRoll(txn *badger.Txn, page string, b *rollup.Builder) (x *pageRoll, err error) {
	x = &pageRoll{}
	if x.mark, err = readMark(txn, page); err != nil || x.mark == (mark{}) {
		return x, err
	}
	if x.stacks, err = r.readStacks(txn, page); err != nil {
		return nil, err
	}
	keys, _ := rollupKeys(txn, page)
	for _, k := range keys {
		rec, err := r.readRollup(txn, k, x.stacks.Trie)
		if err != nil {
			return nil, err
		}
		b.AddRecord(rec, x.stacks.Trie)
	}
	return x, nil
}

// putPage writes the rollup of a page for the time that begins at start.
func (w *rollupWriter) putPage(b *rollup.Builder, stacks *stackTable, page string, start uint32) error {
	pairs, err := stacks.grown(w.r.pack, page)
	if err != nil {
		return err
	}
	for _, level := range []rollup.Level{rollup.Narrow, rollup.Wide, rollup.Details} {
		more, err := w.r.pack.pack(rollupKey{page, start, byte(level)}.append(nil), b.Encode(level, true))
		if err != nil {
			return err
		}
		pairs = append(pairs, more...)
	}
	return w.write(pairs)
}

// rollDays adds up the days that are over.
func (s *Store) rollDays(ctx context.Context) error {
	var open []lifetime
	for _, l := range s.lifetimes(false) {
		if l.span == traces && (l.needed || l.open) {
			open = append(open, l)
		}
	}
	s.shelf.mu.Lock()
	var ofHours, ofDays []rolled
	eachRolled(s.shelf.sums, hours, func(_ *partition, r rolled) { ofHours = append(ofHours, r) })
	eachRolled(s.shelf.sums, days, func(_ *partition, r rolled) { ofDays = append(ofDays, r) })
	s.shelf.mu.Unlock()
	for _, d := range daysToRoll(ofHours, ofDays, open, s.opts.Now()) {
		if s.checkSpace() != nil {
			return nil
		}
		if err := s.rollDay(ctx, d); err != nil {
			return fmt.Errorf("roll up the day %s: %w", timeOfMinutes(d.start).Format("2006-01-02"), err)
		}
	}
	return nil
}

// rollDay writes the rollup of a day, which is made of those of its partitions.
func (s *Store) rollDay(ctx context.Context, d dayToRoll) (err error) {
	from := s.shelf.pinRollups(hours.name(timeOfMinutes(d.start)))
	if from == nil {
		return nil // deleted meanwhile
	}
	defer s.shelf.unpin([]*partition{from})
	w, err := s.openRollups(days, timeOfMinutes(d.start))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	r := rolled{Start: d.start, Sources: startsOf(d.sources), First: math.MaxInt64, Last: math.MinInt64}
	for _, h := range d.sources {
		r.First, r.Last = min(r.First, h.First), max(r.Last, h.Last)
		r.Traces += h.Traces
		r.Missing += h.Missing
	}
	var pages []string
	err = s.look(from, func(txn *badger.Txn) error {
		pages = pagesOf(txn, kindRollup)
		return w.sumCounts(txn, r)
	})
	if err != nil {
		return err
	}
	for _, page := range pages {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.rollDayPage(w, from, page, r); err != nil {
			return err
		}
	}
	s.opts.Logger.Info("day rolled up", logPartition, w.p.name, "day", timeOfMinutes(d.start).Format("2006-01-02"), "traces", r.Traces)
	return w.commit(r)
}

func (s *Store) rollDayPage(w *rollupWriter, from *partition, page string, r rolled) error {
	var have *stackTable
	if err := s.look(w.p, func(txn *badger.Txn) (err error) { have, err = s.readStacks(txn, page); return err }); err != nil {
		return err
	}
	b := rollup.NewBuilder(page, have.Trie, s.opts.Rollups)
	err := s.look(from, func(txn *badger.Txn) error {
		stacks, err := s.readStacks(txn, page)
		if err != nil {
			return err
		}
		for _, start := range r.Sources {
			for _, level := range []rollup.Level{rollup.Wide, rollup.Details} {
				rec, err := s.readRollup(txn, rollupKey{page, start, byte(level)}, stacks.Trie)
				if err != nil {
					return err
				}
				if rec != nil {
					b.AddRecord(rec, stacks.Trie)
				}
			}
		}
		return nil
	})
	if err != nil || b.Empty() {
		return err
	}
	return w.putPage(b, have, page, r.Start)
}

// sumCounts adds up the catalogues of the sources of a day.
func (w *rollupWriter) sumCounts(txn *badger.Txn, r rolled) error {
	sums := make(map[CatalogEntry]count)
	for _, start := range r.Sources {
		err := eachCopiedCount(txn, start, func(page string, t Tag, c count) { addCount(sums, page, t, c) })
		if err != nil && !errors.Is(err, ErrDamaged) {
			return err
		}
	}
	var pairs []pair
	for e, c := range sums {
		key := appendCountsKey(nil, r.Start, e.Page, e.Tag)
		pairs = append(pairs, pair{key, appendCount(nil, key, c)})
	}
	return w.write(pairs)
}
