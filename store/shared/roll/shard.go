package roll

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// The outcome of a commit is success, ErrLost or ErrUnknown.
var (
	// ErrLost is returned if another node has replaced the manifest since it was read. Nothing was
	// stored.
	ErrLost = errors.New("another node has replaced the manifest")
	// ErrUnknown is returned if the store did not confirm the new manifest. It may have stored it,
	// or may still store it later, so no object that was written for it may be deleted.
	ErrUnknown = errors.New("the outcome of writing the manifest is unknown")
)

// Shard rolls up a shard: it turns the shard's part of segments into runs and rollups, and commits
// a manifest that names them. If several nodes do this concurrently, one of them succeeds. A Shard
// must not be used concurrently.
type Shard struct {
	roller *Roller
	Bucket *layout.Bucket
	Number int

	Manifest *layout.Manifest // as last read or written; nil if unknown
	tag      objects.Tag
	keys     map[string]*layout.RunKeys // keys of runs, by object key
	seen     seenState                  // while another node owns the shard
	kept     seenState                  // the last manifest that this node kept a copy of

	released bool // the next commit gives up ownership

	made       []string        // objects written since the last manifest
	abandoned  map[string]bool // objects written for manifests that were not stored
	unpackable map[string]bool // ids of runs that cannot be read, so not packed
	troubles   map[string]*trouble

	// State of the current cycle:
	began                  time.Time // when the first object was written; zero if none was
	fresh, duplicates, bad int       // rows
}

// Forget drops the cached state of the shard.
func (r *Shard) Forget() {
	r.Manifest, r.tag, r.keys = nil, "", nil
	r.abandon(r.made)
	r.made = nil
}

// abandon records objects that no manifest names, now or later.
func (r *Shard) abandon(keys []string) {
	if r.abandoned == nil {
		r.abandoned = map[string]bool{}
	}
	for _, k := range keys {
		if len(r.abandoned) < maxAbandoned {
			r.abandoned[k] = true
		}
	}
}

// Load reads a manifest unless one is cached. It may be outdated.
func (r *Shard) Load(ctx context.Context) error {
	if r.Manifest != nil {
		return nil
	}
	m, tag, err := r.Bucket.Manifest(ctx, r.Number, 0)
	if err != nil {
		return err
	}
	r.Manifest, r.tag, r.keys = m, tag, map[string]*layout.RunKeys{}
	if tag != "" {
		return nil
	}
	// The manifest is the first object of a shard, so a missing manifest of a shard with objects is
	// always lost.
	if err := r.Replace(ctx, m.Clone()); err != nil {
		r.Forget()
		return err
	}
	return nil
}

// Begin starts a cycle and loads a manifest. The next manifest will name the objects that are put
// from now on.
func (r *Shard) Begin(ctx context.Context) error {
	r.began, r.fresh, r.duplicates, r.bad = time.Time{}, 0, 0, 0
	return r.Load(ctx)
}

// rollBytes is roughly how many bytes of traces of a shard are rolled up in one cycle. Most traces
// have about 3 KB; hosts whose traces are 100 times larger must not fill the memory.
const rollBytes = 32 << 20

// Cycle rolls up listed segments, up to a bounded amount. It reports whether there is more. It
// returns [ErrLost] if another node has changed the shard.
func (r *Shard) Cycle(ctx context.Context, l *layout.Listing) (more bool, err error) {
	defer func() {
		if err != nil {
			r.Forget()
		}
	}()
	if err := r.Begin(ctx); err != nil {
		return false, err
	}
	next := r.Manifest.Clone()
	next.AsOf = max(next.AsOf, l.At.UnixMicro())
	work := map[string]*arrived{}
	rows, size, taken := 0, 0, 0
	r.Bucket.FetchAhead(ctx, l, next)
	for _, s := range l.List {
		if next.Has(s.Segment) {
			continue
		}
		if rows >= r.roller.opts.Rows || size >= rollBytes {
			more = true
			next.AsOf = max(r.Manifest.AsOf, min(next.AsOf, s.Modified.UnixMicro()))
			continue
		}
		b, err := r.read(ctx, l, s.Segment)
		switch {
		case errors.Is(err, block.ErrDamaged): // the other segments are not affected
			r.roller.bad.note(l, s.Segment)
			next.AsOf = max(r.Manifest.AsOf, min(next.AsOf, s.Modified.UnixMicro()))
			continue
		case errors.Is(err, objects.ErrNotFound):
			return true, ErrLost // a node deletes a segment only after it was rolled up
		case err != nil:
			return false, err
		}
		a := r.arrived(work, next, s.Hour, l.At)
		a.rows = append(a.rows, b.Rows...)
		a.counts = append(a.counts, b.Counts...)
		rows += len(b.Rows)
		for i := range b.Rows {
			size += len(b.Rows[i].Payload)
		}
		taken++
		next.Take(s.Segment, l.At)
	}
	if taken == 0 {
		return false, nil
	}
	for _, hour := range slices.Sorted(maps.Keys(work)) {
		if err := r.rollHour(ctx, l, next, hour, work[hour]); err != nil {
			r.Discard(ctx, r.Manifest)
			return false, err
		}
	}
	return more, r.Commit(ctx, next)
}

// Discard deletes the objects that were written since the last manifest and that m does not name.
// It must not be called after a commit of unknown outcome. Objects that it cannot delete are swept
// later.
func (r *Shard) Discard(ctx context.Context, m *layout.Manifest) {
	named := m.Names(r.Number)
	var unnamed []string
	for _, k := range r.made {
		if !named[k] {
			unnamed = append(unnamed, k)
		}
	}
	if r.Bucket.DeleteAll(ctx, unnamed) == nil {
		r.made = slices.DeleteFunc(r.made, func(k string) bool { return !named[k] })
	}
}

// Keep excludes the objects written so far from [Shard.Discard].
func (r *Shard) Keep() { r.made = nil }

// PutBack replaces a lost or damaged manifest by an older one. tag is the tag of the damaged
// manifest, or "" if it is missing.
func (r *Shard) PutBack(ctx context.Context, m *layout.Manifest, tag objects.Tag) error {
	r.Manifest, r.tag, r.keys, r.began = m, tag, map[string]*layout.RunKeys{}, time.Time{}
	next := m.Clone()
	next.Owner = ""
	return r.Replace(ctx, next)
}

// put writes an object under a key that is never used again, so repeated attempts store the same
// bytes.
func (r *Shard) put(ctx context.Context, k string, body []byte) error {
	if r.began.IsZero() {
		r.began = r.Bucket.Now()
	}
	r.made = append(r.made, k)
	return r.Bucket.PutObject(ctx, k, body)
}

// Commit replaces the manifest by next, with this instance as its owner. It may return [ErrLost] or
// [ErrUnknown].
func (r *Shard) Commit(ctx context.Context, next *layout.Manifest) error {
	next.Owner = r.roller.instance
	if r.released {
		next.Owner = ""
	}
	return r.Replace(ctx, next)
}

// Replace is like Commit, but keeps the owner in next.
func (r *Shard) Replace(ctx context.Context, next *layout.Manifest) error {
	if took := r.Bucket.Now().Sub(r.began); !r.began.IsZero() && (took > giveUpAfter || took < -layout.SureOfTime) {
		return fmt.Errorf("give up rolling up shard %d after %v", r.Number, took)
	}
	next.Nonce = rand.Text()
	body, err := next.Encode(r.Bucket.Codec, r.Number)
	if err != nil {
		return err
	}
	condition := objects.Absent
	if r.tag != "" {
		condition = objects.Is(r.tag)
	}
	sequence, made := r.Bucket.Sequence(), r.made
	r.made = nil // from here on a manifest may name them
	tag, err := r.Bucket.Put(ctx, layout.ManifestKey(r.Number), body, condition)
	if err != nil {
		if tag, err = r.outcome(ctx, next.Nonce, err); err != nil {
			if errors.Is(err, ErrLost) {
				r.abandon(made)
			}
			return fmt.Errorf("write the manifest of shard %d: %w", r.Number, err)
		}
	}
	r.Manifest, r.tag = next, tag
	r.roller.did.rolled.Add(uint64(r.fresh))
	r.roller.did.duplicates.Add(uint64(r.duplicates))
	r.roller.did.unreadable.Add(uint64(r.bad))
	r.fresh, r.duplicates, r.bad = 0, 0, 0
	r.Bucket.Know(r.Number, next, tag, sequence)
	// Keys of other hours are read again if needed: late traces are rare, and the keys of a week do
	// not fit into memory.
	named := next.Names(r.Number)
	now := layout.HourOf(r.Bucket.Now())
	near := []string{"/" + layout.HourAfter(now, -1) + "/", "/" + now + "/", "/" + layout.HourAfter(now, 1) + "/"}
	maps.DeleteFunc(r.keys, func(name string, _ *layout.RunKeys) bool {
		return !named[name] || !slices.ContainsFunc(near, func(hour string) bool {
			return strings.Contains(name, hour)
		})
	})
	return nil
}

// outcome checks whether a manifest with a nonce was stored although the write failed. It returns
// the tag of the manifest if it was. A conflict proves that it was not only if the stored manifest
// is another one, because a proxy may send the request twice.
func (r *Shard) outcome(ctx context.Context, nonce string, failure error) (objects.Tag, error) {
	got, err := r.Bucket.Get(ctx, layout.ManifestKey(r.Number), layout.MaxManifest, "")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnknown, errors.Join(failure, err))
	}
	m, err := r.Bucket.DecodeManifest(r.Number, got.Body)
	switch {
	case err == nil && m.Nonce == nonce:
		return got.Tag, nil
	case err == nil && errors.Is(failure, objects.ErrConflict):
		return "", ErrLost
	}
	// It may have been stored and replaced, or may still be in transit.
	return "", fmt.Errorf("%w: %w", ErrUnknown, errors.Join(failure, err))
}

// Missing wraps the error that an object was not found: either the manifest that names it is
// outdated, or the object is lost. It returns other errors unchanged.
func (r *Shard) Missing(err error) error {
	if errors.Is(err, objects.ErrNotFound) {
		return fmt.Errorf("%w, or an object that it names is lost: %w", ErrLost, err)
	}
	return err
}

// maxAbandoned bounds how many objects of failed commits are remembered.
const maxAbandoned = 10_000
