package head

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// ErrMoved says that a partition is not written to any more. It is rolled up when it is
// closed.
var ErrMoved = errors.New("the partition is not written to any more")

// Roller says how a roll goes on.
type Roller struct {
	Pending *Pending
	// Most and Longest say when there is enough: so many traces wait, or one has waited for
	// that long.
	Most    int
	Longest time.Duration
	// Stint is after how long a roll ends, although there is more.
	Stint time.Duration
	// Pages is how many pages are rolled up side by side: one if it is zero.
	Pages int
	// Fold leaves one rollup of each page that is rolled up.
	Fold bool
	Now  time.Time
	// Put writes to the partition, all or nothing.
	Put     func(context.Context, *part.Partition, []record.Pair) error
	MaxCost int // bytes of one Put
	// Pace is called after each stretch of work with how long it took.
	Pace func(time.Duration)
	// Progress is told what is being done.
	Progress func(string)
	// Rolled is told how many traces went into a rollup, and how many were found damaged.
	Rolled func(traces uint64, damaged int)
}

// Roll writes what p, which is written to, has got into rollups, if there is enough of it. It
// does nothing that a crash in the middle could spoil. Pages whose rollups are damaged are
// left to [Head.AddTo].
func (h *Head) Roll(ctx context.Context, p *part.Partition, r *Roller) error {
	for begin := time.Now(); ; {
		pages, all, ok := r.Pending.take(r.Now, r.Most, r.Longest)
		if !ok || p == nil {
			return nil // without p it was closed, and is rolled up with those
		}
		err := h.rollPages(ctx, p, pages, all, r)
		if errors.Is(err, ErrMoved) {
			return nil
		}
		if err != nil {
			r.Pending.Everything(r.Now)
			return fmt.Errorf("roll up partition %s: %w", p.Name, err)
		}
		if time.Since(begin) >= r.Stint {
			return nil
		}
	}
}

func (h *Head) rollPages(ctx context.Context, p *part.Partition, pages []string, all bool, r *Roller) error {
	var snapshot uint64
	at := time.Now()
	err := h.o.Shelf.Read(ctx, p, func(txn *part.Txn) error {
		snapshot = txn.Version()
		if all {
			pages = txn.Pages(record.KindTrace)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c := h.o.Shelf.Lookup(p).Contents
	// Memory is for so many traces at once.
	step := max(64, uint64(r.Most)*c.Commits/max(c.Traces, 1))
	roll := func(ctx context.Context, page string) error {
		r.Progress("rolling up page " + page)
		more, err := h.rollPage(ctx, key{p, page}, snapshot, at, step, r)
		if errors.Is(err, store.ErrDamaged) {
			h.o.Log.Warn("page is not rolled up before the partition is over", "partition", p.Name, "page", page, "err", err)
			return nil // then its traces are read anew
		}
		if more {
			r.Pending.more(page)
		}
		return err
	}
	if r.Pages <= 1 { // in the goroutine of the caller, who measures what it takes
		for _, page := range pages {
			if err := roll(ctx, page); err != nil {
				return err
			}
		}
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(r.Pages)
	for _, page := range pages {
		group.Go(func() error { return roll(ctx, page) })
	}
	return group.Wait()
}

// Unrolled returns how many traces of a partition are in none of its rollups, once for each page of theirs, of those that
// are not newer than a version. Nothing of that may be rolled up meanwhile.
func (h *Head) Unrolled(ctx context.Context, p *part.Partition, upTo uint64) (traces int, err error) {
	return h.unrolled(ctx, p, upTo, stretch)
}

// unrolled is Unrolled with transactions that end after a time, and go on where the one before has ended.
func (h *Head) unrolled(ctx context.Context, p *part.Partition, upTo uint64, longest time.Duration) (traces int, err error) {
	var pages []string
	err = h.o.Shelf.Read(ctx, p, func(txn *part.Txn) error {
		pages = txn.Pages(record.KindTrace)
		return nil
	})
	var next []byte // where to go on with the first of pages, nil for its beginning
	for err == nil && len(pages) > 0 {
		end := time.Now().Add(longest)
		err = h.o.Shelf.Read(ctx, p, func(txn *part.Txn) error {
			for ok := true; ok && len(pages) > 0; ok = time.Now().Before(end) {
				m, err := readMark(txn, pages[0])
				if err != nil && !errors.Is(err, store.ErrDamaged) {
					return err
				}
				var n int
				n, next = since(txn, pages[0], next, m.version, upTo)
				traces += n
				if next == nil {
					pages = pages[1:]
				}
			}
			return context.Cause(ctx)
		})
	}
	return traces, err
}

// countKeys is how many keys are counted before somebody looks at the time.
const countKeys = 4096

// since counts traces of a page that are newer than a version, and not newer than another, among some keys from one
// on, or from the first if that is nil. It returns the key to go on from, nil if there are no more.
func since(txn *part.Txn, page string, from []byte, version, upTo uint64) (traces int, next []byte) {
	prefix := record.AppendPagePrefix(nil, page)
	it := txn.Iterate(prefix, version)
	defer it.Close() // also where damaged bytes make it panic
	if from == nil {
		from = prefix
	}
	it.Seek(from)
	for range countKeys {
		if !it.Valid() {
			return traces, nil
		}
		if it.Version() <= upTo {
			traces++
		}
		it.Next()
	}
	if it.Valid() {
		next = bytes.Clone(it.Key())
	}
	return traces, next
}

// rollPage writes what came to a page up to the snapshot, which was made at some time, of at most
// step commits, as a rollup. It reports whether there is more.
func (h *Head) rollPage(ctx context.Context, k key, snapshot uint64, at time.Time, step uint64, r *Roller) (more bool, err error) {
	x, err := h.take(ctx, k)
	if err != nil {
		return false, err
	}
	drop := true // what the page has may be ahead of what is stored
	defer func() { h.give(x, drop) }()
	if err := h.o.Shelf.Read(ctx, k.p, func(txn *part.Txn) error { return h.load(txn, x) }); err != nil {
		return false, err
	}
	if snapshot > x.upTo+step {
		snapshot, more = x.upTo+step, true
	}
	b, err := h.came(ctx, x, snapshot, func(worked time.Duration) {
		r.Progress("rolling up page " + x.page)
		if x.waiting.Load() == 0 { // who asks for the page does not wait for a pause
			r.Pace(worked)
		}
	})
	if err != nil {
		return false, err
	}
	if x.traces > 0 {
		if err := h.write(ctx, x, b, r); err != nil {
			return false, err
		}
	}
	drop = false
	if !more {
		x.republish(at)
	}
	return more, nil
}

// came returns a builder with what came to a page up to the snapshot and is in no rollup.
func (h *Head) came(ctx context.Context, x *page, snapshot uint64, pace func(time.Duration)) (*rollup.Builder, error) {
	b := rollup.NewBuilder(x.page, x.table, h.o.Limits)
	if x.upTo < snapshot {
		t := newTail(&h.o, x.p, x.page, x.upTo, snapshot)
		t.pace = pace
		if err := t.addTo(ctx, b); err != nil {
			return nil, err
		}
		if b.Full() {
			if err := h.renew(ctx, x, snapshot, pace); err != nil {
				return nil, err
			}
			return rollup.NewBuilder(x.page, x.table, h.o.Limits), nil
		}
		x.counted(t)
	}
	for _, rec := range x.recs {
		b.AddRecord(rec, x.table)
	}
	return b, nil
}

// foldAfter is how many rollups of a page are added up to one.
const foldAfter = 8

// write stores what came to a page since its mark, which is in b, as its next rollup. That
// takes the place of the others if there are many.
func (h *Head) write(ctx context.Context, x *page, b *rollup.Builder, r *Roller) error {
	if x.keep && !x.renewed && time.Since(x.askedAt) > watchedFor {
		x.keep, x.rolled = false, nil
	}
	next := x.rows
	next.table = x.table
	var seal []record.Pair
	if x.renewed {
		old, err := h.renewRows(ctx, x, &next)
		if err != nil {
			return err
		}
		seal = old
	}
	fold := r.Fold || x.renewed || len(x.keys) >= foldAfter*len(levels())
	if fold {
		for i, k := range x.keys {
			seal = append(seal, record.Removal(k.Append(nil), x.parts[i])...)
		}
		if err := h.addRolled(ctx, x, b); err != nil {
			return err
		}
		next.keys, next.parts = nil, nil
	}
	out, err := h.encode(&next, x, b, r)
	if err != nil {
		return err
	}
	next.mark.version = x.upTo
	next.mark.next++
	if err := h.put(ctx, x.p, out, append(seal, next.mark.pair(x.page)), r); err != nil {
		return err
	}
	if x.keep {
		rec, err := b.Record()
		if err != nil {
			return err
		}
		if x.rolled = append(x.rolled[:len(x.rolled):len(x.rolled)], rec); fold {
			x.rolled = []*rollup.Record{rec}
		}
	}
	r.Rolled(x.traces, len(x.bad))
	x.rows, x.renewed = next, false
	x.recs, x.traces, x.bytes, x.bad = nil, 0, 0, nil
	return nil
}

// addRolled adds the rollups that are stored to b.
func (h *Head) addRolled(ctx context.Context, x *page, b *rollup.Builder) error {
	if x.keep && x.details {
		for _, rec := range x.rolled {
			b.AddRecord(rec, x.table)
		}
		return nil
	}
	stored := x.rows
	stored.table = x.table
	return h.o.Shelf.Read(ctx, x.p, func(txn *part.Txn) error {
		return h.o.eachRollup(txn, &stored, func(rec *rollup.Record) { b.AddRecord(rec, x.table) })
	})
}

// encode returns what stores b as a rollup, with what came to the stack table.
func (h *Head) encode(next *rows, x *page, b *rollup.Builder, r *Roller) (out []record.Pair, err error) {
	if now := rollup.SizeOf(x.table); now != next.stored {
		out, err = h.o.Packer.Pack(record.AppendStacksKey(nil, x.page, next.pieces), rollup.EncodeStacks(x.table, next.stored))
		if err != nil {
			return nil, err
		}
		next.stored = now
		next.pieces++
	}
	for _, level := range levels() {
		begin := time.Now()
		k := record.RollupKey{Page: x.page, Start: next.mark.next, Level: byte(level)}
		packed, err := h.o.Packer.Pack(k.Append(nil), b.Encode(level, false))
		if err != nil {
			return nil, err
		}
		r.Pace(time.Since(begin))
		out = append(out, packed...)
		next.keys = append(next.keys[:len(next.keys):len(next.keys)], k)
		next.parts = append(next.parts[:len(next.parts):len(next.parts)], len(packed))
	}
	return out, nil
}

// put has the committer write rows and seal: in one transaction if there is room for all of
// it, or the rows in several and then the seal, since nobody reads rows before that. Commits
// go on in between.
func (h *Head) put(ctx context.Context, p *part.Partition, rows, seal []record.Pair, r *Roller) error {
	last := 0
	for _, x := range seal {
		last += x.Cost()
	}
	for len(rows) > 0 {
		n, cost := 0, 0
		for n < len(rows) && (n == 0 || cost+rows[n].Cost() < r.MaxCost) {
			cost += rows[n].Cost()
			n++
		}
		if n == len(rows) && cost+last < r.MaxCost {
			break
		}
		if err := r.Put(ctx, p, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return r.Put(ctx, p, append(rows[:len(rows):len(rows)], seal...))
}

// Adding says how [Head.AddTo] adds.
type Adding struct {
	New  func() *rollup.Builder // returns an empty builder for the page
	Pace func(time.Duration)    // is called after each stretch of work with how long it took
}

// AddTo returns a builder with all there is of a page in a partition that is not written to
// any more: its rollups, or its traces if these are damaged, the traces that came since, and
// page views without a trace. It also returns how many traces were not in a rollup before,
// and what is damaged.
func (h *Head) AddTo(ctx context.Context, p *part.Partition, page string, a Adding) (b *rollup.Builder, traces uint64, bad []store.BadValue, err error) {
	var since uint64
	b = a.New()
	err = h.o.Shelf.Read(ctx, p, func(txn *part.Txn) error {
		r, err := h.o.readRows(txn, page)
		if err == nil {
			err = h.o.eachRollup(txn, &r, func(rec *rollup.Record) { b.AddRecord(rec, r.table) })
		}
		since = r.mark.version
		if errors.Is(err, store.ErrDamaged) {
			since, b, err = 0, a.New(), nil // it is all in the traces
		}
		if err != nil {
			return err
		}
		return addOutcomes(txn, page, b)
	})
	if err != nil {
		return nil, 0, nil, err
	}
	t := newTail(&h.o, p, page, since, part.AllVersions)
	t.pace = a.Pace
	if err := t.addTo(ctx, b); err != nil && !errors.Is(err, store.ErrDamaged) {
		return nil, 0, nil, err // it may be better the next time
	}
	return b, t.traces, t.bad, nil
}
