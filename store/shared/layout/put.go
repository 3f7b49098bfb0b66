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

// Retry writes an object, and retries until it succeeds or ctx is done.
func (b *Bucket) Retry(ctx context.Context, k string, body []byte) error {
	return b.retry(ctx, k, body, objects.Condition{})
}

func (b *Bucket) retry(ctx context.Context, k string, body []byte, c objects.Condition) error {
	attempts := 0
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		_, err := b.Put(ctx, k, body, c)
		if err == nil || c.Absent && attempts > 0 && errors.Is(err, objects.ErrConflict) {
			return nil // a conflict after the first attempt means that an earlier attempt has stored it
		}
		if objects.Refused(err) {
			return fmt.Errorf("store %s: %w", k, err)
		}
		attempts++
		if b.Pause(ctx, attempts, pause/2+rand.N(pause)) != nil {
			return fmt.Errorf("store %s: gave up after %d attempts: %w", k, attempts, err)
		}
	}
}

// slowest is the slowest upload that is not given up, in bytes per second.
const slowest = 64 << 10

// PutObject writes an object of any size. Large objects get more time.
func (b *Bucket) PutObject(ctx context.Context, k string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, b.giveUp+time.Duration(len(body))*time.Second/slowest)
	defer cancel()
	return b.Retry(ctx, k, body)
}

// PutReserved writes a small object under a new key. As for all writes with a condition, a
// directory uses its reserved space for it when the disk is full.
func (b *Bucket) PutReserved(ctx context.Context, k string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, b.giveUp)
	defer cancel()
	return b.retry(ctx, k, body, objects.Absent)
}

// DeleteAll deletes any number of objects, [objects.MaxDelete] per request.
func (b *Bucket) DeleteAll(ctx context.Context, keys []string) error {
	for part := range slices.Chunk(keys, objects.MaxDelete) {
		if err := b.Delete(ctx, part...); err != nil {
			return fmt.Errorf("delete %d objects: %w", len(part), err)
		}
	}
	return nil
}

// Sleep waits for d before another attempt. It returns an error if ctx ends first.
func Sleep(ctx context.Context, _ int, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
