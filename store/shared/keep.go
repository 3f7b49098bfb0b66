package shared

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/store/bucket"
)

// A shard keeps some of its last manifests, so that it can be brought back when its manifest is lost: one every so often, and
// one whenever an hour is closed.
const (
	oldManifests = 8
	oldEvery     = 10 * time.Minute
)

// keepOld keeps the manifest as it is, if it is time for that.
func (r *roller) keepOld(ctx context.Context, closed bool) error {
	if r.m == nil || r.tag == "" || r.m.Nonce == r.kept.nonce || !closed && time.Since(r.kept.since) < oldEvery {
		return nil
	}
	list, last, err := r.b.olds(ctx, r.shard)
	if err != nil {
		return err
	}
	if n := len(list); n > 0 && !closed && r.b.Now().Sub(list[n-1].Modified).Abs() < oldEvery {
		return nil // another machine has
	}
	body, err := r.m.encode(r.b.codec)
	if err != nil {
		return err
	}
	switch _, err := r.b.Put(ctx, oldKey(r.shard, last+1), body, bucket.Absent); {
	case errors.Is(err, bucket.ErrConflict):
		return nil // so does another machine
	case err != nil:
		return fmt.Errorf("keep the manifest: %w", err)
	}
	r.kept = seenState{r.m.Nonce, time.Now()}
	var old []string
	for i := range max(0, len(list)+1-oldManifests) {
		old = append(old, list[i].Key)
	}
	return r.b.deleteAll(ctx, old)
}
