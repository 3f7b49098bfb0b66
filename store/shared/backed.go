package shared

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// backedKey is the object with the time of the last whole backup. A backup does not have it.
const backedKey = "BACKUP"

// maxBacked bounds it.
const maxBacked = 64

// backedWait bounds how long it is read or written.
const backedWait = 10 * time.Second

// SetBackedUp notes when the last whole backup was begun.
func (n *Node) SetBackedUp(ctx context.Context, t time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, backedWait)
	defer cancel()
	if _, err := n.b.Put(ctx, backedKey, []byte(t.UTC().Format(time.RFC3339)), objects.Condition{}); err != nil {
		return fmt.Errorf("note the backup: %w", err)
	}
	return nil
}

// BackedUp returns when the last whole backup was begun, by whichever node. It is zero if there was none that is known of.
func (r *Reader) BackedUp(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, backedWait)
	defer cancel()
	got, err := r.b.Get(ctx, backedKey, maxBacked, "")
	if errors.Is(err, objects.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read when the last backup was: %w", err)
	}
	t, err := time.Parse(time.RFC3339, string(got.Body))
	if err != nil {
		return time.Time{}, fmt.Errorf("read when the last backup was: %s%s: %w", r.b.Name(), backedKey, err)
	}
	return t, nil
}
