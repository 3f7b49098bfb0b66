package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/part"
	"github.com/fieldtrie/fieldtrie/store/record"
)

// ErrBusy says that the queue is full: try again later.
var ErrBusy = errors.New("store is busy")

// ErrNoSpace says that too little space is free on the filesystem to write.
var ErrNoSpace = disk.ErrNoSpace

// AppendResult says what became of the records of one call to Append.
type AppendResult struct {
	Stored     int // new, now durable
	Duplicates int // there already, durable as well
	Durability Durability
}

// Durability says what traces survive that were stored. The zero value is [Local].
type Durability string

// What traces survive.
const (
	Local  Durability = "local"  // the end of the process and of the power, on the disk of one machine
	Bucket Durability = "bucket" // the loss of every machine
	Spool  Durability = "spool"  // as Local, and they are not in the bucket yet
)

// request is a part of a call to Append that goes into one commit as a whole.
type request struct {
	recs   []prepared
	cost   int64
	result AppendResult
	err    error
	done   chan struct{}
}

// prepared is a record with all done to it that can be done outside the committer.
type prepared struct {
	id         ID
	pages      []string // sorted, distinct
	tags       []Tag
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

// Append stores the records and returns when they are durable. All are checked
// before any is stored: a record that cannot be stored gives a [*RecordError].
// [ErrBusy] means that nothing was stored. After any other error, when ctx ends, and with
// [ErrStuck], all, some or none may be; repeating the call does no harm.
func (s *Store) Append(ctx context.Context, recs []Record) (AppendResult, error) {
	if err := ctx.Err(); err != nil {
		return AppendResult{}, err
	}
	if err := errors.Join(s.Err(), s.Stuck()); err != nil {
		return AppendResult{}, err
	}
	var bytes int64
	for i := range recs {
		if why := recs[i].Check(s.opts.MaxPayload); why != "" {
			return AppendResult{}, &RecordError{Index: i, ID: recs[i].ID, Reason: why}
		}
		bytes += int64(len(recs[i].Payload)) + perEntry
	}
	// Space and the place in the queue come first: refusing must be cheaper than compressing.
	if err := s.space.Admit(time.Second); err != nil {
		return AppendResult{}, err
	}
	if err := s.reserve(len(recs), bytes); err != nil {
		return AppendResult{}, err
	}
	requests, err := s.prepare(recs)
	if err == nil {
		err = s.enqueue(requests)
	}
	if err != nil {
		s.unreserve(len(recs), bytes)
		return AppendResult{}, err
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
func (s *Store) await(ctx context.Context, requests []*request) (sum AppendResult, err error, over bool) {
	for _, q := range requests {
		select {
		case <-q.done:
		case <-ctx.Done():
			return sum, ctx.Err(), false
		case <-s.watch.alarmed():
			return sum, cmp.Or(s.Stuck(), ErrStuck), false // it may go on just now
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
		return ErrClosed
	case traces > s.opts.QueueTraces || bytes > s.opts.QueueBytes:
		return fmt.Errorf("append %d traces of %d bytes: more than the queue can ever hold", traces, bytes)
	case s.queuedTraces+traces > s.opts.QueueTraces || s.queuedBytes+bytes > s.opts.QueueBytes:
		s.refused.Add(uint64(traces))
		return ErrBusy
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
func (s *Store) prepare(recs []Record) (requests []*request, err error) {
	var q *request
	for i := range recs {
		r := &recs[i]
		p := prepared{id: r.ID, pages: sortedSet(r.Pages), tags: r.Tags}
		s.compress(&p, r.Payload)
		cost := p.cost()
		if len(p.compressed) > part.MaxValue || cost > s.opts.maxCost() {
			return nil, &RecordError{Index: i, ID: r.ID, Reason: fmt.Sprintf(
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
		return ErrClosed
	}
	for _, q := range requests {
		s.queue <- q
	}
	return nil
}
