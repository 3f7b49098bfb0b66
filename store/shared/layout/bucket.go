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

// Bucket is a bucket, and what is known of it: the newest manifests, and which segments there are. It is safe for concurrent use.
type Bucket struct {
	objects.Store
	Codec  *block.Codec
	Shards int

	rollups rollup.Limits
	giveUp  time.Duration
	// Pause waits before another attempt of something, see [Sleep].
	Pause func(ctx context.Context, attempts int, d time.Duration) error
	// Together is how many segments are fetched at once: rollers that fetch one after the other fall behind for ever where
	// segments come faster than a request takes.
	Together int

	listed   chan struct{} // holds one while segments are listed for queries
	sequence atomic.Int64  // of requests to the store, see [Bucket.Sequence]

	mu      sync.Mutex
	states  []known  // by shard
	lost    []error  // by shard: that its manifest is lost, if it is
	listing *Listing // the last one
}

// Options say how the objects of a bucket are made.
type Options struct {
	Shards  int           // of a bucket that is empty
	GiveUp  time.Duration // how long a small object is tried; large ones have more time
	Rollups rollup.Limits
}

// known is the newest manifest of a shard that a reader has seen.
type known struct {
	m        *Manifest
	tag      objects.Tag
	checked  time.Time // by the clock of the store, before it was asked
	sequence int64     // before it was asked
}

// Open opens a bucket to read what is there. It fails if that is nothing.
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

// Create opens a bucket to write to it, and makes an empty one ours. It refuses stores that do not keep their promises, see
// [objects.Store.Probe], and what newer releases wrote.
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
	return &Bucket{Store: b, Codec: codec, Shards: f.Shards, rollups: o.Rollups, giveUp: o.GiveUp, Pause: Sleep, Together: 32,
		states: make([]known, f.Shards), lost: make([]error, f.Shards), listed: make(chan struct{}, 1)}, nil
}

// firstContact finds out whether a store can be used, and how the bucket is laid out. It tries again as long as the store is busy or does not answer.
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

// Now returns the time by the clock of the store.
func (b *Bucket) Now() time.Time { return b.Clock().Now() }

// Sequence returns a number that is larger than those before, so that it is known what was read after what: the time of the store is an
// estimate, which may go back.
func (b *Bucket) Sequence() int64 { return b.sequence.Add(1) }

// Manifest returns the manifest of a shard, not older than so long; an empty one if there is none yet.
// It must not be changed.
func (b *Bucket) Manifest(ctx context.Context, shard int, age time.Duration) (*Manifest, objects.Tag, error) {
	return b.ManifestAfter(ctx, shard, age, 0)
}

// ManifestAfter is like [Bucket.Manifest]. The request for it begins after sequence, see [Bucket.Sequence].
func (b *Bucket) ManifestAfter(ctx context.Context, shard int, age time.Duration, sequence int64) (*Manifest, objects.Tag, error) {
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
		if _, ok := errors.AsType[*LostError](lost); ok { // unless it was written since it was asked for, as it is before all else
			got, err = b.Get(ctx, ManifestKey(shard), MaxManifest, "")
		}
		if errors.Is(err, objects.ErrNotFound) {
			b.noteLost(shard, lost)
			return m, "", lost
		}
	}
	switch {
	case errors.Is(err, objects.ErrNotFound):
		err := &LostError{ManifestKey(shard), "one that this machine has read"}
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

// Know notes a manifest that was just written by a request that began at sequence.
func (b *Bucket) Know(shard int, m *Manifest, tag objects.Tag, sequence int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.states[shard] = known{m, tag, b.Now(), sequence}
}

// KnownAfter returns the newest known manifest of a shard. It is not ok if the node requested it before sequence.
func (b *Bucket) KnownAfter(shard int, sequence int64) (m *Manifest, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.states[shard]
	return k.m, k.m != nil && k.sequence > sequence && b.lost[shard] == nil
}

// NewestKnown returns the newest manifest of a shard that was read or written; nil if there is none, or the shard has lost it.
func (b *Bucket) NewestKnown(shard int) (m *Manifest, lost error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.states[shard].m, b.lost[shard]
}
