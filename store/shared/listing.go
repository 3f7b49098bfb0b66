package shared

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/store/block"
)

// listing is what segments there were at a time. Those that rollers read are kept for the rollers of other
// shards.
type listing struct {
	at   time.Time // by the clock of the store, before the store was asked
	turn int64     // after it has answered
	list []listed  // oldest first

	mu       sync.Mutex
	bytes    int64
	whole    map[string]*object
	fetching map[string]chan struct{} // closed when that is over
}

type listed struct {
	segmentName
	size     int64
	modified time.Time
}

// Bounds of segments.
const (
	maxSegment  = 256 << 20 // bytes of one
	keptSegment = 96 << 20  // bytes of those that are kept
)

// manifestAge is how old what is known of a manifest, or of segments, may be for a query.
const manifestAge = 2 * time.Second

// listSegments says which segments there are.
func (b *view) listSegments(ctx context.Context) (*listing, error) {
	l := &listing{at: b.Now(), whole: map[string]*object{}, fetching: map[string]chan struct{}{}}
	for e, err := range b.List(ctx, segments, "") {
		if err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		if s, ok := parseSegmentKey(e.Key); ok {
			l.list = append(l.list, listed{s, e.Size, e.Modified})
		}
	}
	l.turn = b.turn()
	slices.SortFunc(l.list, func(a, b listed) int {
		return cmp.Or(cmp.Compare(a.hour, b.hour), a.modified.Compare(b.modified), cmp.Compare(a.boot, b.boot), cmp.Compare(a.seq, b.seq))
	})
	return l, nil
}

// recentSegments is a listing that is a moment old at most.
func (b *view) recentSegments(ctx context.Context) (*listing, error) {
	select { // those who ask at once share one
	case b.listed <- struct{}{}:
		defer func() { <-b.listed }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	b.mu.Lock()
	l := b.listing
	b.mu.Unlock()
	if l != nil && b.Now().Sub(l.at).Abs() < manifestAge {
		return l, nil
	}
	l, err := b.listSegments(ctx)
	if err != nil {
		return nil, err
	}
	b.keepListing(l)
	return l, nil
}

// keepListing notes the newest listing.
func (b *view) keepListing(l *listing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listing = l
}

// letGo forgets the segments that were read, when all shards have been looked at: the listing itself is kept for questions.
func (l *listing) letGo() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.whole)
	l.bytes = 0
}

// has reports whether there are segments of an hour that a manifest has not.
func (l *listing) has(m *manifest, hour string) bool {
	return slices.ContainsFunc(l.list, func(x listed) bool { return x.hour == hour && !m.has(x.segmentName) })
}

// fetchTogether is how many segments are fetched at once: rollers that fetch one after the other fall behind for ever where
// segments come faster than a request takes.
const fetchTogether = 32

// fetchAhead fetches the segments of a listing that a manifest has not, as many as are kept. What goes wrong shows when they are read.
func (b *view) fetchAhead(ctx context.Context, l *listing, m *manifest) {
	var group sync.WaitGroup
	slots := make(chan struct{}, fetchTogether)
	expected := int64(0)
	for _, s := range l.list {
		if m.has(s.segmentName) {
			continue
		}
		if expected += s.size; expected > keptSegment || ctx.Err() != nil {
			break
		}
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			_, _ = b.segment(ctx, l, s.segmentName)
		})
	}
	group.Wait()
}

// segment returns a segment. Rollers of several shards that need the same one fetch it once.
func (b *view) segment(ctx context.Context, l *listing, s segmentName) (*object, error) {
	k := s.key()
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

// fetched lets others go on who wait for a segment.
func (l *listing) fetched(k string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.fetching[k])
	delete(l.fetching, k)
}

func (b *view) fetchSegment(ctx context.Context, l *listing, s segmentName) (*object, error) {
	o, err := b.readSegment(ctx, s)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytes += o.size; l.bytes <= keptSegment {
		l.whole[s.key()] = o
	}
	return o, nil
}

// readSegment reads a segment, all of it.
func (b *view) readSegment(ctx context.Context, s segmentName) (*object, error) {
	got, err := b.Get(ctx, s.key(), maxSegment, "")
	if err != nil {
		return nil, err
	}
	return b.parseSegment(s.key(), got.Body)
}

func (b *view) parseSegment(k string, body []byte) (*object, error) {
	index, err := b.codec.ParseIndex(body, int64(len(body)))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", k, err)
	}
	return &object{k, int64(len(body)), index, b, body}, nil
}

// shardOf returns what a segment has of a shard.
func (o *object) shardOf(ctx context.Context, shard int) (*batch, error) {
	list := slices.Concat(o.index.Find(kindRows, shardName(shard)), o.index.Find(kindCounts, shardName(shard)))
	out := &batch{}
	for _, e := range list {
		data, err := o.data(ctx, []block.Entry{e})
		if err != nil {
			return nil, err
		}
		if e.Kind == kindRows {
			out.rows, err = decodeRows(data[0], e.Rows)
		} else {
			out.counts, err = decodeCounts(data[0])
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", o.key, err)
		}
	}
	return out, nil
}

// lastListing returns the listing that was kept last; nil if none was.
func (b *view) lastListing() *listing {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.listing
}
