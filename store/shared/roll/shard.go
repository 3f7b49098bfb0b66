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

// A commit of a manifest is done, lost or unknown.
var (
	// ErrLost is returned if another node has replaced the manifest since it was read. Nothing was stored.
	ErrLost = errors.New("the manifest has changed meanwhile")
	// ErrUnknown is returned if the store did not say whether it has the new manifest. It may have it, or get it
	// later, so nothing that was made for it may be deleted.
	ErrUnknown = errors.New("it is not known whether the manifest is stored")
)

// Shard rolls up a shard: it turns what segments have of it into runs and rollups, and has the manifest name
// them. Any number of nodes may do that at once; one of them succeeds. It is for one goroutine.
type Shard struct {
	roller *Roller
	Bucket *layout.Bucket
	Number int

	Manifest *layout.Manifest // as it was read or written last; nil if that is not known
	tag      objects.Tag
	keys     map[string]*layout.RunKeys // of runs, by their names
	seen     seenState                  // while another node has it
	kept     seenState                  // the manifest of which the last copy was kept, by this node

	released bool // the next commit leaves it to others

	made       []string        // objects that were put since the manifest was written
	abandoned  map[string]bool // objects that were put for manifests that were not
	unpackable map[string]bool // runs, by their ids, that can not be read to be packed
	troubles   map[string]*trouble

	// Of the cycle that is under way:
	began                  time.Time // when the first object was put, zero if none was
	fresh, duplicates, bad int       // rows
}

// Forget forgets what is known of the shard.
func (r *Shard) Forget() {
	r.Manifest, r.tag, r.keys = nil, "", nil
	r.abandon(r.made)
	r.made = nil
}

// abandon notes objects that no manifest names, or will.
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

// Load makes sure that a manifest is known. It may be an old one.
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
	// A shard has a manifest before it has anything else: then one that is not there is always lost.
	if err := r.Replace(ctx, m.Clone()); err != nil {
		r.Forget()
		return err
	}
	return nil
}

// Begin makes sure that a manifest is known, for another one that names what is put from now on.
func (r *Shard) Begin(ctx context.Context) error {
	r.began, r.fresh, r.duplicates, r.bad = time.Time{}, 0, 0, 0
	return r.Load(ctx)
}

// rollBytes is how many bytes of traces of a shard are rolled up at once, about: most hosts send some 3 KB in each, and who
// sends a hundred times as much should not fill the memory.
const rollBytes = 32 << 20

// Cycle rolls up what came in, as far as it is in a listing and not too much at once. It reports whether there
// is more. [ErrLost] says that another node has done something meanwhile.
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
		case errors.Is(err, block.ErrDamaged): // which stops none of the others
			r.roller.bad.note(l, s.Segment)
			next.AsOf = max(r.Manifest.AsOf, min(next.AsOf, s.Modified.UnixMicro()))
			continue
		case errors.Is(err, objects.ErrNotFound):
			return true, ErrLost // who deletes a segment has seen it consumed
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

// Discard deletes the objects that were put since the last manifest and that m does not name. It must
// not follow a commit of unknown outcome. Those that it cannot delete are swept later.
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

// Keep has [Shard.Discard] leave the objects that were put so far.
func (r *Shard) Keep() { r.made = nil }

// PutBack replaces a manifest that is lost or damaged, whose tag is given if there is one, by an older one.
func (r *Shard) PutBack(ctx context.Context, m *layout.Manifest, tag objects.Tag) error {
	r.Manifest, r.tag, r.keys, r.began = m, tag, map[string]*layout.RunKeys{}, time.Time{}
	next := m.Clone()
	next.Owner = ""
	return r.Replace(ctx, next)
}

// put stores an object that nobody else puts. Attempts of the same bytes do no harm.
func (r *Shard) put(ctx context.Context, k string, body []byte) error {
	if r.began.IsZero() {
		r.began = r.Bucket.Now()
	}
	r.made = append(r.made, k)
	return r.Bucket.PutObject(ctx, k, body)
}

// Commit replaces the manifest by next, with this instance as its owner. It fails with [ErrLost] or [ErrUnknown].
func (r *Shard) Commit(ctx context.Context, next *layout.Manifest) error {
	next.Owner = r.roller.instance
	if r.released {
		next.Owner = ""
	}
	return r.Replace(ctx, next)
}

// Replace is Commit without a change of who rolls the shard up.
func (r *Shard) Replace(ctx context.Context, next *layout.Manifest) error {
	if took := r.Bucket.Now().Sub(r.began); !r.began.IsZero() && (took > giveUpAfter || took < -layout.SureOfTime) {
		return fmt.Errorf("give up rolling up shard %d: it took %v", r.Number, took)
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
	// Keys are read again where they are needed: what comes late is rare, and those of a week do not fit into memory.
	named := next.Names(r.Number)
	now := layout.HourOf(r.Bucket.Now())
	near := []string{"/" + layout.HourAfter(now, -1) + "/", "/" + now + "/", "/" + layout.HourAfter(now, 1) + "/"}
	maps.DeleteFunc(r.keys, func(name string, _ *layout.RunKeys) bool {
		return !named[name] || !slices.ContainsFunc(near, func(hour string) bool { return strings.Contains(name, hour) })
	})
	return nil
}

// outcome finds out what became of a manifest with a nonce whose PUT has failed. It returns the tag of one that is
// stored. A conflict is proof that it is not only if the manifest is another one: a proxy may have sent the request
// twice.
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
	// It may have been stored and replaced, or be on its way.
	return "", fmt.Errorf("%w: %w", ErrUnknown, errors.Join(failure, err))
}

// Missing makes of an object that is not there what it means: the manifest that names it is old, or the object is lost.
func (r *Shard) Missing(err error) error {
	if errors.Is(err, objects.ErrNotFound) {
		return fmt.Errorf("%w, or an object that it names is lost: %w", ErrLost, err)
	}
	return err
}

// maxAbandoned bounds how many objects are remembered of commits that failed.
const maxAbandoned = 10_000
