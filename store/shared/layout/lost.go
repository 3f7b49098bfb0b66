package layout

import (
	"cmp"
	"context"
	"fmt"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// A missing object never causes a deletion. A missing manifest names no objects, but its shard may
// still have some.

// lostMeans describes the effects of a lost manifest, and the remedy.
const lostMeans = "Pages of this shard are not queried, rolled up or deleted; run ingest --verify --repair to " +
	"restore the manifest from its copies, or restore its newest version from a replica or from the object's " +
	"version history"

// LostError is returned if a shard has objects but no manifest. The shard is not queried, rolled up
// or deleted from.
type LostError struct{ Object, Example string }

func (e *LostError) Error() string {
	return fmt.Sprintf("%s is lost, but %s exists, which it should name. %s", e.Object, e.Example, lostMeans)
}

func (e *LostError) Unwrap() error { return objects.ErrNotFound }

// absent returns an empty manifest if the shard is new, and a [LostError] if the shard has objects.
func (b *Bucket) absent(ctx context.Context, shard int) (*Manifest, error) {
	for _, kind := range []string{"raw/", "hours/", "days/", "shard/"} {
		for e, err := range b.List(ctx, kind+ShardName(shard)+"/", "") {
			if err != nil {
				return nil, fmt.Errorf("check whether shard %d is new: %w", shard, err)
			}
			return nil, &LostError{ManifestKey(shard), e.Key}
		}
	}
	return newManifest(), nil
}

// noteLost records whether the manifest of a shard is lost, for [Bucket.AnyLost].
func (b *Bucket) noteLost(shard int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost[shard] = err
}

// AnyLost returns the error of the first shard whose manifest is lost, or nil.
func (b *Bucket) AnyLost() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return cmp.Or(b.lost...)
}
