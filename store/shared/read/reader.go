package read

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// Reader answers queries from a bucket. It is safe for concurrent use.
type Reader struct {
	b         *layout.Bucket
	cache     *cache
	retention atomic.Int64 // ns, see [Options]
	wanted    func()       // called when a query waits for segments to be rolled up
	unread    unread
}

// Options configures a [Reader].
type Options struct {
	Retention   time.Duration // older traces are not returned; 0 means forever
	CacheMemory int64         // maximum size of the cache in memory, in bytes
	Cache       string        // directory for an additional cache on disk; may be empty
	CacheSize   int64         // maximum size of that cache, in bytes
	Logger      *slog.Logger  // receives warnings about unreadable data
}

// New returns a Reader for a bucket. It calls wanted whenever a query waits for segments to be
// rolled up.
func New(b *layout.Bucket, o Options, wanted func()) (*Reader, error) {
	c, err := openCache(b, o)
	if err != nil {
		return nil, err
	}
	r := &Reader{b: b, cache: c, wanted: wanted, unread: unread{logger: o.Logger}}
	r.SetRetention(o.Retention)
	return r, nil
}

// SetRetention sets the age from which on traces are not returned, see [Options]. It may be called
// during queries.
func (r *Reader) SetRetention(d time.Duration) { r.retention.Store(int64(d)) }

// Now returns the time of the store's clock.
func (r *Reader) Now() time.Time { return r.b.Now() }

// CacheUse returns the number of reads that the cache has answered, and the number of reads from
// the store.
func (r *Reader) CacheUse() (hits, misses uint64) {
	return r.cache.hits.Load(), r.cache.misses.Load()
}

// reading is a running query.
type reading struct {
	r        *Reader
	q        store.Query
	want     store.Wanted
	trace    func(store.Record) error
	encoded  bool // traces have a payload
	rolled   func(store.Rolled) error
	waiting  *layout.Listing // the segments that the response must include; nil if none are required
	deadline time.Time       // end of the wait for these segments
	why      string          // the reason in the error if they are not rolled up by then
	stats    store.ScanStats
	counted  map[readPart]bool // parts that the stats already include
	scratch  []string
}

// Select implements [store.Reader]. It reads rollups where it can.
func (r *Reader) Select(ctx context.Context, q store.Query, want store.Wanted, trace func(store.Record) error,
	rolled func(store.Rolled) error) (store.ScanStats, error) {
	q.EachPage = true
	return r.read(ctx, &reading{r: r, q: q, want: want, trace: trace, rolled: rolled})
}

// Scan implements [store.Reader]. It calls f for each trace that matches q.
func (r *Reader) Scan(ctx context.Context, q store.Query, f func(store.Record) error) (store.ScanStats, error) {
	q.Since = r.clip(q.Since)
	return r.read(ctx, &reading{r: r, q: q, want: store.Wanted{None: true}, trace: f, encoded: true})
}

func (r *Reader) read(ctx context.Context, x *reading) (store.ScanStats, error) {
	if x.q.Page != "" {
		if why := store.CheckPage(x.q.Page); why != "" {
			return x.stats, fmt.Errorf("read: %s", why)
		}
	}
	if x.q.Page != "" && !x.q.Takes(x.q.Page) {
		return x.stats, nil
	}
	if err := x.begin(ctx); err != nil {
		return x.stats, err
	}
	for _, shard := range r.shardsOf(x.q.Page) {
		if err := x.shard(ctx, shard); err != nil {
			return x.stats, err
		}
	}
	return x.stats, nil
}

// begin lists the segments that the response must include, if the query requires current data.
func (x *reading) begin(ctx context.Context) (err error) {
	if x.want.Lag > 0 {
		return nil
	}
	x.deadline, x.why = time.Now().Add(awaitMost), "no node rolls them up"
	if errors.Is(x.r.b.Store.Unready(), objects.ErrNoSpace) { // nothing may be rolled up until there is space
		x.deadline, x.why = time.Now().Add(awaitFull), "the disk is full"
	}
	if end, ok := ctx.Deadline(); ok && end.Add(-awaitMost/2).Before(x.deadline) {
		x.deadline = end.Add(-awaitMost / 2) // leave time for the response
	}
	if x.waiting, err = x.r.b.ListSegments(ctx); err == nil {
		x.r.b.KeepListing(x.waiting)
	}
	return err
}

// shard reads the data of a shard. It records unreadable objects in the stats, and returns no error
// for them.
func (x *reading) shard(ctx context.Context, shard int) error {
	pieces, err := x.plan(ctx, shard)
	if err != nil {
		return err
	}
	return x.pieces(ctx, pieces)
}

// pieces reads pieces. If the rollups of a day are damaged, it reads its hours instead.
func (x *reading) pieces(ctx context.Context, pieces []piece) error {
	for got := range x.r.fetch(ctx, pieces, x) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var err error
		if layout.IsWrong(got.err) && len(got.instead) > 0 {
			x.r.unread.say("rollups of a day cannot be read; the response uses its hours", got.name, got.err)
			err = x.pieces(ctx, got.instead)
		} else {
			err = x.deliver(ctx, got)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Waiting times of queries that require all data acknowledged before them.
const (
	awaitEvery = 500 * time.Millisecond
	awaitMost  = 20 * time.Second
	awaitFull  = time.Second // if the disk is full
)

// await blocks until all segments listed by begin are rolled up. If that takes too long, the
// response reports what is missing.
func (x *reading) await(ctx context.Context, shard int) error {
	r := x.r
	every := awaitEvery
	if r.b.Exclusive() { // the local disk is cheap to poll
		every = 20 * time.Millisecond
	}
	for {
		m, _, err := r.b.Manifest(ctx, shard, 0)
		if err != nil {
			return err
		}
		waiting := 0
		for _, s := range x.waiting.List {
			late := !x.q.Until.IsZero() && s.Modified.After(x.q.Until.Add(layout.SureOfTime))
			if !m.Has(s.Segment) && !late {
				waiting++
			}
		}
		if waiting == 0 {
			return nil
		}
		if time.Now().After(x.deadline) {
			x.stats.Unreadable = append(x.stats.Unreadable, store.Unreadable{Partition: "shard " +
				layout.ShardName(shard),
				Err: fmt.Errorf("%d segments wait to be rolled up, and %s", waiting, x.why)})
			return nil
		}
		r.wanted()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(every):
		}
	}
}

// plan returns the pieces of a shard, after waiting for required segments. It also records how old
// the data is. It lists segments before it reads the manifest: in the other order, a segment that
// another node rolls up and deletes in between would be in neither.
func (x *reading) plan(ctx context.Context, shard int) ([]piece, error) {
	if x.waiting != nil {
		if err := x.await(ctx, shard); err != nil {
			return nil, err
		}
	}
	l, err := x.r.b.RecentSegments(ctx)
	if err != nil {
		return nil, err
	}
	m, _, err := x.r.b.ManifestAfter(ctx, shard, layout.ManifestAge, l.Sequence)
	if err != nil {
		return nil, err
	}
	x.stats.Behind = max(x.stats.Behind, x.r.b.Now().Sub(asOf(l, m)))
	return planOf(m, shard, x.q.Since, x.q.Until, x.want.None), nil
}

// asOf returns the time up to which a manifest contains all acknowledged traces. The manifest must
// be read after the listing. It is at least the manifest's own time, and the time of the listing if
// no listed segment is missing.
func asOf(l *layout.Listing, m *layout.Manifest) time.Time {
	out := l.At
	for _, s := range l.List {
		if !m.Has(s.Segment) && s.Modified.Before(out) {
			out = s.Modified
		}
	}
	// A time that is far ahead comes from a wrong clock.
	if seen := time.UnixMicro(m.AsOf); seen.After(out) && seen.Before(l.At.Add(layout.SureOfTime)) {
		out = seen
	}
	return out
}

// count counts the hours and days that were read. An hour or day of several shards counts once.
func (x *reading) count(f *fetched) {
	n := &x.stats.Hours
	switch {
	case f.isTraces:
		n = &x.stats.Partitions
	case f.isDay:
		n = &x.stats.Days
	}
	key := readPart{f.name, f.isTraces}
	if x.counted[key] {
		return
	}
	if x.counted == nil {
		x.counted = map[readPart]bool{}
	}
	x.counted[key] = true
	*n++
}

// readPart identifies the traces or the rollups of an hour or a day.
type readPart struct {
	name     string
	isTraces bool
}

// deliver passes the data of a piece to the callbacks of the query.
func (x *reading) deliver(ctx context.Context, f *fetched) error {
	x.stats.Bytes += uint64(f.bytes)
	if f.err != nil {
		x.unreadable(f, f.err)
		return nil
	}
	x.count(f)
	for _, err := range f.unread {
		x.unreadable(f, err)
	}
	for _, q := range f.quarantined {
		x.unreadable(f, fmt.Errorf("%w: %s is quarantined: %s", block.ErrDamaged, q.Key, q.Why))
	}
	if f.widened {
		x.stats.Widened = append(x.stats.Widened, store.Widened{First: time.UnixMicro(f.first).UTC(),
			Last: time.UnixMicro(f.last).UTC()})
	}
	for _, p := range f.pages {
		for _, rec := range p.Records {
			_, n := rec.Views()
			x.stats.RolledUp += uint64(n)
			if err := x.rolled(store.Rolled{Page: p.page, Stacks: p.Stacks, Record: rec,
				First: time.UnixMicro(f.first).UTC()}); err != nil {
				return err
			}
		}
	}
	failed := false
	damaged := func(err error) error {
		if layout.IsWrong(err) && ctx.Err() == nil {
			x.unreadable(f, err) // the other runs are still read
			return nil
		}
		return err
	}
	err := layout.MergeSound(ctx, f.rows, damaged, func(row *layout.Row) error {
		err := x.row(f, row)
		failed = err != nil
		return err
	})
	if err != nil && !failed && ctx.Err() == nil {
		x.unreadable(f, err)
		return nil
	}
	return err
}

// row passes a trace to the callback if it matches the query.
func (x *reading) row(f *fetched, row *layout.Row) error {
	at := time.UnixMicro(row.Received).UTC()
	if at.Before(x.q.Since) || !x.q.Until.IsZero() && !at.Before(x.q.Until) {
		x.stats.Skipped++
		return nil
	}
	if x.q.Page == "" && !x.q.EachPage && len(row.Others) > 0 && row.Others[0] < row.Page {
		return nil // it is returned under its first page
	}
	x.scratch = append(append(x.scratch[:0], row.Page), row.Others...)
	slices.Sort(x.scratch)
	x.stats.Traces++
	rec := store.Record{ID: row.ID, Page: row.Page, Partition: f.name, Pages: x.scratch, Received: at,
		Payload: row.Payload, Trace: row.Trace}
	if x.want.None { // a scan returns traces with their own tables
		rec.Trace = row.Own()
	}
	if x.encoded {
		var err error
		if rec.Payload, err = row.Document(); err != nil {
			return err
		}
	}
	return x.trace(rec)
}
