package layout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/objects"
)

// Listing is the list of segments at a time. It caches the segments that a roller has read, for the
// rollers of other shards.
type Listing struct {
	At       time.Time // the store's time just before the request
	Sequence int64     // from just after the response
	List     []Listed  // oldest first

	mu       sync.Mutex
	bytes    int64
	whole    map[string]*Object
	fetching map[string]chan struct{} // closed when the fetch is done
}

// Listed is a segment with its size and the store's modification time.
type Listed struct {
	Segment
	size     int64
	Modified time.Time
}

// Bounds of segments, in bytes.
const (
	MaxSegment  = 256 << 20 // of one segment
	keptSegment = 96 << 20  // of all segments that a listing caches
)

// ManifestAge is how old a cached manifest or listing of segments may be for a query.
const ManifestAge = 2 * time.Second

// ListSegments lists all segments, oldest hour first.
func (b *Bucket) ListSegments(ctx context.Context) (*Listing, error) {
	l := &Listing{At: b.Now(), whole: map[string]*Object{}, fetching: map[string]chan struct{}{}}
	for e, err := range b.List(ctx, Segments, "") {
		if err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		if s, ok := ParseSegment(e.Key); ok {
			l.List = append(l.List, Listed{s, e.Size, e.Modified})
		}
	}
	l.Sequence = b.Sequence()
	slices.SortFunc(l.List, func(a, b Listed) int {
		return cmp.Or(cmp.Compare(a.Hour, b.Hour), a.Modified.Compare(b.Modified), cmp.Compare(a.Instance, b.Instance),
			cmp.Compare(a.Seq, b.Seq))
	})
	return l, nil
}

// RecentSegments returns a listing that is at most [ManifestAge] old. Concurrent callers share one
// request.
func (b *Bucket) RecentSegments(ctx context.Context) (*Listing, error) {
	select {
	case b.listed <- struct{}{}:
		defer func() { <-b.listed }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	b.mu.Lock()
	l := b.listing
	b.mu.Unlock()
	if l != nil && b.Now().Sub(l.At).Abs() < ManifestAge {
		return l, nil
	}
	l, err := b.ListSegments(ctx)
	if err != nil {
		return nil, err
	}
	b.KeepListing(l)
	return l, nil
}

// KeepListing records the newest listing.
func (b *Bucket) KeepListing(l *Listing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listing = l
}

// LetGo drops the cached segments once all shards are done. The list itself stays, for queries.
func (l *Listing) LetGo() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.whole)
	l.bytes = 0
}

// Has reports whether the hour has segments that are not in the manifest yet.
func (l *Listing) Has(m *Manifest, hour string) bool {
	return slices.ContainsFunc(l.List, func(x Listed) bool { return x.Hour == hour && !m.Has(x.Segment) })
}

// FetchAhead fetches the segments that a manifest lacks, as many as the listing caches. It ignores
// errors, because the later read of a segment reports them.
func (b *Bucket) FetchAhead(ctx context.Context, l *Listing, m *Manifest) {
	if b.Exclusive() {
		return // segments on the local disk need no read-ahead
	}
	var group sync.WaitGroup
	slots := make(chan struct{}, b.Together)
	expected := int64(0)
	for _, s := range l.List {
		if m.Has(s.Segment) {
			continue
		}
		if expected += s.size; expected > keptSegment || ctx.Err() != nil {
			break
		}
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			_, _ = b.Segment(ctx, l, s.Segment)
		})
	}
	group.Wait()
}

// Segment returns a segment. If rollers of several shards need the same segment, only one of them
// fetches it.
func (b *Bucket) Segment(ctx context.Context, l *Listing, s Segment) (*Object, error) {
	k := s.Key()
	for {
		l.mu.Lock()
		o, others := l.whole[k], l.fetching[k]
		if o == nil && others == nil {
			l.fetching[k] = make(chan struct{})
		}
		l.mu.Unlock()
		switch {
		case o != nil:
			return o, nil
		case others == nil:
			defer l.fetched(k)
			return b.fetchSegment(ctx, l, s)
		}
		select {
		case <-others:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// fetched wakes the rollers that wait for a segment.
func (l *Listing) fetched(k string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.fetching[k])
	delete(l.fetching, k)
}

func (b *Bucket) fetchSegment(ctx context.Context, l *Listing, s Segment) (*Object, error) {
	o, err := b.ReadSegment(ctx, s)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytes += o.size; l.bytes <= keptSegment && !b.Exclusive() {
		l.whole[s.Key()] = o
	}
	return o, nil
}

// ReadSegment reads a complete segment.
func (b *Bucket) ReadSegment(ctx context.Context, s Segment) (*Object, error) {
	got, err := b.Get(ctx, s.Key(), MaxSegment, "")
	if errors.Is(err, objects.ErrDamaged) {
		err = fmt.Errorf("%w: %w", block.ErrDamaged, err)
	}
	if err != nil {
		return nil, err
	}
	return b.ParseSegment(s.Key(), got.Body)
}

// ParseSegment parses the index of a segment.
func (b *Bucket) ParseSegment(k string, body []byte) (*Object, error) {
	index, err := b.Codec.ParseIndex(k, body, int64(len(body)))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", k, err)
	}
	return &Object{k, int64(len(body)), index, b, body}, nil
}

// RowsOf returns the number of rows in a segment that belong to a shard.
func (o *Object) RowsOf(shard int) (n int) {
	for _, e := range o.index.Find(kindRows, ShardName(shard)) {
		n += e.Rows
	}
	return n
}

// OfShard returns the part of a segment that belongs to a shard.
func (o *Object) OfShard(ctx context.Context, shard int) (*Batch, error) {
	list := slices.Concat(o.index.Find(kindRows, ShardName(shard)), o.index.Find(kindCounts, ShardName(shard)))
	out := &Batch{}
	for _, e := range list {
		data, err := o.data(ctx, []block.Entry{e})
		if err != nil {
			return nil, err
		}
		if e.Kind == kindRows {
			out.Rows, err = decodeRows(data[0], e.Rows)
		} else {
			out.Counts, err = decodeCounts(data[0])
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", o.key, err)
		}
	}
	return out, nil
}

// LastListing returns the listing that was last recorded, or nil.
func (b *Bucket) LastListing() *Listing {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.listing
}
