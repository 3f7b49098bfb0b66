package shared

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/bucket"
)

// Reader answers questions about a bucket.
type Reader struct {
	b      *bucket.Bucket
	cache  *cache
	codec  *block.Codec
	opts   Options
	shards int

	listed chan struct{} // holds one while segments are listed for questions
	wanted func()        // is told that somebody waits until all is rolled up

	turns atomic.Int64 // of what is asked of the store, see [Reader.turn]

	mu      sync.Mutex
	states  []known  // by shard
	lost    []error  // by shard: that its manifest is lost, if it is
	listing *listing // the last one
}

// known is the newest manifest of a shard that a reader has seen.
type known struct {
	m       *manifest
	tag     bucket.Tag
	checked time.Time // by the clock of the store, before it was asked
	turn    int64     // before it was asked
}

// Node is one machine of many on a bucket: it stores what comes in, and rolls up.
type Node struct {
	*Reader
	boot string
	// pause waits before another attempt of something, see [sleep].
	pause func(ctx context.Context, attempts int, d time.Duration) error

	writing
	told    sync.Once     // that the bucket keeps what it has for longer
	want    chan struct{} // has one when somebody waits until all is rolled up
	spool   *spool        // nil without one
	rollers []*roller     // by shard
	bad     badSegments
	failing failing

	did struct { // since the start
		segments, bytes, traces, refused, spooled      atomic.Uint64
		rolled, duplicates, unreadable, lost, setAside atomic.Uint64
	}
}

// OpenReader opens a bucket to read what is there.
func OpenReader(ctx context.Context, b *bucket.Bucket, o Options) (*Reader, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	f, err := readFormat(ctx, b)
	if errors.Is(err, bucket.ErrNotFound) {
		if err := formatLost(ctx, b); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s has no data: %w", b.Location(), err)
	}
	if err != nil {
		return nil, err
	}
	return newReader(b, o, f)
}

func newReader(b *bucket.Bucket, o Options, f format) (*Reader, error) {
	codec, err := block.NewCodec()
	if err != nil {
		return nil, err
	}
	cache, err := openCache(b, o)
	if err != nil {
		return nil, err
	}
	return &Reader{b: b, cache: cache, codec: codec, opts: o, shards: f.Shards, states: make([]known, f.Shards), lost: make([]error, f.Shards),
		listed: make(chan struct{}, 1), wanted: func() {}}, nil
}

// Open opens a bucket to write to it. It refuses stores that do not keep their promises, see
// [bucket.Bucket.Probe], and what newer releases wrote.
func Open(ctx context.Context, b *bucket.Bucket, o Options) (*Node, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	f, err := firstContact(ctx, b, o.Shards)
	if err != nil {
		return nil, err
	}
	r, err := newReader(b, o, f)
	if err != nil {
		return nil, err
	}
	n := &Node{Reader: r, boot: newBoot(), pause: sleep, want: make(chan struct{}, 1)}
	r.wanted = func() {
		select {
		case n.want <- struct{}{}:
		default: // it is known already
		}
	}
	if err := n.Unready(); err != nil {
		return nil, err
	}
	if o.Spool != "" {
		if n.spool, err = openSpool(o.Spool, o.SpoolSize); err != nil {
			return nil, err
		}
	}
	n.writing.init(o)
	for i := range f.Shards {
		n.rollers = append(n.rollers, &roller{n: n, shard: i})
	}
	return n, nil
}

// firstContact finds out whether a store can be used, and how the bucket is laid out. It tries again as long as the store is busy or does not answer.
func firstContact(ctx context.Context, b *bucket.Bucket, shards int) (f format, err error) {
	for pause := 250 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		if err = b.Probe(ctx); err == nil {
			f, err = ensureFormat(ctx, b, shards)
		}
		if e, ok := errors.AsType[*bucket.Error](err); !ok || !e.Temporary() || sleep(ctx, 0, pause) != nil {
			return f, err
		}
	}
}

// newBoot names one life of a machine.
func newBoot() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// Now returns the time by the clock of the store.
func (r *Reader) Now() time.Time { return r.b.Clock().Now() }

// turn returns a number that is larger than those before, so that it is known what was read after what: the time of the store is an
// estimate, which may go back.
func (r *Reader) turn() int64 { return r.turns.Add(1) }

// manifest returns the manifest of a shard, not older than so long; an empty one if there is none yet.
// It must not be changed.
func (r *Reader) manifest(ctx context.Context, shard int, age time.Duration) (*manifest, bucket.Tag, error) {
	return r.manifestAfter(ctx, shard, age, 0)
}

// manifestAfter is [Reader.manifest], and the store was asked for it after a turn.
func (r *Reader) manifestAfter(ctx context.Context, shard int, age time.Duration, turn int64) (*manifest, bucket.Tag, error) {
	r.mu.Lock()
	k := r.states[shard]
	r.mu.Unlock()
	now := r.Now()
	if k.m != nil && now.Sub(k.checked).Abs() < age && k.turn > turn {
		return k.m, k.tag, nil
	}
	k.turn = r.turn()
	got, err := r.b.Get(ctx, manifestKey(shard), maxManifest, k.tag)
	switch {
	case errors.Is(err, bucket.ErrNotFound) && k.m == nil:
		m, err := r.absent(ctx, shard)
		r.noteLost(shard, err)
		return m, "", err
	case errors.Is(err, bucket.ErrNotFound):
		err := &LostError{manifestKey(shard), "one that this machine has read"}
		r.noteLost(shard, err)
		return nil, "", err
	case err != nil:
		return nil, "", fmt.Errorf("read the manifest of shard %d: %w", shard, err)
	case got != nil:
		m, err := r.decodeManifest(shard, got.Body)
		if err != nil {
			if errors.Is(err, block.ErrDamaged) {
				err = fmt.Errorf("%s: %w. %s", manifestKey(shard), err, lostMeans)
				r.noteLost(shard, err)
				return nil, "", err
			}
			return nil, "", fmt.Errorf("shard %d: %w", shard, err)
		}
		k.m, k.tag = m, got.Tag
	}
	k.checked = now
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost[shard] = nil
	if old := &r.states[shard]; old.m == nil || old.turn < k.turn {
		*old = k
	}
	return k.m, k.tag, nil
}

// know notes a manifest that was just written, of which the store was asked at a turn.
func (r *Reader) know(shard int, m *manifest, tag bucket.Tag, turn int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.states[shard] = known{m, tag, r.Now(), turn}
}
