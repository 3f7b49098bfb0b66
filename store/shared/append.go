package shared

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/bucket"
)

// writing is what a node has to store.
type writing struct {
	slots chan struct{} // one for each segment on its way
	group sync.WaitGroup

	mu           sync.Mutex // guards all below
	closing      bool
	open         *waiting // what waits for others
	queuedTraces int
	queuedBytes  int64
	seq          uint64
	counting     counting
}

func (w *writing) init(o Options) { w.slots = make(chan struct{}, o.Puts) }

// waiting are traces that will share a segment, and those who wait for it.
type waiting struct {
	batch  batch
	seen   map[seen]bool
	traces int
	bytes  int64
	timer  *time.Timer
	done   chan struct{} // closed when the rest is known
	err    error

	spooled bool
}

// seen is a trace of a page that is in a segment.
type seen struct {
	page string
	id   store.ID
}

// perTrace is what a trace takes beside its payload, about.
const perTrace = 200

// Append stores traces, and returns when they are in the bucket. All are checked before: one that can not be
// stored gives a [*store.RecordError]. [store.ErrBusy] means that nothing was stored. After other
// errors all, some or none may be; repeating the call does no harm. A trace that was stored before, by
// whichever machine, is found out later, and is counted as a duplicate here only if it came with others.
func (n *Node) Append(ctx context.Context, recs []store.Record) (store.AppendResult, error) {
	if err := ctx.Err(); err != nil {
		return store.AppendResult{}, err
	}
	size := int64(0)
	for i := range recs {
		if why := recs[i].Check(n.opts.MaxPayload); why != "" {
			return store.AppendResult{}, &store.RecordError{Index: i, ID: recs[i].ID, Reason: why}
		}
		size += int64(len(recs[i].Payload)*len(recs[i].Pages)) + perTrace
	}
	if len(recs) == 0 {
		return store.AppendResult{}, nil
	}
	w, result, err := n.enqueue(recs, size)
	if err != nil {
		return store.AppendResult{}, err
	}
	select {
	case <-w.done:
		if w.err != nil {
			return store.AppendResult{}, w.err
		}
		if result.Durability = store.Bucket; w.spooled {
			result.Durability = store.Spool
		}
		return result, nil
	case <-ctx.Done():
		return store.AppendResult{}, context.Cause(ctx)
	}
}

// enqueue adds traces to those that wait.
func (n *Node) enqueue(recs []store.Record, size int64) (*waiting, store.AppendResult, error) {
	n.writing.mu.Lock()
	defer n.writing.mu.Unlock()
	switch {
	case n.closing:
		return nil, store.AppendResult{}, store.ErrClosed
	case len(recs) > n.opts.QueueTraces || size > n.opts.QueueBytes:
		return nil, store.AppendResult{}, fmt.Errorf("append %d traces of %d bytes: more than the queue can ever hold", len(recs), size)
	case n.queuedTraces+len(recs) > n.opts.QueueTraces || n.queuedBytes+size > n.opts.QueueBytes:
		n.did.refused.Add(uint64(len(recs)))
		return nil, store.AppendResult{}, store.ErrBusy
	}
	n.queuedTraces += len(recs)
	n.queuedBytes += size
	if n.open == nil {
		w := &waiting{seen: map[seen]bool{}, done: make(chan struct{})}
		w.timer = time.AfterFunc(n.opts.Flush, func() { n.flush(w) })
		n.open = w
	}
	w := n.open
	result := w.add(recs, size)
	if w.bytes >= n.opts.FlushBytes {
		n.flushLocked(w)
	}
	return w, result, nil
}

// add adds traces. It keeps no memory of theirs: who calls may use it again.
func (w *waiting) add(recs []store.Record, size int64) (result store.AppendResult) {
	for i := range recs {
		rec := recs[i]
		rec.Payload = slices.Clone(rec.Payload)
		fresh := 0
		for _, r := range rowsOf(&rec, 0) {
			if key := (seen{r.page, r.id}); !w.seen[key] {
				w.seen[key] = true
				w.batch.rows = append(w.batch.rows, r)
				fresh++
			}
		}
		if fresh == 0 {
			result.Duplicates++
		} else {
			result.Stored++
		}
	}
	w.traces += len(recs)
	w.bytes += size
	return result
}

// flush stores what waits, if it still does.
func (n *Node) flush(w *waiting) {
	n.writing.mu.Lock()
	defer n.writing.mu.Unlock()
	n.flushLocked(w)
}

func (n *Node) flushLocked(w *waiting) {
	if n.open != w {
		return
	}
	w.timer.Stop()
	n.open = nil
	n.group.Go(func() {
		if w.spooled, w.err = n.putInTurn(&w.batch); w.err != nil {
			n.did.refused.Add(uint64(w.traces))
		} else {
			n.did.traces.Add(uint64(w.traces))
		}
		close(w.done)
		n.writing.mu.Lock()
		defer n.writing.mu.Unlock()
		n.queuedTraces -= w.traces
		n.queuedBytes -= w.bytes
	})
}

// putInTurn stores a batch when there is room for it among those on their way. To wait for room is to wait for the
// store, and takes no longer than that may.
func (n *Node) putInTurn(b *batch) (spooled bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), n.opts.GiveUp)
	defer cancel()
	patience := n.opts.GiveUp
	if n.spool != nil {
		patience = n.opts.SpoolAfter
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case n.slots <- struct{}{}:
		defer func() { <-n.slots }()
		return n.put(ctx, b)
	case <-late.C:
	}
	if n.spool == nil {
		return false, fmt.Errorf("%d segments are on their way already: %w", cap(n.slots), store.ErrBusy)
	}
	k, body, err := n.seal(b)
	if err != nil {
		return false, err
	}
	return n.toSpool(k, body)
}

// put makes a segment of a batch, and stores it. It reports whether that is in the spool.
func (n *Node) put(ctx context.Context, b *batch) (spooled bool, err error) {
	k, body, err := n.seal(b)
	if err != nil {
		return false, err
	}
	if n.spool != nil {
		return n.putOrSpool(ctx, k, body)
	}
	return false, n.putCounted(ctx, k, body, n.opts.GiveUp)
}

// putCounted stores a segment, and counts it.
func (n *Node) putCounted(ctx context.Context, k string, body []byte, giveUp time.Duration) error {
	if err := n.putSegment(ctx, k, body, giveUp); err != nil {
		return err
	}
	n.did.segments.Add(1)
	n.did.bytes.Add(uint64(len(body)))
	return nil
}

// putOrSpool stores a segment in the bucket, or in the spool if the bucket does not answer soon. An attempt that
// is still on its way may succeed later: it has the same bytes and the same name.
func (n *Node) putOrSpool(ctx context.Context, k string, body []byte) (spooled bool, err error) {
	begin := time.Now()
	if err = n.putCounted(ctx, k, body, n.opts.SpoolAfter); err == nil {
		return false, nil
	}
	spooled, serr := n.toSpool(k, body)
	if serr == nil {
		return spooled, nil
	}
	// The last way: to go on as if there was no spool.
	if left := n.opts.GiveUp - time.Since(begin); left > 0 && n.putCounted(ctx, k, body, left) == nil {
		return false, nil
	}
	return false, errors.Join(err, serr)
}

// toSpool stores a segment in the spool.
func (n *Node) toSpool(k string, body []byte) (spooled bool, err error) {
	if err := n.spool.put(k, body); err != nil {
		return false, err
	}
	n.did.spooled.Add(1)
	return true, nil
}

// seal makes a segment of a batch. What is in it is received now.
func (n *Node) seal(b *batch) (k string, body []byte, err error) {
	now := n.Now()
	for i := range b.rows {
		b.rows[i].received = now.UnixMicro()
	}
	for i := range b.counts {
		b.counts[i].received = now.UnixMicro()
	}
	if body, err = encodeSegment(n.codec, b, n.shards); err != nil {
		return "", nil, fmt.Errorf("make a segment: %w", err)
	}
	n.writing.mu.Lock()
	defer n.writing.mu.Unlock()
	n.seq++
	return segmentName{hourOf(now), n.boot, n.seq}.key(), body, nil
}

// putSegment stores a segment. It tries for a while: to put the same bytes under the same key again
// does no harm.
func (n *Node) putSegment(ctx context.Context, k string, body []byte, giveUp time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, giveUp)
	defer cancel()
	return n.retry(ctx, k, body)
}

// retry puts the object k again until that succeeds or there is no more time.
func (n *Node) retry(ctx context.Context, k string, body []byte) error {
	attempts := 0
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		_, err := n.b.Put(ctx, k, body, bucket.Condition{})
		if err == nil {
			return nil
		}
		if e, ok := errors.AsType[*bucket.Error](err); ok && e.Denied() {
			return fmt.Errorf("store %s: %w", k, err)
		}
		attempts++
		if n.pause(ctx, attempts, pause/2+rand.N(pause)) != nil {
			return fmt.Errorf("store %s: no success in %d attempts, the last time: %w", k, attempts, err)
		}
	}
}

// slowest is how many bytes of an object a second must get through.
const slowest = 64 << 10

// putObject stores an object of any size that is put once. It has more time the larger it is.
func (n *Node) putObject(ctx context.Context, k string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, n.opts.GiveUp+time.Duration(len(body))*time.Second/slowest)
	defer cancel()
	return n.retry(ctx, k, body)
}

// sleep waits before another attempt, and fails when there is no time for one.
func sleep(ctx context.Context, _ int, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
