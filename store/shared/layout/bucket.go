package layout

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Bucket reads and writes the objects of a bucket, and caches the newest manifests and the newest
// listing of segments. It is safe for concurrent use.
type Bucket struct {
	objects.Store
	Codec  *block.Codec
	Shards int

	rollups rollup.Limits
	giveUp  time.Duration
	// Pause waits before another attempt, see [Sleep].
	Pause func(ctx context.Context, attempts int, d time.Duration) error
	// Together is how many segments are fetched in parallel. If rollers fetched them one after
	// another, they would fall behind permanently wherever segments arrive faster than a request
	// takes.
	Together int

	listed   chan struct{} // a semaphore of one: one caller lists segments for queries
	sequence atomic.Int64  // numbers requests to the store, see [Bucket.Sequence]

	mu      sync.Mutex
	states  []known  // by shard
	lost    []error  // by shard: the error that its manifest is lost; nil if it is not
	listing *Listing // the newest
}

// Options configures a [Bucket].
type Options struct {
	Shards  int           // number of shards in a new bucket
	GiveUp  time.Duration // how long to retry a small object; large objects get more time
	Rollups rollup.Limits
}

// known is the newest manifest of a shard that this process has read or written.
type known struct {
	m        *Manifest
	tag      objects.Tag
	checked  time.Time // the store's time just before the request
	sequence int64     // from just before the request
}

// Open opens an existing bucket for reading. It returns an error if the bucket has no data.
func Open(ctx context.Context, b objects.Store, o Options) (*Bucket, error) {
	f, err := readFormat(ctx, b)
	if errors.Is(err, objects.ErrNotFound) {
		if err := formatLost(ctx, b); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s has no data: %w", b.Name(), err)
	}
	if err != nil {
		return nil, err
	}
	return newView(b, o, f)
}

// Create opens a bucket for writing, and initializes it if it is empty. It returns an error if the
// store does not keep its guarantees, see [objects.Store.Probe], or if a newer release wrote the
// bucket.
func Create(ctx context.Context, b objects.Store, o Options) (*Bucket, error) {
	f, err := firstContact(ctx, b, o.Shards)
	if err != nil {
		return nil, err
	}
	return newView(b, o, f)
}

func newView(b objects.Store, o Options, f format) (*Bucket, error) {
	codec, err := block.NewCodec()
	if err != nil {
		return nil, err
	}
	return &Bucket{Store: b, Codec: codec, Shards: f.Shards, rollups: o.Rollups, giveUp: o.GiveUp, Pause: Sleep,
		Together: 32,
		states:   make([]known, f.Shards), lost: make([]error, f.Shards), listed: make(chan struct{}, 1)}, nil
}

// firstContact checks that the store is usable, and reads or writes the format of the bucket. It
// retries while the store is busy or does not respond.
func firstContact(ctx context.Context, b objects.Store, shards int) (f format, err error) {
	for pause := 250 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		if err = b.Probe(ctx); err == nil {
			f, err = ensureFormat(ctx, b, shards)
		}
		if !objects.Temporary(err) || Sleep(ctx, 0, pause) != nil {
			return f, err
		}
	}
}

// Now returns the time of the store's clock.
func (b *Bucket) Now() time.Time { return b.Clock().Now() }

// Sequence returns a number that is larger than all it returned before. It orders reads, which the
// time of the store cannot do: that time is an estimate, and may go back.
func (b *Bucket) Sequence() int64 { return b.sequence.Add(1) }

// Manifest returns the manifest of a shard, at most age old, or an empty one if the shard has none
// yet. The caller must not change it.
func (b *Bucket) Manifest(ctx context.Context, shard int, age time.Duration) (*Manifest, objects.Tag, error) {
	return b.ManifestAfter(ctx, shard, age, 0)
}

// ManifestAfter is like [Bucket.Manifest], but never returns a manifest that was requested at or
// before sequence, see [Bucket.Sequence].
func (b *Bucket) ManifestAfter(ctx context.Context, shard int, age time.Duration, sequence int64) (*Manifest,
	objects.Tag, error) {
	b.mu.Lock()
	k := b.states[shard]
	b.mu.Unlock()
	now := b.Now()
	if k.m != nil && now.Sub(k.checked).Abs() < age && k.sequence > sequence {
		return k.m, k.tag, nil
	}
	k.sequence = b.Sequence()
	got, err := b.Get(ctx, ManifestKey(shard), MaxManifest, k.tag)
	if errors.Is(err, objects.ErrNotFound) && k.m == nil {
		m, lost := b.absent(ctx, shard)
		// A manifest is the first object of a shard, so another node may have written it since.
		if _, ok := errors.AsType[*LostError](lost); ok {
			got, err = b.Get(ctx, ManifestKey(shard), MaxManifest, "")
		}
		if errors.Is(err, objects.ErrNotFound) {
			b.noteLost(shard, lost)
			return m, "", lost
		}
	}
	switch {
	case errors.Is(err, objects.ErrNotFound):
		err := &LostError{ManifestKey(shard), "a version of it that this machine has read"}
		b.noteLost(shard, err)
		return nil, "", err
	case err != nil:
		return nil, "", fmt.Errorf("read the manifest of shard %d: %w", shard, err)
	case got != nil:
		m, err := b.DecodeManifest(shard, got.Body)
		if err != nil {
			if errors.Is(err, block.ErrDamaged) {
				err = fmt.Errorf("%s: %w. %s", ManifestKey(shard), err, lostMeans)
				b.noteLost(shard, err)
				return nil, "", err
			}
			return nil, "", fmt.Errorf("shard %d: %w", shard, err)
		}
		k.m, k.tag = m, got.Tag
	}
	k.checked = now
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost[shard] = nil
	if old := &b.states[shard]; old.m == nil || old.sequence < k.sequence {
		*old = k
	}
	return k.m, k.tag, nil
}

// Know records a manifest that was just written by a request that began at sequence.
func (b *Bucket) Know(shard int, m *Manifest, tag objects.Tag, sequence int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.states[shard] = known{m, tag, b.Now(), sequence}
}

// KnownAfter returns the newest cached manifest of a shard. It returns false if that manifest was
// requested at or before sequence, or if the manifest is lost.
func (b *Bucket) KnownAfter(shard int, sequence int64) (m *Manifest, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.states[shard]
	return k.m, k.m != nil && k.sequence > sequence && b.lost[shard] == nil
}

// NewestKnown returns the newest manifest of a shard that was read or written, or nil if there is
// none. lost is the error if the manifest is lost.
func (b *Bucket) NewestKnown(shard int) (m *Manifest, lost error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.states[shard].m, b.lost[shard]
}
