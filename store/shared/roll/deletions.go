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

// Erase deletes from a shard what the open requests select, once everything in a listing is rolled
// up. It notes its progress in the manifest of the shard.
type Erase func(ctx context.Context, r *Shard, open []*deletion.Request, l *layout.Listing) error

// rememberDeletions is how long manifests know of a deletion that is done: an older manifest that
// takes the place of one, see [Shard.PutBack], does not know of it, and it is carried out again.
const rememberDeletions = 24 * time.Hour

// openDeletions returns the requests to delete that are carried out, the oldest first.
func (n *Roller) openDeletions(ctx context.Context) (out []*deletion.Request, err error) {
	for e, err := range n.Bucket.List(ctx, layout.OpenDeletions, "") {
		if err != nil {
			return nil, fmt.Errorf("list deletions: %w", err)
		}
		req, err := deletion.Get(ctx, n.Bucket, e.Key)
		switch {
		case errors.Is(err, objects.ErrNotFound):
			continue // it is done by now
		case err != nil:
			n.warn(ctx, "a deletion is not carried out", -1, fmt.Errorf("%s: %w", e.Key, err))
			continue
		}
		out = append(out, req)
	}
	slices.SortFunc(out, func(a, b *deletion.Request) int { return a.At.Compare(b.At) })
	return out, nil
}

// OnDelete has f called once with each deletion of pages that this instance learns of, whichever
// node carries it out. It must be called before the first round.
func (n *Roller) OnDelete(f func(gone func(page string) bool)) { n.onDelete = f }

func (n *Roller) sayDeleted(open []*deletion.Request) {
	seen := map[string]bool{}
	for _, req := range open {
		seen[req.ID] = true
		if n.onDelete != nil && !n.seen[req.ID] && !req.DryRun && req.Selection.NamesPages() {
			n.onDelete(req.Matcher().Page)
		}
	}
	n.seen = seen
}

// NoteErased has the store purged of deleted bytes at the end of the round, where it can be.
func (r *Shard) NoteErased() { r.roller.erased.Store(true) }

// recordDeletions makes records of the deletions that all shards have done a while ago, and drops
// dry runs.
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
