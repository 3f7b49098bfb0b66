package write

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// Writer stores traces as segments. It is safe for concurrent use.
type Writer struct {
	b        *layout.Bucket
	opts     Options
	instance string
	spool    *spool        // nil if there is none
	slots    chan struct{} // a semaphore: one slot for each segment that is being stored
	group    sync.WaitGroup

	storing chan struct{} // a mutex: holds a value while counts are being stored

	mu           sync.Mutex // guards the fields below
	closing      bool
	open         *waiting  // the batch that is being filled
	flushed      time.Time // when the last batch was closed
	queuedTraces int
	queuedBytes  int64
	seq          uint64
	stored       map[layout.Segment]bool // acknowledged segments that are not known to be rolled up
	counting     counting

	did struct { // counters since the start
		segments, bytes, traces, refused, spooled atomic.Uint64
	}
}

// Options configures a [Writer].
type Options struct {
	Flush      time.Duration // how long traces wait to share a segment with others
	FlushBytes int64         // size of a batch that is stored without waiting longer, in bytes

	Puts   int           // maximum number of segments that are stored in parallel
	GiveUp time.Duration // how long to retry a segment

	Spool      string        // directory for segments that the store does not accept within SpoolAfter; may be empty
	SpoolAfter time.Duration // how long to try the store before a segment is spooled
	SpoolSize  int64         // maximum size of the spool, in bytes
	FS         disk.FS       // file system of the spool

	QueueTraces int   // maximum number of traces that wait to be stored
	QueueBytes  int64 // maximum size of these traces, in bytes
	MaxPayload  int64 // maximum size of a trace, in bytes

	Logger *slog.Logger
}

// New returns a Writer. Instance ids must not be reused.
func New(b *layout.Bucket, instance string, o Options) (*Writer, error) {
	w := &Writer{b: b, opts: o, instance: instance, slots: make(chan struct{}, o.Puts), storing: make(chan struct{}, 1),
		stored: map[layout.Segment]bool{}}
	if o.Spool != "" {
		var err error
		if w.spool, err = openSpool(o.FS, o.Spool, o.SpoolSize); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// waiting is a batch of traces that will share a segment. Callers wait for done.
type waiting struct {
	batch  layout.Batch
	seen   map[seen]bool
	traces int
	bytes  int64
	timer  *time.Timer
	done   chan struct{} // closed when err and spooled are set
	err    error

	spooled bool
}

// seen identifies a trace under one of its pages.
type seen struct {
	page string
	id   store.ID
}

// perTrace is the approximate memory of a trace in addition to its payload, in bytes.
const perTrace = 200

// Append stores traces, and returns once they are in the bucket. It checks all traces first, and
// returns a [*store.RecordError] if one cannot be stored. If it returns [store.ErrBusy], nothing
// was stored. After any other error all, some or none of the traces may be stored, and it is safe
// to repeat the call. The result counts only duplicates within the same batch; all others are
// detected during roll-up.
func (n *Writer) Append(ctx context.Context, recs []store.Record) (store.AppendResult, error) {
	if err := ctx.Err(); err != nil {
		return store.AppendResult{}, err
	}
	size := int64(0)
	for i := range recs {
		if why := recs[i].Check(n.opts.MaxPayload); why != "" {
			return store.AppendResult{}, &store.RecordError{Index: i, ID: recs[i].ID, Reason: why}
		}
		own := int64(len(recs[i].Payload)*len(recs[i].Pages)) + perTrace
		if own > n.opts.QueueBytes {
			return store.AppendResult{}, &store.RecordError{Index: i, ID: recs[i].ID,
				Reason: fmt.Sprintf("payload of %d bytes for %d pages is too large", len(recs[i].Payload),
					len(recs[i].Pages))}
		}
		size += own
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
		switch result.Durability = store.Bucket; {
		case w.spooled:
			result.Durability = store.Spool
		case n.b.Exclusive():
			result.Durability = store.Local
		}
		return result, nil
	case <-ctx.Done():
		return store.AppendResult{}, context.Cause(ctx)
	}
}

// enqueue adds traces to the current batch.
func (n *Writer) enqueue(recs []store.Record, size int64) (*waiting, store.AppendResult, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closing:
		return nil, store.AppendResult{}, store.ErrClosed
	case len(recs) > n.opts.QueueTraces || size > n.opts.QueueBytes:
		return nil, store.AppendResult{}, fmt.Errorf("append %d traces of %d bytes: more than the queue can ever hold",
			len(recs), size)
	case n.queuedTraces+len(recs) > n.opts.QueueTraces || n.queuedBytes+size > n.opts.QueueBytes:
		n.did.refused.Add(uint64(len(recs)))
		return nil, store.AppendResult{}, store.ErrBusy
	}
	n.queuedTraces += len(recs)
	n.queuedBytes += size
	if n.open == nil {
		w := &waiting{seen: map[seen]bool{}, done: make(chan struct{})}
		w.timer = time.AfterFunc(n.flushDelay(), func() { n.flush(w) })
		n.open = w
	}
	w := n.open
	result := w.add(recs, size)
	if w.bytes >= n.opts.FlushBytes {
		n.flushLocked(w)
	}
	return w, result, nil
}

// aloneFlush is how long the traces of one request wait for each other.
const aloneFlush = time.Millisecond

// flushDelay returns how long a new batch waits for more traces. On a local disk a segment costs
// little, so single requests need not wait.
func (n *Writer) flushDelay() time.Duration {
	if !n.b.Exclusive() {
		return n.opts.Flush
	}
	return max(n.opts.Flush-time.Since(n.flushed), min(aloneFlush, n.opts.Flush))
}

// add adds traces to the batch. It copies payloads, so the caller may reuse its buffers.
func (w *waiting) add(recs []store.Record, size int64) (result store.AppendResult) {
	for i := range recs {
		rec := recs[i]
		rec.Payload = slices.Clone(rec.Payload)
		fresh := 0
		for _, r := range layout.RowsOf(&rec, 0) {
			if key := (seen{r.Page, r.ID}); !w.seen[key] {
				w.seen[key] = true
				w.batch.Rows = append(w.batch.Rows, r)
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

// flush stores a batch unless it has been stored already.
func (n *Writer) flush(w *waiting) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.flushLocked(w)
}

func (n *Writer) flushLocked(w *waiting) {
	if n.open != w {
		return
	}
	w.timer.Stop()
	n.open, n.flushed = nil, time.Now()
	n.group.Go(func() {
		w.spooled, w.err = n.putInTurn(&w.batch)
		if errors.Is(w.err, objects.ErrNoSpace) {
			w.err = store.NoSpace(w.err)
		}
		if w.err != nil {
			n.did.refused.Add(uint64(w.traces))
		} else {
			n.did.traces.Add(uint64(w.traces))
		}
		close(w.done)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.queuedTraces -= w.traces
		n.queuedBytes -= w.bytes
	})
}

// putInTurn stores a batch once one of the slots is free. Waiting for a slot counts as waiting for
// the store, so it is bounded by the same time.
func (n *Writer) putInTurn(b *layout.Batch) (spooled bool, err error) {
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
		return false, fmt.Errorf("%d segments are already being stored: %w", cap(n.slots), store.ErrBusy)
	}
	k, body, err := n.seal(b)
	if err != nil {
		return false, err
	}
	return n.toSpool(k, body)
}

// put encodes a batch as a segment and stores it. It reports whether the segment is in the spool.
func (n *Writer) put(ctx context.Context, b *layout.Batch) (spooled bool, err error) {
	k, body, err := n.seal(b)
	if err != nil {
		return false, err
	}
	if n.spool != nil {
		return n.putOrSpool(ctx, k, body)
	}
	return false, n.putCounted(ctx, k, body, n.opts.GiveUp)
}

// putCounted stores a segment, and updates the counters.
func (n *Writer) putCounted(ctx context.Context, k string, body []byte, giveUp time.Duration) error {
	if err := n.putSegment(ctx, k, body, giveUp); err != nil {
		return err
	}
	n.did.segments.Add(1)
	n.did.bytes.Add(uint64(len(body)))
	return nil
}

// putOrSpool stores a segment in the bucket, or in the spool if the bucket does not accept it
// within SpoolAfter. An earlier attempt may still succeed later, which is safe because it has the
// same key and bytes.
func (n *Writer) putOrSpool(ctx context.Context, k string, body []byte) (spooled bool, err error) {
	begin := time.Now()
	if err = n.putCounted(ctx, k, body, n.opts.SpoolAfter); err == nil {
		return false, nil
	}
	spooled, serr := n.toSpool(k, body)
	if serr == nil {
		return spooled, nil
	}
	// As a last resort, retry for the remaining time as if there were no spool.
	if left := n.opts.GiveUp - time.Since(begin); left > 0 && n.putCounted(ctx, k, body, left) == nil {
		return false, nil
	}
	return false, errors.Join(err, serr)
}

// toSpool stores a segment in the spool.
func (n *Writer) toSpool(k string, body []byte) (spooled bool, err error) {
	if err := n.spool.put(k, body); err != nil {
		return false, err
	}
	n.did.spooled.Add(1)
	return true, nil
}

// seal encodes a batch as a segment. Its traces and counts are marked as received now.
func (n *Writer) seal(b *layout.Batch) (k string, body []byte, err error) {
	now := n.b.Now()
	for i := range b.Rows {
		b.Rows[i].Received = now.UnixMicro()
	}
	for i := range b.Counts {
		b.Counts[i].Received = now.UnixMicro()
	}
	n.mu.Lock()
	n.seq++
	k = layout.Segment{Hour: layout.HourOf(now), Instance: n.instance, Seq: n.seq}.Key()
	n.mu.Unlock()
	if body, err = layout.EncodeSegment(n.b.Codec, k, b, n.b.Shards); err != nil {
		return "", nil, fmt.Errorf("encode a segment: %w", err)
	}
	return k, body, nil
}

// putSegment stores a segment, and retries until giveUp has passed. Writing the same bytes under
// the same key again is safe.
func (n *Writer) putSegment(ctx context.Context, k string, body []byte, giveUp time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, giveUp)
	defer cancel()
	if err := n.b.Retry(ctx, k, body); err != nil {
		return err
	}
	n.noteStored(k)
	return nil
}

// Close stores all waiting traces, and the segments in the spool if there is time. It logs counts
// that cannot be stored, as on a full disk. Append must not be called afterwards.
func (n *Writer) Close(ctx context.Context) error {
	n.mu.Lock()
	n.closing = true
	if n.open != nil {
		n.flushLocked(n.open)
	}
	n.mu.Unlock()
	done := make(chan struct{})
	go func() {
		n.group.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err := n.StoreCounts(ctx)
	if err != nil && ctx.Err() == nil { // as on a full disk
		n.opts.Logger.Warn("counts of page views are lost, since they cannot be stored", "err", err)
		err = nil
	}
	if uerr := n.Unspool(ctx); uerr != nil {
		segments, bytes := n.spool.size()
		n.opts.Logger.Warn("segments are left in the spool; start the daemon with this spool again to store them",
			"segments", segments, "bytes", bytes, "err", uerr)
	}
	return err
}

// StoreWaiting stores counts, and the segments in the spool. It spends at most patience on the
// spool, so that the shards of this node need not wait for all of it. It logs errors.
func (n *Writer) StoreWaiting(ctx context.Context, patience time.Duration) {
	if err := n.StoreCounts(ctx); err != nil && ctx.Err() == nil {
		n.opts.Logger.Warn("page views without a trace cannot be stored yet", "err", err)
	}
	part, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := n.Unspool(part); err != nil && part.Err() == nil {
		n.opts.Logger.Warn("segments cannot be moved from the spool yet", "err", err)
	}
}

// Load describes the work of an instance since its start, and its queue.
type Load struct {
	Segments, SegmentBytes uint64 // segments that were stored
	Traces                 uint64 // traces in these segments
	Refused                uint64 // traces that could not be stored
	QueuedTraces           int
	QueuedBytes            int64
	Spooled                uint64 // segments that were written to the spool
	SpoolSegments          int    // segments that are in the spool now
	SpoolBytes             int64
	DroppedCounts          uint64 // page views without a trace, and Web Vitals, beyond the limits
}

// Load returns the counters of the Writer.
func (n *Writer) Load() Load {
	l := Load{Segments: n.did.segments.Load(), SegmentBytes: n.did.bytes.Load(), Traces: n.did.traces.Load(),
		Refused: n.did.refused.Load(), Spooled: n.did.spooled.Load()}
	l.SpoolSegments, l.SpoolBytes = n.spool.size()
	n.mu.Lock()
	defer n.mu.Unlock()
	l.QueuedTraces, l.QueuedBytes, l.DroppedCounts = n.queuedTraces, n.queuedBytes, n.counting.Dropped
	return l
}
