package layout

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// Retry puts the object k again until that succeeds or there is no more time.
func (b *Bucket) Retry(ctx context.Context, k string, body []byte) error {
	return b.retry(ctx, k, body, objects.Condition{})
}

func (b *Bucket) retry(ctx context.Context, k string, body []byte, c objects.Condition) error {
	attempts := 0
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		_, err := b.Put(ctx, k, body, c)
		if err == nil || c.Absent && attempts > 0 && errors.Is(err, objects.ErrConflict) {
			return nil // in case of a conflict an earlier attempt has stored it
		}
		if objects.Refused(err) {
			return fmt.Errorf("store %s: %w", k, err)
		}
		attempts++
		if b.Pause(ctx, attempts, pause/2+rand.N(pause)) != nil {
			return fmt.Errorf("store %s: no success in %d attempts, the last time: %w", k, attempts, err)
		}
	}
}

// slowest is how many bytes of an object a second must get through.
const slowest = 64 << 10

// PutObject stores an object of any size that is put once. It has more time the larger it is.
func (b *Bucket) PutObject(ctx context.Context, k string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, b.giveUp+time.Duration(len(body))*time.Second/slowest)
	defer cancel()
	return b.Retry(ctx, k, body)
}

// PutReserved stores a small object under a new key. A directory stores it on a full disk, too, as it
// does all objects with a condition.
func (b *Bucket) PutReserved(ctx context.Context, k string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, b.giveUp)
	defer cancel()
	return b.retry(ctx, k, body, objects.Absent)
}

// DeleteAll deletes any number of objects.
func (b *Bucket) DeleteAll(ctx context.Context, keys []string) error {
	for part := range slices.Chunk(keys, objects.MaxDelete) {
		if err := b.Delete(ctx, part...); err != nil {
			return fmt.Errorf("delete %d objects: %w", len(part), err)
		}
	}
	return nil
}

// Sleep waits before another attempt, and fails when there is no time for one.
func Sleep(ctx context.Context, _ int, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
