package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/rollup"
)

// retryRolling is how long a partition that could not be rolled up is left alone.
const retryRolling = 5 * time.Minute

// rollClosed adds up the partitions of traces that are closed for good.
func (s *Store) rollClosed(ctx context.Context) error {
	var errs error
	for begin := time.Now(); ; {
		p := s.shelf.nextToRoll(s.opts.Now())
		if p == nil || s.space.room(s.space.rolling(), 0) != nil {
			break
		}
		err := s.rollPartition(ctx, p)
		s.shelf.unpin([]*partition{p})
		if err != nil {
			s.shelf.putOff(p, s.opts.Now())
			errs = errors.Join(errs, fmt.Errorf("roll up partition %s: %w", p.name, err))
		}
		if ctx.Err() != nil || time.Since(begin) >= s.roller.stint {
			break
		}
	}
	return errs
}

// nextToRoll pins the oldest partition that is to be rolled up, and returns it.
func (s *shelf) nextToRoll(now time.Time) *partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := s.rolledUp()
	for i, p := range s.parts {
		final := p.Sealed || i < len(s.parts)-1
		if final && !p.writer && !p.busy && p.fault == nil && !p.blank() && !done[minutes(p.start)] && !now.Before(p.notBefore) {
			p.pins++
			return p
		}
	}
	return nil
}

// putOff has p rolled up some time later.
func (s *shelf) putOff(p *partition, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.notBefore = now.Add(retryRolling)
}

// rolledUp returns the starts of the partitions of traces that are in a rollup of their own
// or of their day. It is called with the lock held.
func (s *shelf) rolledUp() map[uint32]bool {
	done := make(map[uint32]bool)
	eachRolled(s.sums, hours, func(_ *partition, r rolled) { done[r.Start] = true })
	eachRolled(s.sums, days, func(_ *partition, r rolled) {
		for _, start := range r.Sources {
			done[start] = true
		}
	})
	return done
}

// rolledDays returns the starts of the days of which there is a rollup. It is called with
// the lock held.
func (s *shelf) rolledDays() map[uint32]bool {
	done := make(map[uint32]bool)
	eachRolled(s.sums, days, func(_ *partition, r rolled) { done[r.Start] = true })
	return done
}

// rollPartition writes the rollup of a closed partition of traces.
func (s *Store) rollPartition(ctx context.Context, p *partition) (err error) {
	w, err := s.openRollups(hours, p.start)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.end(err)) }()
	var pages []string
	r := rolled{Start: minutes(p.start), First: p.First, Last: p.Last}
	if err := w.begin(r.Start); err != nil {
		return err
	}
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
	have, err := w.stacks(page)
	if err != nil {
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
	t := s.tailOf(p, page, noSnapshot, x.mark.version)
	if err := t.addTo(ctx, b); err != nil {
		return 0, err
	}
	if u := t.stats.Unreadable; len(u) > 0 && !errors.Is(u[0].Err, ErrDamaged) {
		return 0, u[0].Err // it may be better the next time
	}
	s.countRolled(t)
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
	keys, _ := rollupKeys(txn, page, x.mark)
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
	var errs error
	for _, d := range daysToRoll(ofHours, ofDays, open, s.opts.Now()) {
		if s.opts.Now().Before(s.roller.notBefore[d.start]) || s.space.room(s.space.rolling(), 0) != nil {
			continue
		}
		if err := s.rollDay(ctx, d); err != nil {
			if s.roller.notBefore == nil {
				s.roller.notBefore = make(map[uint32]time.Time)
			}
			s.roller.notBefore[d.start] = s.opts.Now().Add(retryRolling)
			errs = errors.Join(errs, fmt.Errorf("roll up the day %s: %w", timeOfMinutes(d.start).Format("2006-01-02"), err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errs
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
	defer func() { err = errors.Join(err, w.end(err)) }()
	if err := w.begin(d.start); err != nil {
		return err
	}
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
		if err := s.rollDayPage(w, from, page, &r); err != nil {
			return err
		}
	}
	s.opts.Logger.Info("day rolled up", logPartition, w.p.name, "day", timeOfMinutes(d.start).Format("2006-01-02"), "traces", r.Traces)
	return w.commit(r)
}

// rollDayPage writes the rollup of a page for a day. What of it is damaged counts as missing;
// but as long as there are the traces, the partition of hours is set aside, to be made again.
func (s *Store) rollDayPage(w *rollupWriter, from *partition, page string, r *rolled) error {
	have, err := w.stacks(page)
	if err != nil {
		return err
	}
	b := rollup.NewBuilder(page, have.Trie, s.opts.Rollups)
	expected, damaged := uint64(0), error(nil)
	err = s.look(from, func(txn *badger.Txn) error {
		stacks, err := s.readStacks(txn, page)
		for _, start := range r.Sources {
			if c, cerr := readCount(txn, appendCountsKey(nil, start, page, Tag{})); cerr == nil {
				expected += c.traces
			}
			if err == nil {
				err = s.addLevels(txn, b, page, start, stacks)
			}
			if errors.Is(err, ErrDamaged) {
				damaged, err = err, nil
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if damaged != nil {
		if s.shelf.haveAll(r.Sources) {
			return errors.Join(damaged, s.setAside(from, damaged))
		}
		_, n := b.Views()
		r.Missing += expected - min(expected, uint64(max(n, 0)))
	}
	if b.Empty() {
		return nil
	}
	return w.putPage(b, have, page, r.Start)
}

// addLevels adds the rollup of a page for the time that begins at start, if there is one.
func (r *Reader) addLevels(txn *badger.Txn, b *rollup.Builder, page string, start uint32, stacks *stackTable) error {
	var recs []*rollup.Record
	for _, level := range []rollup.Level{rollup.Wide, rollup.Details} {
		rec, _, err := r.findRollup(txn, rollupKey{page, start, byte(level)}, stacks.Trie)
		if err != nil || rec == nil {
			return err
		}
		recs = append(recs, rec)
	}
	for _, rec := range recs {
		b.AddRecord(rec, stacks.Trie)
	}
	return nil
}

// haveAll reports whether the partitions of traces with these starts can be read.
func (s *shelf) haveAll(starts []uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	there := make(map[uint32]bool)
	for _, p := range s.parts {
		there[minutes(p.start)] = p.fault == nil
	}
	return !slices.ContainsFunc(starts, func(start uint32) bool { return !there[start] })
}

// setAside takes a partition of rollups that is damaged out of use. It is made again from
// the traces that there are.
func (s *Store) setAside(p *partition, reason error) error {
	sh := s.shelf
	sh.claim(p)
	var err error
	if p.db != nil {
		err = closeBadger(p.db)
	}
	sh.settle(p, nil, false)
	sh.giveUp(p, reason)
	return err
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
