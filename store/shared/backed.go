package shared

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// backedKey is the object with the start time of the last complete backup. Backups do not include
// it.
const backedKey = "BACKUP"

// maxBacked bounds that object, in bytes.
const maxBacked = 64

// backedWait bounds a read or write of that object.
const backedWait = 10 * time.Second

// SetBackedUp records when the last complete backup began.
func (n *Node) SetBackedUp(ctx context.Context, t time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, backedWait)
	defer cancel()
	if _, err := n.b.Put(ctx, backedKey, []byte(t.UTC().Format(time.RFC3339)), objects.Condition{}); err != nil {
		return fmt.Errorf("record the time of the backup: %w", err)
	}
	return nil
}

// BackedUp returns when the last complete backup of any node began. It returns the zero time if
// there was none.
func (r *Reader) BackedUp(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, backedWait)
	defer cancel()
	got, err := r.b.Get(ctx, backedKey, maxBacked, "")
	if errors.Is(err, objects.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time of the last backup: %w", err)
	}
	t, err := time.Parse(time.RFC3339, string(got.Body))
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time of the last backup: %s%s: %w", r.b.Name(), backedKey, err)
	}
	return t, nil
}
