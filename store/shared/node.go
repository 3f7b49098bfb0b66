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

// Reader answers queries about a bucket.
type Reader struct {
	*read.Reader
	b *layout.Bucket
}

// OpenReader opens a bucket to read what is there.
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

// Verify reads all that a bucket has, and says what is wrong with it, see [check.Verify].
func (r *Reader) Verify(ctx context.Context, moving check.Moving) (check.Verified, error) {
	return check.Verify(ctx, r.b, moving)
}

// Backup writes all that the bucket has to w, see [backup.Backup].
func (r *Reader) Backup(ctx context.Context, w io.Writer) (backup.Stats, error) {
	return backup.Backup(ctx, w, r.b)
}

// Restore makes an empty place of a backup, see [backup.Archive.Restore].
func Restore(ctx context.Context, from *backup.Archive, to objects.Store, o Options, moving func(key string)) (backup.Stats, error) {
	o, err := o.withDefaults(to.Exclusive())
	if err != nil {
		return backup.Stats{}, err
	}
	return from.Restore(ctx, to, o.layout(), moving)
}

// Waits reports whether traces wait to be rolled up.
func (r *Reader) Waits(ctx context.Context) bool {
	l, err := r.b.ListSegments(ctx)
	for shard := 0; err == nil && shard < r.b.Shards; shard++ {
		var m *layout.Manifest
		if m, _, err = r.b.Manifest(ctx, shard, 0); err == nil && slices.ContainsFunc(l.List, func(s layout.Listed) bool { return !m.Has(s.Segment) }) {
			return true
		}
	}
	return false
}

// Node is one of many on a bucket: it stores what comes in, rolls up, and answers queries.
type Node struct {
	*Reader
	writer       *write.Writer
	roller       *roll.Roller
	opts         Options
	want         chan struct{} // holds one when a caller waits until all is rolled up
	deletionsDue atomic.Bool   // there is something to delete
	behind       atomic.Pointer[[]error]
}

// Open opens a bucket to write to it. It refuses stores that do not keep their promises, see
// [objects.Store.Probe], and what newer releases wrote.
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
	if err := n.Unready(); err != nil && !errors.Is(err, objects.ErrNoSpace) { // a full disk can be read, and rolling up makes room
		return nil, err
	}
	instance := newInstance()
	if n.writer, err = write.New(v, instance, o.write()); err != nil {
		return nil, err
	}
	n.roller = roll.New(v, instance, o.roll())
	return n, nil
}

// SetRetention has the node keep what it has as o says, its Retention, HourRetention, DayRetention and MaxDisk.
func (n *Node) SetRetention(o Options) error {
	o, err := o.withDefaults(n.b.Exclusive())
	if err != nil {
		return err
	}
	n.Reader.SetRetention(o.Retention)
	n.roller.SetRetentionPolicy(o.retentionPolicy())
	return nil
}

// newInstance names one life of a node.
func newInstance() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// Append stores traces, see [write.Writer.Append]. An error that is [store.ErrStuck] says that the disk does not answer.
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

// CountViews counts page views by what became of their profile, see [write.Writer.CountViews].
func (n *Node) CountViews(page, reason string, views int64) { n.writer.CountViews(page, reason, views) }

// CountVitals counts the Web Vitals of page views of a page, see [write.Writer.CountViews].
func (n *Node) CountVitals(page string, vitals []rollup.Vital) { n.writer.CountVitals(page, vitals) }

// StoreCounts stores what was counted, see [write.Writer.StoreCounts].
func (n *Node) StoreCounts(ctx context.Context) error { return n.writer.StoreCounts(ctx) }

// wanted notes that somebody waits until all is rolled up.
func (n *Node) wanted() {
	select {
	case n.want <- struct{}{}:
	default: // it is known already
	}
}

// Times between rounds of what is done now and then, and how many times as long as it takes to roll up a node that is alone waits.
const (
	pauseOf    = 16
	closeEvery = 30 * time.Second
	sweepEvery = 30 * time.Minute
)

// Run rolls up the shards that this node has, or takes over, and tidies up, until ctx ends. Then others may
// have the shards at once. What goes wrong is logged, and done again.
func (n *Node) Run(ctx context.Context) {
	var closed, swept time.Time
	for {
		began := time.Now()
		w := roll.Work{Close: n.deletionsDue.Swap(false) || time.Since(closed) >= closeEvery, Sweep: time.Since(swept) >= sweepEvery}
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

// lookBehind finds out whether manifests are the newest ones, for [Node.Warnings].
func (n *Node) lookBehind(ctx context.Context) {
	var all []error
	for shard := range n.b.Shards {
		why, err := check.Behind(ctx, n.b, shard)
		if err != nil {
			continue // which others say
		}
		if why != nil {
			all = append(all, why)
			n.opts.Logger.Error("a manifest may be an old one", "shard", shard, "err", why)
		}
	}
	n.behind.Store(&all)
}

// pause returns how long to wait between two rounds, of which the last one took so long. A node that is alone rolls up often, so that queries have what just
// came, as long as that takes a small part of its time.
func (n *Node) pause(took time.Duration) time.Duration {
	if !n.b.Exclusive() {
		return n.opts.RollEvery
	}
	return min(max(time.Second, pauseOf*took), n.opts.RollEvery)
}

// rest waits until it is time for another round, or somebody waits for one. It returns false when ctx ends.
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

// lastRoll bounds how long a node that ends rolls up what waits, where nobody else would.
const lastRoll = 10 * time.Second

// Close stores what waits, as [write.Writer.Close] does. A node that is alone rolls up what came, as far as it gets, and lets others have
// the place.
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

// RollUp does once what [Node.Run] does again and again, and waits for it: it is for tools that do not run for long.
func (n *Node) RollUp(ctx context.Context) {
	n.round(ctx, roll.Work{Close: true, Sweep: true})
}

// round does what is to be done.
func (n *Node) round(ctx context.Context, w roll.Work) {
	n.writer.StoreWaiting(ctx, n.opts.RollEvery)
	w.Stored, w.Done = n.writer.Stored(), n.writer.Forget
	n.roller.Round(ctx, w)
	if w.Sweep {
		n.lookBehind(ctx)
	}
}

// Repair makes again what [Reader.Verify] has found wrong and can be made again, see [check.Repair].
func (n *Node) Repair(ctx context.Context, v check.Verified) (mended int, err error) {
	return check.Repair(ctx, n.roller, v)
}
