package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/head"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// rollParts sums up the partitions of traces that are not written to any more.
func (s *Store) rollParts(ctx context.Context, w *waiting) error {
	var errs error
	for begin := time.Now(); ; {
		p, unpin := s.nextToRoll(s.opts.Now())
		if p == nil || s.space.Room(s.space.Rolling(), 0) != nil {
			unpin()
			break
		}
		err := s.rollPart(ctx, p, w)
		unpin()
		if err != nil {
			s.rolling.notBefore[rollups.Minutes(p.Start)] = s.opts.Now().Add(retryRolling)
			errs = errors.Join(errs, fmt.Errorf("roll up partition %s: %w", p.Name, err))
		}
		if ctx.Err() != nil || time.Since(begin) >= s.rolling.stint {
			break
		}
	}
	return errs
}

// nextToRoll returns the oldest partition that is to be summed up, nil if there is none.
func (s *Store) nextToRoll(now time.Time) (p *part.Info, unpin func()) {
	parts, unpin := s.parts.Pin(func(*part.Info) bool { return true })
	done, _ := rollups.StartsOf(s.sums.Files())
	for i := range parts {
		p := &parts[i]
		start := rollups.Minutes(p.Start)
		final := p.Sealed || i < len(parts)-1
		if final && !p.Writing && p.Fault == nil && !p.Blank() && !done[start] && !now.Before(s.rolling.notBefore[start]) {
			return p, unpin
		}
	}
	return nil, unpin
}

// rollPart writes the sums of a partition of traces that is not written to any more.
func (s *Store) rollPart(ctx context.Context, p *part.Info, at *waiting) error {
	x := rollups.Sum{Start: rollups.Minutes(p.Start), First: p.First, Last: p.Last}
	w, err := s.editSums(rollups.Hours, x.Start)
	if err != nil {
		return err
	}
	defer w.Abort()
	var pages []string
	counted := make(map[string]uint64)
	err = s.parts.Read(ctx, p.Partition, func(txn *part.Txn) error {
		pages = txn.AllPages()
		err := txn.EachCount(func(page string, t store.Tag, c record.Count) {
			w.Count(page, t, c)
			if t == (store.Tag{}) {
				counted[page] = c.Traces
				x.Traces += c.Traces
				x.First, x.Last = min(x.First, c.First), max(x.Last, c.Last)
			}
		})
		if errors.Is(err, store.ErrDamaged) {
			err = nil // what is missing from it is not known
		}
		return err
	})
	if err != nil {
		return err
	}
	for page := range counted {
		pages = append(pages, page) // also one of which no trace is found
	}
	slices.Sort(pages)
	found := uint64(0)
	for _, page := range slices.Compact(pages) {
		at.step(fmt.Sprintf("summing up page %s of partition %s", page, p.Name))
		n, err := s.rollPartPage(ctx, at, w, p, page, counted[page])
		if err != nil {
			return err
		}
		found += n
	}
	x.Missing = max(x.Traces, found) - found
	at.step("writing the sums of partition " + p.Name)
	if err := s.commitSums(w, x); err != nil {
		return err
	}
	s.opts.Logger.Info("partition rolled up", logPartition, p.Name, "traces", found, "missing", x.Missing)
	return nil
}

// rollPartPage writes the sums of one page. It returns how many traces are in them.
func (s *Store) rollPartPage(ctx context.Context, at *waiting, w *rollups.Writer, p *part.Info, page string, counted uint64) (traces uint64, err error) {
	var fresh uint64
	var bad []store.BadValue
	b, err := buildPage(w, page, s.opts.Rollups, func(empty func() *rollup.Builder) (b *rollup.Builder, err error) {
		b, fresh, bad, err = s.head.AddTo(ctx, p.Partition, page, head.Adding{
			New:  empty,
			Pace: s.paced(at),
		})
		return b, err
	})
	if err != nil {
		return 0, err
	}
	s.countRolled(fresh, len(bad))
	_, n := b.Views()
	return uint64(n), putPage(w, b, page, max(counted, uint64(n)))
}

// buildPage returns what build adds up to empty builders. If that does not find room in the
// stack table that the page has, it is added up once more in a table of its own, of which the
// heaviest stacks find room.
func buildPage(w *rollups.Writer, page string, lim rollup.Limits, build func(empty func() *rollup.Builder) (*rollup.Builder, error)) (*rollup.Builder, error) {
	stacks, _, err := w.Stacks(page)
	if err != nil {
		return nil, err
	}
	b, err := build(func() *rollup.Builder { return rollup.NewBuilder(page, stacks, lim) })
	if err != nil || !b.Full() {
		return b, err
	}
	b, err = build(func() *rollup.Builder { return rollup.NewWholeBuilder(page, lim) })
	if err != nil {
		return nil, err
	}
	if stacks, _, err = w.Stacks(page); err != nil { // without what was added in vain
		return nil, err
	}
	return b.Onto(stacks)
}

// commitSums puts a file of sums in the place of the old one. Damage of the old one is copied.
// If all of the file can be made again, the new one is set aside, and is made again.
func (s *Store) commitSums(w *rollups.Writer, x rollups.Sum) error {
	f, err := w.Commit(x)
	if errors.Is(err, store.ErrDamaged) {
		if old := w.Replaces(); old != nil { // too damaged to be copied
			return s.sumsDamaged(old, err)
		}
	}
	if err != nil {
		return err
	}
	damage := w.Damaged()
	if len(damage) == 0 {
		return nil
	}
	if s.canRemake(f) {
		return s.sumsDamaged(f, fmt.Errorf("damaged at %d places: %w", len(damage), damage[0]))
	}
	s.opts.Logger.Error("sums are damaged, and can not be made again", "file", f.Name(), "places", len(damage), logErr, damage[0])
	return nil
}

// canRemake reports whether all that the sums of a file were made of can be read.
func (s *Store) canRemake(f *rollups.File) bool {
	summed := make(map[uint32]bool)
	var sources []uint32
	if f.Span() == rollups.Hours {
		sources = sourcesOf(f.Sums())
	} else {
		rollups.EachSum(s.sums.Files(), rollups.Hours, func(_ *rollups.File, x rollups.Sum) { summed[x.Start] = true })
		for _, x := range f.Sums() {
			sources = append(sources, x.Sources...)
		}
	}
	return s.haveAll(slices.DeleteFunc(sources, func(start uint32) bool { return summed[start] }))
}

// editSums begins to write sums.
func (s *Store) editSums(span rollups.Span, start uint32, sources ...uint32) (*rollups.Writer, error) {
	w, err := s.sums.Edit(span, start, sources...)
	if err != nil {
		return nil, fmt.Errorf("write sums: %w", err)
	}
	return w, nil
}

// putPage writes what there is of a page.
func putPage(w *rollups.Writer, b *rollup.Builder, page string, expected uint64) error {
	var records [3][]byte
	if !b.Empty() {
		for i, level := range []rollup.Level{rollup.Narrow, rollup.Wide, rollup.Details} {
			records[i] = b.Encode(level, true)
		}
	} else if expected == 0 {
		return nil
	}
	return w.Put(page, b.Stacks(), expected, records)
}

// haveAll reports whether the partitions of traces with these starts can be read.
func (s *Store) haveAll(starts []uint32) bool {
	there := make(map[uint32]bool)
	for _, p := range s.parts.All() {
		there[rollups.Minutes(p.Start)] = p.Fault == nil
	}
	return !slices.ContainsFunc(starts, func(start uint32) bool { return !there[start] })
}

// sumsDamaged takes a file of sums out of use that turned out to be damaged.
func (s *Store) sumsDamaged(f *rollups.File, reason error) error {
	return errors.Join(reason, s.sums.SetAside(f, reason))
}
