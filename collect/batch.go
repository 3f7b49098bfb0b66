package collect

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/fieldtrie/fieldtrie/store"
)

// batch holds the traces of one request.
type batch struct {
	size     int            // traces
	records  []store.Record // accepted so far
	tallies  []tally        // one per record
	binary   bool           // in the format of the browser script
	rejected []rejection
	first    *refusal // the first rejection
}

// reject records why the trace at index i of the batch is rejected.
func (c *Collector) reject(b *batch, i int, err error) {
	x, ok := errors.AsType[*refusal](err)
	if !ok { // an internal error, without a message for the client
		c.opts.Logger.Error("read trace", "err", err)
		x = &refusal{status: http.StatusUnprocessableEntity, reason: "invalid", err: err}
	}
	c.metrics.traces.WithLabelValues("rejected").Inc()
	c.metrics.rejected.WithLabelValues(x.reason).Inc()
	if b.binary && slices.Contains(scriptMistakes[:], x.reason) {
		c.metrics.script.WithLabelValues(x.reason).Inc()
	}
	b.rejected = append(b.rejected, rejection{i, x.status, x.Error()})
	if b.first == nil {
		b.first = x
	}
}

// store writes the records of a batch to the store in one call. When it returns, either all or none
// of them are durable.
func (c *Collector) store(ctx context.Context, who client, b *batch, reply *answer) error {
	done, err := c.sites.wait(who, len(b.records))
	if err != nil {
		c.giveBack(b)
		return err
	}
	defer done()
	for len(b.records) > 0 {
		done, err := c.opts.Store.Append(ctx, b.records)
		if x, ok := errors.AsType[*store.RecordError](err); ok && x.Index >= 0 && x.Index < len(b.records) {
			// This record is the reason why nothing was stored. The others may still be accepted.
			c.reject(b, b.tallies[x.Index].index, refuse(http.StatusRequestEntityTooLarge, "trace_size",
				"trace: %s", x.Reason))
			c.viewTimes.giveBack(b.tallies[x.Index].id, b.tallies[x.Index].claimed)
			b.records = slices.Delete(b.records, x.Index, x.Index+1)
			b.tallies = slices.Delete(b.tallies, x.Index, x.Index+1)
			continue
		}
		if err != nil {
			c.giveBack(b)
			return c.storeError(err)
		}
		c.metrics.traces.WithLabelValues("accepted").Add(float64(done.Stored))
		c.metrics.traces.WithLabelValues("duplicate").Add(float64(done.Duplicates))
		c.count(b, done.Duplicates)
		c.sites.add(who, b.bytes(), c.opts.Now())
		reply.Accepted, reply.Duplicates = len(b.records), done.Duplicates
		reply.durability = done.Durability
		for i := range b.records {
			reply.IDs = append(reply.IDs, b.records[i].ID.String())
		}
		reply.Rejected = b.sortedRejected()
		if rate, ok := c.rate(b.tallies[len(b.tallies)-1].page); ok {
			reply.Rate = &rate
		}
		return nil
	}
	if b.size == 1 {
		return b.first
	}
	reply.Rejected = b.sortedRejected()
	return refuse(b.first.status, b.first.reason, "none of %d traces is acceptable; the first: %w", b.size, b.first.err)
}

// giveBack returns the view time that the traces of a batch claimed, since they were not stored.
func (c *Collector) giveBack(b *batch) {
	for _, t := range b.tallies {
		c.viewTimes.giveBack(t.id, t.claimed)
	}
}

// bytes returns the size of all records, including duplicates: a client that sends traces twice
// uses twice the quota.
func (b *batch) bytes() (sum int64) {
	for _, r := range b.records {
		sum += int64(len(r.Payload))
	}
	return sum
}

func (b *batch) sortedRejected() []rejection {
	slices.SortFunc(b.rejected, func(x, y rejection) int { return x.Index - y.Index })
	return b.rejected
}

// storeError converts an error of the store to a refusal. After any of them the client may send the
// traces again, because the store deduplicates them.
func (c *Collector) storeError(err error) error {
	switch {
	case errors.Is(err, store.ErrBusy):
		return refuse(http.StatusServiceUnavailable, "busy", "the store is behind; send the traces again later")
	case errors.Is(err, store.ErrNoSpace):
		return refuse(http.StatusServiceUnavailable, "no_space", "the disk is nearly full; send the traces again later")
	case errors.Is(err, store.ErrStuck): // which the store has logged
		return refuse(http.StatusServiceUnavailable, "stuck",
			"the store has not written for too long; send the traces again later")
	case errors.Is(err, store.ErrClosed):
		return refuse(http.StatusServiceUnavailable, "closing", "shutting down; send the traces again later")
	}
	c.opts.Logger.Error("store traces", "err", err)
	return refuse(http.StatusServiceUnavailable, "store", "the traces could not be stored; send them again later")
}
