package shared

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/backup"
	"github.com/fieldtrie/fieldtrie/store/shared/check"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/read"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/store/shared/write"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Reader answers queries from a bucket.
type Reader struct {
	*read.Reader
	b *layout.Bucket
}

// OpenReader opens an existing bucket for reading.
func OpenReader(ctx context.Context, b objects.Store, o Options) (*Reader, error) {
	o, err := o.withDefaults(b.Exclusive())
	if err != nil {
		return nil, err
	}
	v, err := layout.Open(ctx, b, o.layout())
	if err != nil {
		return nil, err
	}
	q, err := read.New(v, o.read(), func() {})
	if err != nil {
		return nil, err
	}
	return &Reader{q, v}, nil
}

// Verify reads all objects of the bucket, and reports damage, see [check.Verify].
func (r *Reader) Verify(ctx context.Context, moving check.Moving) (check.Verified, error) {
	return check.Verify(ctx, r.b, moving)
}

// Backup writes all objects of the bucket to w, see [backup.Backup].
func (r *Reader) Backup(ctx context.Context, w io.Writer) (backup.Stats, error) {
	return backup.Backup(ctx, w, r.b)
}

// Restore restores a backup into an empty location, see [backup.Archive.Restore].
func Restore(ctx context.Context, from *backup.Archive, to objects.Store, o Options,
	moving func(key string)) (backup.Stats, error) {
	o, err := o.withDefaults(to.Exclusive())
	if err != nil {
		return backup.Stats{}, err
	}
	return from.Restore(ctx, to, o.layout(), moving)
}

// Waits reports whether traces are waiting to be rolled up. It reports false if the bucket cannot
// be read.
func (r *Reader) Waits(ctx context.Context) bool {
	l, err := r.b.ListSegments(ctx)
	for shard := 0; err == nil && shard < r.b.Shards; shard++ {
		var m *layout.Manifest
		if m, _, err = r.b.Manifest(ctx, shard, 0); err == nil && slices.ContainsFunc(l.List,
			func(s layout.Listed) bool {
				return !m.Has(s.Segment)
			}) {
			return true
		}
	}
	return false
}

// Node is one of the nodes that use a bucket: it stores traces, rolls them up, and answers queries.
type Node struct {
	*Reader
	writer       *write.Writer
	roller       *roll.Roller
	opts         Options
	want         chan struct{} // holds a value while a query waits for segments to be rolled up
	deletionsDue atomic.Bool   // a deletion was requested
	behind       atomic.Pointer[[]error]
}

// Open opens a bucket for writing, and initializes it if it is empty. It returns an error if the
// store does not keep its guarantees, see [objects.Store.Probe], or if a newer release wrote the
// bucket.
func Open(ctx context.Context, b objects.Store, o Options) (*Node, error) {
	o, err := o.withDefaults(b.Exclusive())
	if err != nil {
		return nil, err
	}
	v, err := layout.Create(ctx, b, o.layout())
	if err != nil {
		return nil, err
	}
	n := &Node{opts: o, want: make(chan struct{}, 1)}
	q, err := read.New(v, o.read(), n.wanted)
	if err != nil {
		return nil, err
	}
	n.Reader = &Reader{q, v}
	// Data on a full disk can be queried, and rolling up frees space.
	if err := n.Unready(); err != nil && !errors.Is(err, objects.ErrNoSpace) {
		return nil, err
	}
	instance := newInstance()
	if n.writer, err = write.New(v, instance, o.write()); err != nil {
		return nil, err
	}
	n.roller = roll.New(v, instance, o.roll())
	return n, nil
}

// SetRetention changes Retention, HourRetention, DayRetention and MaxDisk to their values in o.
func (n *Node) SetRetention(o Options) error {
	o, err := o.withDefaults(n.b.Exclusive())
	if err != nil {
		return err
	}
	n.Reader.SetRetention(o.Retention)
	n.roller.SetRetentionPolicy(o.retentionPolicy())
	return nil
}

// newInstance returns a random id for this run of the node.
func newInstance() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// Append stores traces, see [write.Writer.Append]. It returns an error that wraps [store.ErrStuck]
// if the disk does not respond.
func (n *Node) Append(ctx context.Context, recs []store.Record) (store.AppendResult, error) {
	if err := n.Stuck(); err != nil {
		return store.AppendResult{}, err
	}
	result, err := n.writer.Append(ctx, recs)
	if err != nil {
		if stuck := n.Stuck(); stuck != nil {
			err = stuck
		}
	}
	return result, err
}

// CountViews counts page views by the outcome of their profile, see [write.Writer.CountViews].
func (n *Node) CountViews(page, reason string, views int64) { n.writer.CountViews(page, reason, views) }

// CountVitals counts the Web Vitals of page views, see [write.Writer.CountVitals].
func (n *Node) CountVitals(page string, vitals []rollup.Vital) { n.writer.CountVitals(page, vitals) }

// StoreCounts stores the counts, see [write.Writer.StoreCounts].
func (n *Node) StoreCounts(ctx context.Context) error { return n.writer.StoreCounts(ctx) }

// wanted records that a query waits for segments to be rolled up.
func (n *Node) wanted() {
	select {
	case n.want <- struct{}{}:
	default: // a round is requested already
	}
}

// Intervals of periodic work. An exclusive node pauses pauseOf times as long as the last round
// took.
const (
	pauseOf    = 16
	closeEvery = 30 * time.Second
	sweepEvery = 30 * time.Minute
)

// Run rolls up the shards that this node owns or takes over, closes hours, and deletes expired
// data, until ctx is done. Then it releases its shards, so that other nodes can take them
// immediately. It logs errors, and retries in the next round.
func (n *Node) Run(ctx context.Context) {
	var closed, swept time.Time
	for {
		began := time.Now()
		w := roll.Work{Close: n.deletionsDue.Swap(false) || time.Since(closed) >= closeEvery,
			Sweep: time.Since(swept) >= sweepEvery}
		n.round(ctx, w)
		if w.Close {
			closed = time.Now()
		}
		if w.Sweep {
			swept = time.Now()
		}
		if !n.rest(ctx, time.After(n.pause(time.Since(began)))) {
			n.roller.Release()
			return
		}
	}
}

// lookBehind checks whether manifests are outdated, for [Node.Warnings].
func (n *Node) lookBehind(ctx context.Context) {
	var all []error
	for shard := range n.b.Shards {
		why, err := check.Behind(ctx, n.b, shard)
		if err != nil {
			continue // other parts of the node report this error
		}
		if why != nil {
			all = append(all, why)
			n.opts.Logger.Error("a manifest may be outdated", "shard", shard, "err", why)
		}
	}
	n.behind.Store(&all)
}

// pause returns the pause after a round that took so long. An exclusive node rolls up often, so
// that queries return recent data, as long as that takes a small part of its time.
func (n *Node) pause(took time.Duration) time.Duration {
	if !n.b.Exclusive() {
		return n.opts.RollEvery
	}
	return min(max(time.Second, pauseOf*took), n.opts.RollEvery)
}

// rest waits until the next round is due, or a query waits for one. It returns false when ctx is
// done.
func (n *Node) rest(ctx context.Context, tick <-chan time.Time) bool {
	soon := time.After(n.opts.wantedEvery)
	select {
	case <-ctx.Done():
		return false
	case <-tick:
		return true
	case <-n.want:
	}
	select {
	case <-ctx.Done():
		return false
	case <-tick:
	case <-soon:
	}
	return true
}

// lastRoll bounds the last roll-up of an exclusive node, whose segments no other node can roll up.
const lastRoll = 10 * time.Second

// Close stores waiting traces, like [write.Writer.Close]. An exclusive node also rolls up as many
// segments as it can within 10 s, and closes the directory.
func (n *Node) Close(ctx context.Context) error {
	err := n.writer.Close(ctx)
	if n.b.Exclusive() {
		ctx, cancel := context.WithTimeout(ctx, lastRoll)
		defer cancel()
		n.roller.Round(ctx, roll.Work{})
	}
	if c, ok := n.b.Store.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	return err
}

// RollUp runs one complete round of [Node.Run] and waits for it. It is meant for tools that do not
// run for long.
func (n *Node) RollUp(ctx context.Context) {
	n.round(ctx, roll.Work{Close: true, Sweep: true})
}

// round stores waiting traces and then runs a round of the roller.
func (n *Node) round(ctx context.Context, w roll.Work) {
	n.writer.StoreWaiting(ctx, n.opts.RollEvery)
	w.Stored, w.Done = n.writer.Stored(), n.writer.Forget
	n.roller.Round(ctx, w)
	if w.Sweep {
		n.lookBehind(ctx)
	}
}

// Repair rebuilds what [Reader.Verify] found damaged, as far as possible, see [check.Repair].
func (n *Node) Repair(ctx context.Context, v check.Verified) (mended int, err error) {
	return check.Repair(ctx, n.roller, v)
}
