package layout

import (
	"cmp"
	"context"
	"fmt"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// What is missing never deletes: a manifest that is not there names nothing, which does not mean that there is nothing.

// lostMeans says what a lost manifest means, and what to do.
const lostMeans = "Nothing of its pages is answered, rolled up or deleted; ingest --verify --repair brings it back from what is kept of it, or put its newest version back, from a replica or an older version of the object"

// LostError says that a shard has objects and no manifest. Nothing of it is answered, rolled up or deleted.
type LostError struct{ Object, Example string }

func (e *LostError) Error() string {
	return fmt.Sprintf("%s is lost: there is %s, which it should name. %s", e.Object, e.Example, lostMeans)
}

func (e *LostError) Unwrap() error { return objects.ErrNotFound }

// absent returns the empty manifest of a shard that has none yet, or a [LostError] where it had one.
func (b *Bucket) absent(ctx context.Context, shard int) (*Manifest, error) {
	for _, kind := range []string{"raw/", "hours/", "days/", "shard/"} {
		for e, err := range b.List(ctx, kind+ShardName(shard)+"/", "") {
			if err != nil {
				return nil, fmt.Errorf("look whether shard %d is new: %w", shard, err)
			}
			return nil, &LostError{ManifestKey(shard), e.Key}
		}
	}
	return newManifest(), nil
}

// noteLost remembers whether a shard has lost its manifest, for [Bucket.AnyLost].
func (b *Bucket) noteLost(shard int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost[shard] = err
}

// AnyLost returns why a shard stands still, nil if none does.
func (b *Bucket) AnyLost() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return cmp.Or(b.lost...)
}
