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

// Reader answers queries about a bucket. It is safe for concurrent use.
type Reader struct {
	b         *layout.Bucket
	cache     *cache
	retention atomic.Int64 // ns, see [Options]
	wanted    func()       // is told that somebody waits until all is rolled up
	unread    unread
}

// Options say how queries are answered.
type Options struct {
	Retention   time.Duration // traces that are older are not answered; zero is for ever
	CacheMemory int64         // bytes of what queries read that are kept in memory
	Cache       string        // a directory for more of it, if there is one
	CacheSize   int64         // bytes of that
	Logger      *slog.Logger  // is told what could not be read
}

// New returns who answers queries about a bucket. wanted is told that somebody waits until all is rolled up.
func New(b *layout.Bucket, o Options, wanted func()) (*Reader, error) {
	c, err := openCache(b, o)
	if err != nil {
		return nil, err
	}
	r := &Reader{b: b, cache: c, wanted: wanted, unread: unread{logger: o.Logger}}
	r.SetRetention(o.Retention)
	return r, nil
}

// SetRetention says from which age on traces are not answered any more, see [Options]. It may be called while queries are.
func (r *Reader) SetRetention(d time.Duration) { r.retention.Store(int64(d)) }

// Now returns the time by the clock of the store.
func (r *Reader) Now() time.Time { return r.b.Now() }

// CacheUse returns how many parts of objects queries have found in the cache, and how many not.
func (r *Reader) CacheUse() (hits, misses uint64) {
	return r.cache.hits.Load(), r.cache.misses.Load()
}

// reading is a query on its way.
type reading struct {
	r        *Reader
	q        store.Query
	want     store.Wanted
	trace    func(store.Record) error
	encoded  bool // traces have a payload
	rolled   func(store.Rolled) error
	waiting  *layout.Listing // the segments that there were, if the answer is to have all of them; else nil
	deadline time.Time       // until when it is waited for them
	why      string          // they are not rolled up then
	stats    store.ScanStats
	counted  map[readPart]bool // in the stats
	scratch  []string
}

// Select reads what q asks for by the shortest way, as [store.Reader.Select] does.
func (r *Reader) Select(ctx context.Context, q store.Query, want store.Wanted, trace func(store.Record) error, rolled func(store.Rolled) error) (store.ScanStats, error) {
	q.EachPage = true
	return r.read(ctx, &reading{r: r, q: q, want: want, trace: trace, rolled: rolled})
}

// Scan calls f for each trace that q asks for, as [store.Reader.Scan] does.
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

// begin notes which segments there are, if the answer is to have all of them.
func (x *reading) begin(ctx context.Context) (err error) {
	if x.want.Lag > 0 {
		return nil
	}
	x.deadline, x.why = time.Now().Add(awaitMost), "nobody does that"
	if errors.Is(x.r.b.Store.Unready(), objects.ErrNoSpace) { // so it may be that nothing is rolled up until there is room
		x.deadline, x.why = time.Now().Add(awaitFull), "the disk is full"
	}
	if end, ok := ctx.Deadline(); ok && end.Add(-awaitMost/2).Before(x.deadline) {
		x.deadline = end.Add(-awaitMost / 2) // so that there is time to answer
	}
	if x.waiting, err = x.r.b.ListSegments(ctx); err == nil {
		x.r.b.KeepListing(x.waiting)
	}
	return err
}

// shard reads what there is in a shard. What can not be read is noted, and is no error.
func (x *reading) shard(ctx context.Context, shard int) error {
	pieces, err := x.plan(ctx, shard)
	if err != nil {
		return err
	}
	return x.pieces(ctx, pieces)
}

// pieces reads pieces. If the rollups of a day are damaged, it reads its hours.
func (x *reading) pieces(ctx context.Context, pieces []piece) error {
	for got := range x.r.fetch(ctx, pieces, x) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var err error
		if layout.IsWrong(got.err) && len(got.instead) > 0 {
			x.r.unread.say("rollups of a day cannot be read: the response uses its hours", got.name, got.err)
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

// Times of those who want all that was acknowledged before they asked.
const (
	awaitEvery = 500 * time.Millisecond
	awaitMost  = 20 * time.Second
	awaitFull  = time.Second // where the disk is full
)

// await waits until all that was acknowledged up to now is rolled up, if it is asked for. If nobody rolls up, the answer
// lacks it, and says so.
func (x *reading) await(ctx context.Context, shard int) error {
	r := x.r
	every := awaitEvery
	if r.b.Exclusive() { // to look costs nothing
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
			x.stats.Unreadable = append(x.stats.Unreadable, store.Unreadable{Partition: "shard " + layout.ShardName(shard),
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

// plan says what of a shard is read, when what is waited for is there, and notes as of when that is all there is. The segments are
// listed before the manifest is read: what another node rolls up and deletes in between would be in neither.
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

// asOf returns up to when all that was acknowledged is in a manifest that was read after a listing: at least up to when its roller
// saw, and up to the listing if no segment of that waits for it.
func asOf(l *layout.Listing, m *layout.Manifest) time.Time {
	out := l.At
	for _, s := range l.List {
		if !m.Has(s.Segment) && s.Modified.Before(out) {
			out = s.Modified
		}
	}
	// What is far ahead comes from a clock that was wrong.
	if seen := time.UnixMicro(m.AsOf); seen.After(out) && seen.Before(l.At.Add(layout.SureOfTime)) {
		out = seen
	}
	return out
}

// count counts what was read: what several shards have of an hour or a day is one.
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

// readPart is what was read of an hour or a day: its traces, or its rollups.
type readPart struct {
	name     string
	isTraces bool
}

// deliver hands over what was read of a piece.
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
		x.stats.Widened = append(x.stats.Widened, store.Widened{First: time.UnixMicro(f.first).UTC(), Last: time.UnixMicro(f.last).UTC()})
	}
	for _, p := range f.pages {
		for _, rec := range p.Records {
			_, n := rec.Views()
			x.stats.RolledUp += uint64(n)
			if err := x.rolled(store.Rolled{Page: p.page, Stacks: p.Stacks, Record: rec, First: time.UnixMicro(f.first).UTC()}); err != nil {
				return err
			}
		}
	}
	failed := false
	damaged := func(err error) error {
		if layout.IsWrong(err) && ctx.Err() == nil {
			x.unreadable(f, err) // and the other runs are read
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

// row hands over a trace, if it is asked for.
func (x *reading) row(f *fetched, row *layout.Row) error {
	at := time.UnixMicro(row.Received).UTC()
	if at.Before(x.q.Since) || !x.q.Until.IsZero() && !at.Before(x.q.Until) {
		x.stats.Skipped++
		return nil
	}
	if x.q.Page == "" && !x.q.EachPage && len(row.Others) > 0 && row.Others[0] < row.Page {
		return nil // handed over under its first page
	}
	x.scratch = append(append(x.scratch[:0], row.Page), row.Others...)
	slices.Sort(x.scratch)
	x.stats.Traces++
	rec := store.Record{ID: row.ID, Page: row.Page, Partition: f.name, Pages: x.scratch, Received: at, Payload: row.Payload, Trace: row.Trace}
	if x.want.None { // who asks for single traces wants nothing of others
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
