package roll

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// A shard keeps copies of its last manifests, to restore it if its manifest is lost: one every ten
// minutes, and one whenever an hour is closed.
const (
	oldManifests = 8
	oldEvery     = 10 * time.Minute
)

// keepOld copies the current manifest if a copy is due.
func (r *Shard) keepOld(ctx context.Context, closed bool) error {
	if r.Manifest == nil || r.tag == "" || r.Manifest.Nonce == r.kept.nonce || !closed &&
		time.Since(r.kept.since) < oldEvery {
		return nil
	}
	list, last, err := r.Bucket.Olds(ctx, r.Number)
	if err != nil {
		return err
	}
	if n := len(list); n > 0 && !closed && r.Bucket.Now().Sub(list[n-1].Modified).Abs() < oldEvery {
		return nil // another node has written a copy
	}
	body, err := r.Manifest.Encode(r.Bucket.Codec, r.Number)
	if err != nil {
		return err
	}
	switch _, err := r.Bucket.Put(ctx, layout.OldKey(r.Number, last+1), body, objects.Absent); {
	case errors.Is(err, objects.ErrConflict):
		return nil // another node is writing a copy
	case err != nil:
		return fmt.Errorf("keep a copy of the manifest: %w", err)
	}
	r.kept = seenState{r.Manifest.Nonce, time.Now()}
	var old []string
	for i := range max(0, len(list)+1-oldManifests) {
		old = append(old, list[i].Key)
	}
	return r.Bucket.DeleteAll(ctx, old)
}
