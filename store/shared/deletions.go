package shared

import (
	"context"

	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
)

// Delete requests the deletion of all traces that s selects and that were acknowledged before the
// call, including their part of rollups. The request is stored when Delete returns. The node that
// rolls up a shard applies it, even if this node stops. A dry run only counts what would be
// deleted.
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

// OnDelete registers f, which is called once for each deletion of pages, including deletions that
// other nodes accepted. It must be called before [Node.Run].
func (n *Node) OnDelete(f func(gone func(page string) bool)) { n.roller.OnDelete(f) }

// Deletions returns open requests and records of completed ones, newest first, but no more
// than most.
func (r *Reader) Deletions(ctx context.Context, most int) ([]*deletion.Request, error) {
	return deletion.List(ctx, r.b, most)
}

// Deletion returns the request with an id, or its record. It returns [objects.ErrNotFound] if there
// is none.
func (r *Reader) Deletion(ctx context.Context, id string) (*deletion.Request, error) {
	return deletion.Find(ctx, r.b, id)
}
