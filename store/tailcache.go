package store

import (
	"context"
	"slices"
	"sync"

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
}

type tailKey struct {
	p    *partition
	page string
}

// tailSum is what there is of one page.
type tailSum struct {
	mu      sync.Mutex
	mark    uint64     // Badger's version of the newest trace that is rolled up
	upTo    uint64     // and of the newest that is in the sum
	details bool       // the rollups have functions and outcomes, too
	table   *trie.Trie // the stack table, which grows
	fresh   pageRecords

	used  uint64 // by the tick of tails
	nodes int    // of the stack table, for tails
}

// pageRecords are what there is of one page. It is not changed, but replaced.
type pageRecords struct {
	rolled []*rollup.Record // up to the mark
	recs   []*rollup.Record // of what came since: each query adds what came since the last one
	stacks *trie.Trie       // of all of them
	traces uint64           // that came since
	bytes  uint64           // stored size of these
}

// foldTails is how many records of a tail are added up to one.
const foldTails = 8

// maxTailNodes bounds the memory of tails, in nodes of all their stack tables.
const maxTailNodes = 1 << 19

// take returns the sum of a page, which may be empty, and forgets those that were not used
// for the longest time if there are too many.
func (t *tails) take(key tailKey) *tailSum {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[tailKey]*tailSum{}
	}
	for t.nodesBut(key) > maxTailNodes {
		t.dropOldest(key)
	}
	s := t.of[key]
	if s == nil {
		s = &tailSum{}
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
	s.nodes = len(s.table.Nodes)
	for k := range t.of {
		if k.p != written && k != key {
			delete(t.of, k)
		}
	}
}

// readMarked returns the rollups of a page in a partition of traces, and makes sure that a
// sum of what came since goes on from there. sum is locked, and nil if it belongs to a later
// mark than the transaction sees.
func (s *selection) readMarked(txn *badger.Txn, key tailKey) (sum *tailSum, err error) {
	m, err := readMark(txn, key.page)
	if err != nil {
		return nil, err
	}
	sum = s.r.tails.take(key)
	sum.mu.Lock()
	if sum.table != nil && sum.mark == m.version && (sum.details || !s.want.Details) {
		return sum, nil
	}
	if sum.mark > m.version { // another query knows of more rollups
		sum.mu.Unlock()
		sum = &tailSum{}
		sum.mu.Lock()
	}
	stacks := &stackTable{Trie: trie.New()}
	var rolled []*rollup.Record
	if m != (mark{}) {
		if stacks, rolled, err = s.freshRollups(txn, key.page, m); err != nil {
			sum.table = nil
			sum.mu.Unlock()
			return nil, err
		}
	}
	sum.mark, sum.upTo, sum.details, sum.table = m.version, m.version, s.want.Details, stacks.Trie
	sum.fresh = pageRecords{rolled: rolled, stacks: sum.table.Snapshot()}
	return sum, nil
}

// readTail brings a sum up to the snapshot of c, unless it is there already.
func (s *selection) readTail(ctx context.Context, c *cursor, key tailKey, sum *tailSum) error {
	if sum.upTo >= c.snapshot {
		return nil
	}
	damaged := s.stats.Damaged
	err := s.extend(ctx, c, key.page, sum)
	if err != nil || s.stats.Damaged > damaged {
		s.r.tails.forget(key, sum) // what is damaged is to be counted the next time, too
	}
	if err != nil {
		sum.table = nil
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
