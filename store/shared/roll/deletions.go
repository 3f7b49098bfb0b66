package roll

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// Erase deletes the data that the open requests select from a shard, once all listed segments are
// rolled up. It records its progress in the manifest of the shard.
type Erase func(ctx context.Context, r *Shard, open []*deletion.Request, l *layout.Listing) error

// rememberDeletions is how long manifests keep a completed deletion. If an older copy of the
// manifest is restored within that time, see [Shard.PutBack], the copy lacks the deletion, and it
// is applied again.
const rememberDeletions = 24 * time.Hour

// openDeletions returns the open requests to delete, oldest first.
func (n *Roller) openDeletions(ctx context.Context) (out []*deletion.Request, err error) {
	for e, err := range n.Bucket.List(ctx, layout.OpenDeletions, "") {
		if err != nil {
			return nil, fmt.Errorf("list deletions: %w", err)
		}
		req, err := deletion.Get(ctx, n.Bucket, e.Key)
		switch {
		case errors.Is(err, objects.ErrNotFound):
			continue // it was completed in the meantime
		case err != nil:
			n.warn(ctx, "a request to delete cannot be read", -1, fmt.Errorf("%s: %w", e.Key, err))
			continue
		}
		out = append(out, req)
	}
	slices.SortFunc(out, func(a, b *deletion.Request) int { return a.At.Compare(b.At) })
	return out, nil
}

// OnDelete registers f, which is called once for each deletion of pages that this instance learns
// of, even if another node applies it. It must be called before the first round.
func (n *Roller) OnDelete(f func(gone func(page string) bool)) { n.onDelete = f }

func (n *Roller) notifyDeleted(open []*deletion.Request) {
	seen := map[string]bool{}
	for _, req := range open {
		seen[req.ID] = true
		if n.onDelete != nil && !n.seen[req.ID] && !req.DryRun && req.Selection.NamesPages() {
			n.onDelete(req.Matcher().Page)
		}
	}
	n.seen = seen
}

// NoteErased requests a purge of deleted bytes from the store at the end of the round, if the store
// supports that.
func (r *Shard) NoteErased() { r.roller.erased.Store(true) }

// recordDeletions replaces requests that all shards completed long enough ago by records, and
// deletes finished dry runs.
func (n *Roller) recordDeletions(ctx context.Context, open []*deletion.Request) error {
	manifests, err := deletion.Manifests(ctx, n.Bucket)
	if err != nil {
		return err
	}
	for _, req := range open {
		done := req.Progress(manifests)
		keep := rememberDeletions
		if req.DryRun {
			keep = deletion.KeepDryRun
		}
		if done.Done.IsZero() || n.Bucket.Now().Sub(done.Done) < keep {
			continue
		}
		if err := deletion.Record(ctx, n.Bucket, done); err != nil {
			return err
		}
	}
	return nil
}
