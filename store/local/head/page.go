package head

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/fresh"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Page is what there is of one page in one partition of traces. Nothing of it changes.
type Page struct {
	Records  []*rollup.Record // all of them together
	Stacks   *trie.Trie       // of all of them
	Traces   uint64           // that are in no rollup yet
	Bytes    uint64           // stored size of these
	Expected uint64           // traces that there must be at least, by the catalogue
	Bad      []store.BadValue // what is left out since it is damaged
	At       time.Time        // when it was all there was

	details bool // it has functions and outcomes
}

// Behind returns how long ago the page was looked at.
func (p *Page) Behind() time.Duration { return time.Since(p.At) }

// lastAnswer is what was there when somebody looked last.
type lastAnswer struct {
	page       atomic.Pointer[Page]
	took       atomic.Int64 // ns
	refreshing atomic.Bool
}

// foldRecords is how many records of a page are added up to one.
const foldRecords = 8

// Has reports whether there is a sum of the page that goes on.
func (h *Head) Has(p *part.Partition, name string) bool { return h.find(key{p, name}, false) != nil }

// Question says what is asked about a page.
type Question struct {
	Details bool // with functions and outcomes
	// Lag is how far behind an answer may be that takes long to make: nobody waits for a newer
	// one then, which is made in the meantime, for whoever asks next.
	Lag   time.Duration
	Pages int // how many pages are asked for in one go
}

// Page returns what there is of a page. An error that wraps [store.ErrDamaged] is about
// rollups: the traces have it all, see [Head.FromTraces].
func (h *Head) Page(ctx context.Context, p *part.Partition, name string, q Question) (Page, error) {
	k := key{p, name}
	if known, ok := h.recent(k, q); ok {
		return known, nil
	}
	return h.now(ctx, k, q.Details)
}

// longSum is from where on it takes long to sum up many pages. They are good for the whole lag
// then, or those of a large site would be summed up again and again while somebody waits.
const longSum = 100 * time.Millisecond

// recent returns what was known of a page a short time ago, if there is such an answer.
func (h *Head) recent(k key, q Question) (Page, bool) {
	x := h.find(k, false)
	if x == nil {
		return Page{}, false
	}
	last := x.last.page.Load()
	if last == nil || q.Details && !last.details {
		return Page{}, false
	}
	age, good := time.Since(last.At), q.Lag
	if takes := time.Duration(x.last.took.Load()) * time.Duration(q.Pages); q.Pages == 1 || takes < longSum {
		good = fresh.For(takes, good)
	}
	if age >= good {
		return Page{}, false
	}
	if fresh.Due(age, good) && x.last.refreshing.CompareAndSwap(false, true) {
		go h.refresh(x, last.details)
	}
	return *last, true
}

// refresh sums up what came to a page before somebody asks. It waits for its turn.
func (h *Head) refresh(x *page, details bool) {
	defer x.last.refreshing.Store(false)
	h.ahead.Do(func(ctx context.Context) {
		_, _ = h.now(ctx, x.key, details) // what goes wrong is said to the one who asks next
	})
}

// now brings the sum of a page up to date and returns it.
func (h *Head) now(ctx context.Context, k key, details bool) (Page, error) {
	begin := time.Now()
	x, err := h.take(ctx, k)
	if err != nil {
		return Page{}, err
	}
	drop := true
	defer func() { h.give(x, drop) }()
	answer := Page{At: begin}
	var snapshot uint64
	var outcomes *rollup.Record
	err = h.o.Shelf.Read(ctx, k.p, func(txn *part.Txn) error {
		snapshot = txn.Version()
		if answer.Expected, err = expected(txn, k.page); err != nil {
			return err
		}
		if outcomes, err = h.outcomes(txn, k.page); err != nil {
			return err
		}
		if err := h.load(txn, x); err != nil {
			return err
		}
		return h.loadRolled(txn, x, details)
	})
	if err == nil {
		err = h.advance(ctx, x, snapshot)
	}
	if err != nil {
		drop = drop && ctx.Err() == nil // what was summed up so far is right
		return Page{}, err
	}
	x.askedAt, x.outcomes = begin, outcomes
	x.publish(&answer)
	drop = len(answer.Records) == 0 // there may be any number of pages that do not exist
	x.last.took.Store(int64(time.Since(begin)))
	return answer, nil
}

// publish fills in an answer, and makes it the last one. It is called by who has the turn.
func (x *page) publish(answer *Page) {
	answer.Records = append(slices.Clip(x.rolled), x.recs...)
	if x.outcomes != nil {
		answer.Records = append(answer.Records, x.outcomes)
	}
	answer.Stacks, answer.Traces, answer.Bytes, answer.Bad = x.table.Snapshot(), x.traces, x.bytes, x.bad
	answer.details = x.details
	x.last.page.Store(answer)
}

// republish makes what was rolled up the last answer, if somebody asks for the page: it has all
// there was at a time. The page views without a trace are those of the answer before, since they
// are of the partition as a whole. It is called by who has the turn.
func (x *page) republish(at time.Time) {
	if last := x.last.page.Load(); x.keep && last != nil && at.After(last.At) {
		x.publish(&Page{At: at, Expected: last.Expected})
	}
}

// expected returns how many traces the catalogue counts of page, 0 if that is not known.
func expected(txn *part.Txn, page string) (uint64, error) {
	c, err := txn.Count(record.AppendCatalogKey(nil, page, store.Tag{}))
	if errors.Is(err, store.ErrDamaged) {
		return 0, nil
	}
	return c.Traces, err
}

// outcomes returns the page views without a trace as a record, nil if there are none.
func (h *Head) outcomes(txn *part.Txn, page string) (*rollup.Record, error) {
	return Untraced(txn, page, h.o.Limits)
}

// loadRolled reads the rollups that are stored, unless they are known.
func (h *Head) loadRolled(txn *part.Txn, x *page, details bool) error {
	if x.keep && (x.details || !details) {
		return nil
	}
	var recs []*rollup.Record
	stored := x.rows
	stored.table = x.table
	err := h.o.eachRollup(txn, &stored, func(rec *rollup.Record) {
		if rec.Level != rollup.Details || details {
			recs = append(recs, rec)
		}
	})
	if err == nil {
		x.rolled, x.keep, x.details = recs, true, details
	}
	return err
}

// advanceBy is how many commits are summed up in one go. What was summed up stays when a
// question is given up, so that the next one goes on where it ended.
const advanceBy = 2048

// advance adds to the sum what came since, up to the snapshot.
func (h *Head) advance(ctx context.Context, x *page, snapshot uint64) error {
	for x.upTo < snapshot {
		if err := h.advanceTo(ctx, x, min(snapshot, x.upTo+h.advanceBy)); err != nil {
			return err
		}
	}
	return nil
}

func (h *Head) advanceTo(ctx context.Context, x *page, snapshot uint64) error {
	b := rollup.NewBuilder(x.page, x.table, h.o.Limits)
	t := newTail(&h.o, x.p, x.page, x.upTo, snapshot)
	if err := t.addTo(ctx, b); err != nil {
		return err
	}
	if b.Full() {
		return h.renew(ctx, x, snapshot, nil)
	}
	x.counted(t)
	if b.Empty() {
		return nil
	}
	rec, err := b.Record()
	if err != nil {
		return err
	}
	x.recs, err = h.folded(x, append(slices.Clip(x.recs), rec)) // whoever was given the others has them still
	return err
}

// counted notes what a tail has read.
func (x *page) counted(t *tail) {
	x.upTo = t.snapshot
	x.traces += t.traces
	x.bytes += t.bytes
	x.bad = append(slices.Clip(x.bad), t.bad...)
}

// folded returns the records, or their sum if they are many.
func (h *Head) folded(x *page, recs []*rollup.Record) ([]*rollup.Record, error) {
	if len(recs) <= foldRecords {
		return recs, nil
	}
	all := rollup.NewBuilder(x.page, x.table, h.o.Limits)
	for _, rec := range recs {
		all.AddRecord(rec, x.table)
	}
	rec, err := all.Record()
	return []*rollup.Record{rec}, err
}

// FromTraces returns what there is of a page by its traces alone, when its rollups are
// damaged.
func (h *Head) FromTraces(ctx context.Context, p *part.Partition, name string) (Page, error) {
	answer := Page{At: time.Now()}
	var snapshot uint64
	var outcomes *rollup.Record
	err := h.o.Shelf.Read(ctx, p, func(txn *part.Txn) (err error) {
		snapshot = txn.Version()
		if answer.Expected, err = expected(txn, name); err != nil {
			return err
		}
		outcomes, err = h.outcomes(txn, name)
		return err
	})
	if err != nil {
		return Page{}, err
	}
	b := rollup.NewWholeBuilder(name, h.o.Limits)
	t := newTail(&h.o, p, name, 0, snapshot)
	if err := t.addTo(ctx, b); err != nil {
		return Page{}, err
	}
	answer.Stacks, answer.Traces, answer.Bytes, answer.Bad = b.Stacks(), t.traces, t.bytes, t.bad
	if !b.Empty() {
		rec, err := b.Record()
		if err != nil {
			return Page{}, err
		}
		answer.Records = append(answer.Records, rec)
	}
	if outcomes != nil {
		answer.Records = append(answer.Records, outcomes)
	}
	return answer, nil
}
