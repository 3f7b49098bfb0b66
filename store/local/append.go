package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

// request is a part of a call to Append that goes into one commit as a whole.
type request struct {
	recs   []prepared
	cost   int64
	result store.AppendResult
	err    error
	done   chan struct{}
}

// prepared is a record with all done to it that can be done outside the committer.
type prepared struct {
	id         store.ID
	pages      []string // sorted, distinct
	tags       []store.Tag
	dictionary *record.Dictionary // that compressed needs
	compressed []byte
}

// perEntry is what the store adds to a key and value, generously.
const perEntry = record.PerEntry

// cost returns at least the bytes that r adds to a transaction.
func (r *prepared) cost() int64 {
	n := 2*perEntry + record.IDSize
	all := 0
	for _, p := range r.pages {
		all += len(p) + 2
	}
	for _, p := range r.pages {
		n += perEntry + len(p) + record.IDSize + record.ValueHeader + all + len(r.compressed)
		n += perEntry + len(p) + record.CountSize
		for _, t := range r.tags {
			n += perEntry + len(p) + len(t.Key) + len(t.Value) + record.CountSize
		}
	}
	return int64(n)
}

// maxCost is the limit for the records of one commit. Badger takes 15 % of the
// memtable; the rest is for what perEntry may have left out.
func (o *Options) maxCost() int64 { return o.MemTableSize * 12 / 100 }

// Append implements [store.Writer].
func (s *Store) Append(ctx context.Context, recs []store.Record) (store.AppendResult, error) {
	if err := ctx.Err(); err != nil {
		return store.AppendResult{}, err
	}
	if err := errors.Join(s.Err(), s.Stuck()); err != nil {
		return store.AppendResult{}, err
	}
	var bytes int64
	for i := range recs {
		if why := recs[i].Check(s.opts.MaxPayload); why != "" {
			return store.AppendResult{}, &store.RecordError{Index: i, ID: recs[i].ID, Reason: why}
		}
		bytes += int64(len(recs[i].Payload)) + perEntry
	}
	// Space and the place in the queue come first: refusing must be cheaper than compressing.
	if err := s.admit(time.Second); err != nil {
		return store.AppendResult{}, err
	}
	if err := s.reserve(len(recs), bytes); err != nil {
		return store.AppendResult{}, err
	}
	requests, err := s.prepare(recs)
	if err == nil {
		err = s.enqueue(requests)
	}
	if err != nil {
		s.unreserve(len(recs), bytes)
		return store.AppendResult{}, err
	}
	w := s.watch.begin("delivery", waitLimit)
	w.step("waiting for its commit")
	leave := func() {
		s.unreserve(len(recs), bytes)
		w.end()
	}
	result, err, over := s.await(ctx, requests)
	if over {
		leave()
		return result, err
	}
	go func() { // they are still queued, and the watch sees that nobody commits them
		for _, q := range requests {
			<-q.done
		}
		leave()
	}()
	return result, err
}

// await waits until all requests are over, and returns the sum of their results. It gives up
// when ctx ends or the store is stuck: then they are not over.
func (s *Store) await(ctx context.Context, requests []*request) (sum store.AppendResult, err error, over bool) {
	for _, q := range requests {
		select {
		case <-q.done:
		case <-ctx.Done():
			return sum, ctx.Err(), false
		case <-s.watch.alarmed():
			return sum, cmp.Or(s.Stuck(), store.ErrStuck), false // it may go on just now
		}
		if q.err != nil && err == nil {
			err = q.err
		}
		sum.Stored += q.result.Stored
		sum.Duplicates += q.result.Duplicates
	}
	return sum, err, true
}

// reserve takes a place in the queue, or none.
func (s *Store) reserve(traces int, bytes int64) error {
	s.qmu.Lock()
	defer s.qmu.Unlock()
	switch {
	case s.closing:
		return store.ErrClosed
	case traces > s.opts.QueueTraces || bytes > s.opts.QueueBytes:
		return fmt.Errorf("append %d traces of %d bytes: more than the queue can ever hold", traces, bytes)
	case s.queuedTraces+traces > s.opts.QueueTraces || s.queuedBytes+bytes > s.opts.QueueBytes:
		s.refused.Add(uint64(traces))
		return store.ErrBusy
	}
	s.queuedTraces += traces
	s.queuedBytes += bytes
	return nil
}

func (s *Store) unreserve(traces int, bytes int64) {
	s.qmu.Lock()
	defer s.qmu.Unlock()
	s.queuedTraces -= traces
	s.queuedBytes -= bytes
}

// prepare compresses the records and splits them into requests that fit a commit.
func (s *Store) prepare(recs []store.Record) (requests []*request, err error) {
	var q *request
	for i := range recs {
		r := &recs[i]
		p := prepared{id: r.ID, pages: sortedSet(r.Pages), tags: r.Tags}
		s.compress(&p, r.Payload)
		cost := p.cost()
		if len(p.compressed) > part.MaxValue || cost > s.opts.maxCost() {
			return nil, &store.RecordError{Index: i, ID: r.ID, Reason: fmt.Sprintf(
				"payload of %d bytes, %d compressed, for %d pages is too large", len(r.Payload), len(p.compressed), len(p.pages))}
		}
		if q == nil || len(q.recs) == s.opts.GroupTraces || q.cost+cost > s.opts.maxCost() {
			q = &request{done: make(chan struct{})}
			requests = append(requests, q)
		}
		q.recs = append(q.recs, p)
		q.cost += cost
	}
	return requests, nil
}

// compress fills in the payload of p, by the dictionary for its first page.
func (s *Store) compress(p *prepared, payload []byte) {
	page := p.pages[0]
	if p.dictionary = s.samples.Current(page); p.dictionary == nil {
		p.dictionary = s.codec.Plain()
	}
	p.compressed = p.dictionary.Compress(nil, payload)
	s.samples.Observe(page, payload, p.dictionary)
}

// enqueue hands the requests to the committer. There is always room: a request
// holds at least one trace, and the places for the traces are reserved.
func (s *Store) enqueue(requests []*request) error {
	s.qmu.Lock()
	defer s.qmu.Unlock()
	if s.closing {
		return store.ErrClosed
	}
	for _, q := range requests {
		s.queue <- q
	}
	return nil
}

// sortedSet returns the distinct strings of s in order, leaving s alone.
func sortedSet(s []string) []string {
	if len(s) == 1 {
		return s
	}
	s = slices.Clone(s)
	slices.Sort(s)
	return slices.Compact(s)
}
