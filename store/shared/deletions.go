package shared

import (
	"context"

	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
)

// Delete has the traces deleted that a selection is of, as far as they were acknowledged by now, and what they added to rollups. The request
// is stored when it returns: whoever rolls up a shard carries it out, whatever becomes of this node. A dry run says what would be deleted.
func (n *Node) Delete(ctx context.Context, s deletion.Selection, by string, dryRun bool) (*deletion.Request, error) {
	n.writer.StoreWaiting(ctx, n.opts.RollEvery)
	r, err := deletion.Put(ctx, n.b, s, by, dryRun)
	if err != nil {
		return nil, err
	}
	n.deletionsDue.Store(true)
	n.wanted()
	return r, nil
}

// OnDelete has f called once with each deletion of pages, also of those that other nodes accepted.
// It must be called before [Node.Run].
func (n *Node) OnDelete(f func(gone func(page string) bool)) { n.roller.OnDelete(f) }

// Deletions returns the deletions that are under way and the records of those that are done, the newest first, at most so many.
func (r *Reader) Deletions(ctx context.Context, most int) ([]*deletion.Request, error) {
	return deletion.List(ctx, r.b, most)
}

// Deletion returns the deletion with an id, or its record. It fails with [objects.ErrNotFound] if there is none.
func (r *Reader) Deletion(ctx context.Context, id string) (*deletion.Request, error) {
	return deletion.Find(ctx, r.b, id)
}
