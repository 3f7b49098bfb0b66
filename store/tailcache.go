package store

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/rollup"
	"github.com/fieldtrie/fieldtrie/trie"
)

// tails keeps what queries have read of partitions that are not rolled up for good: their
// rollups so far, and the sum of the traces that came since. Under load these are many, and
// dashboards ask for the same pages again and again: each goes on where the last one ended,
// so that a trace is read once for all of them.
type tails struct {
	mu   sync.Mutex
	of   map[tailKey]*tailSum
	tick uint64 // counts uses

	ahead sync.Mutex // held to work before somebody asks: one page at a time, or all processors would be busy with it
}

type tailKey struct {
	p    *partition
	page string
}

// tailSum is what there is of one page.
type tailSum struct {
	turn    chan struct{} // holds one while somebody works on the fields below
	mark    uint64        // Badger's version of the newest trace that is rolled up
	upTo    uint64        // and of the newest that is in the sum
	details bool          // the rollups have functions and outcomes, too
	table   *trie.Trie    // the stack table, which grows; nil if there is no sum
	fresh   pageRecords

	last       atomic.Pointer[lastPage]
	refreshing atomic.Bool

	used  uint64 // by the tick of tails
	nodes int    // of the stack table, for tails
}

// pageRecords are what there is of one page. It is not changed, but replaced.
type pageRecords struct {
	rolled   []*rollup.Record // up to the mark
	recs     []*rollup.Record // of what came since: each query adds what came since the last one
	outcomes *rollup.Record   // page views without a trace; nil if there are none
	stacks   *trie.Trie       // of all of them
	traces   uint64           // that came since
	bytes    uint64           // stored size of these
	expected uint64           // traces that there must be at least
	at       time.Time        // when it was all there was
}

// records returns all of them.
func (p *pageRecords) records() []*rollup.Record {
	all := append(slices.Clip(p.rolled), p.recs...)
	if p.outcomes != nil {
		all = append(all, p.outcomes)
	}
	return all
}

// lastPage is what was there when somebody looked last.
type lastPage struct {
	pageRecords
	details bool
	took    time.Duration
}

// foldTails is how many records of a tail are added up to one.
const foldTails = 8

// maxTailNodes bounds the memory of tails, in nodes of all their stack tables.
const maxTailNodes = 1 << 19

// maxTails bounds how many there are.
const maxTails = 2000

// take returns the sum of a page, which may be empty, and forgets those that were not used
// for the longest time if there are too many.
func (t *tails) take(key tailKey) *tailSum {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[tailKey]*tailSum{}
	}
	for t.nodesBut(key) > maxTailNodes || len(t.of) > maxTails {
		t.dropOldest(key)
	}
	s := t.of[key]
	if s == nil {
		s = &tailSum{turn: make(chan struct{}, 1)}
		t.of[key] = s
	}
	t.tick++
	s.used = t.tick
	return s
}

func (t *tails) nodesBut(key tailKey) (n int) {
	for k, s := range t.of {
		if k != key {
			n += s.nodes
		}
	}
	return n
}

func (t *tails) dropOldest(but tailKey) {
	var oldest tailKey
	for k, s := range t.of {
		if k != but && (oldest.p == nil || s.used < t.of[oldest].used) {
			oldest = k
		}
	}
	delete(t.of, oldest)
}

// forget drops a sum that can not be gone on with, unless another took its place.
func (t *tails) forget(key tailKey, s *tailSum) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of[key] == s {
		delete(t.of, key)
	}
}

// settle notes the size of a sum, and drops those of partitions that are not written to any
// more: they are rolled up soon, and for good.
func (t *tails) settle(key tailKey, s *tailSum, written *partition) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.nodes = len(s.table.Nodes) + 64 // an entry of few takes something, too
	for k := range t.of {
		if k.p != written && k != key {
			delete(t.of, k)
		}
	}
}

// get returns a sum, nil if there is none.
func (t *tails) get(key tailKey) *tailSum {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of[key]
}

// recentPage returns what was known of a page a short time ago, if the query allows so old
// an answer. Who asks does not wait for a newer one: it is made in the meantime, for the
// next.
func (s *selection) recentPage(key tailKey) (pageRecords, bool) {
	sum := s.r.tails.get(key)
	if sum == nil {
		return pageRecords{}, false
	}
	last := sum.last.Load()
	if last == nil || s.want.Details && !last.details {
		return pageRecords{}, false
	}
	age := time.Since(last.at)
	if age >= s.want.Lag {
		return pageRecords{}, false
	}
	// A fiftieth of a processor for each page that somebody watches is enough.
	if age > min(s.want.Lag*2/3, 50*last.took) && sum.refreshing.CompareAndSwap(false, true) {
		go func() {
			defer sum.refreshing.Store(false)
			s.r.tails.ahead.Lock()
			defer s.r.tails.ahead.Unlock()
			s.r.refresh(key, last.details)
		}()
	}
	return last.pageRecords, true
}

// refresh brings what is known of a page up to date.
func (r *Reader) refresh(key tailKey, details bool) {
	if r.enter() != nil {
		return
	}
	defer r.leave()
	pinned := r.shelf.pin(func(p *partition) bool { return p == key.p })
	defer r.shelf.unpin(pinned)
	if len(pinned) == 0 {
		return // it is deleted
	}
	s := &selection{scan: &scan{r: r, q: Query{Page: key.page, EachPage: true}, page: key.page}, want: Wanted{Level: rollup.Wide, Details: details}}
	// What goes wrong is said to the one who asks next.
	_, _ = s.readPage(context.Background(), key)
}

// readPage reads what there is of a page now.
func (s *selection) readPage(ctx context.Context, key tailKey) (pageRecords, error) {
	begin := time.Now()
	sum := s.r.tails.take(key)
	// This comes before the partition is leased, never after: to seal a partition, leases
	// are waited for, and new ones wait meanwhile.
	select {
	case sum.turn <- struct{}{}:
	case <-ctx.Done():
		return pageRecords{}, ctx.Err()
	}
	defer func(turn chan struct{}) { <-turn }(sum.turn)
	shared := sum
	var outcomes *rollup.Record
	var expected uint64
	c := pageCursor(key.p, key.page, noSnapshot)
	s.attempt(c, func(c *cursor, db *badger.DB) error {
		return view(db, func(txn *badger.Txn) (err error) {
			c.snapshot = txn.ReadTs()
			if expected, err = pageTotal(txn, key.page); errors.Is(err, ErrDamaged) {
				expected = 0 // nobody knows
			} else if err != nil {
				return err
			}
			if outcomes, err = s.readOutcomes(txn, key.page); err != nil {
				return err
			}
			if sum, err = s.readMarked(txn, key, shared); err != nil {
				s.bad(key.p.name, appendPageKey(nil, kindRollup, key.page), err)
				sum = &tailSum{table: trie.New(), fresh: pageRecords{stacks: trie.New()}} // it is all in the traces
			}
			return nil
		})
	})
	if c.done { // it can not be read
		s.r.tails.forget(key, shared)
		return pageRecords{}, nil
	}
	if err := s.readTail(ctx, c, key, sum); err != nil {
		return pageRecords{}, err
	}
	sum.fresh.outcomes, sum.fresh.expected, sum.fresh.at = outcomes, expected, begin
	if len(sum.fresh.records()) == 0 {
		s.r.tails.forget(key, shared) // there may be any number of pages that do not exist
	}
	if sum.table != nil { // else it is not all
		sum.last.Store(&lastPage{sum.fresh, sum.details, time.Since(begin)})
	}
	return sum.fresh, nil
}

// readOutcomes returns the page views without a trace as a record, nil if there are none.
func (s *selection) readOutcomes(txn *badger.Txn, page string) (*rollup.Record, error) {
	b := rollup.NewBuilder(page, trie.New(), s.r.opts.Rollups)
	if err := addOutcomes(txn, page, b); err != nil || b.Empty() {
		return nil, err
	}
	return b.Record()
}

// readMarked reads the rollups of a page in a partition of traces, and makes sure that the
// sum of what came since goes on from there. It returns a sum of its own if the transaction
// does not see what others know.
func (s *selection) readMarked(txn *badger.Txn, key tailKey, sum *tailSum) (*tailSum, error) {
	m, err := readMark(txn, key.page)
	if err != nil {
		return nil, err
	}
	if sum.table != nil && sum.mark == m.version && (sum.details || !s.want.Details) {
		return sum, nil
	}
	if sum.mark > m.version {
		sum = &tailSum{}
	}
	sum.table = nil
	stacks := &stackTable{Trie: trie.New()}
	var rolled []*rollup.Record
	if m != (mark{}) {
		if stacks, rolled, err = s.freshRollups(txn, key.page, m); err != nil {
			return nil, err
		}
	}
	sum.mark, sum.upTo, sum.details, sum.table = m.version, m.version, s.want.Details, stacks.Trie
	sum.fresh = pageRecords{rolled: rolled, stacks: sum.table.Snapshot()}
	return sum, nil
}

// readTail brings a sum up to the snapshot of c, unless it is there already.
func (s *selection) readTail(ctx context.Context, c *cursor, key tailKey, sum *tailSum) error {
	if c.done || sum.upTo >= c.snapshot {
		return nil
	}
	damaged, unreadable := s.stats.Damaged, len(s.stats.Unreadable)
	err := s.extend(ctx, c, key.page, sum)
	if err != nil || s.stats.Damaged > damaged || len(s.stats.Unreadable) > unreadable {
		s.r.tails.forget(key, sum) // what is damaged is to be said the next time, too
		sum.mark, sum.table = 0, nil
		return err
	}
	s.r.tails.settle(key, sum, s.r.shelf.written())
	return nil
}

// extend adds to a sum what came since.
func (s *selection) extend(ctx context.Context, c *cursor, page string, sum *tailSum) error {
	before := s.stats.Bytes
	b := rollup.NewBuilder(page, sum.table, s.r.opts.Rollups)
	t := &tail{scan: s.scan, c: c, since: sum.upTo}
	if err := t.addTo(ctx, b); err != nil {
		return err
	}
	sum.fresh.bytes += s.stats.Bytes - before
	s.stats.Bytes = before
	sum.upTo = c.snapshot
	sum.fresh.traces += t.news
	if b.Empty() {
		return nil
	}
	rec, err := b.Record()
	if err != nil {
		return err
	}
	recs := append(slices.Clip(sum.fresh.recs), rec) // who was given the others has them still
	if len(recs) > foldTails {
		all := rollup.NewBuilder(page, sum.table, s.r.opts.Rollups)
		for _, rec := range recs {
			all.AddRecord(rec, sum.table)
		}
		if rec, err = all.Record(); err != nil {
			return err
		}
		recs = []*rollup.Record{rec}
	}
	sum.fresh.recs, sum.fresh.stacks = recs, sum.table.Snapshot()
	return nil
}
