package layout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/objects"
)

// Old manifests are copies. They restore a shard whose manifest is lost.

// oldPrefix is the prefix of their keys. An increasing number follows.
func oldPrefix(shard int) string { return "shard/" + ShardName(shard) + "/OLD-" }

// OldKey returns the key of the n-th copy of the manifest of a shard.
func OldKey(shard int, n uint64) string { return fmt.Sprintf("%s%016d", oldPrefix(shard), n) }

// Olds lists the old manifests of a shard, oldest first. Their numbers define the order, because
// clocks may be wrong.
func (b *Bucket) Olds(ctx context.Context, shard int) (list []objects.Entry, last uint64, err error) {
	for e, err := range b.List(ctx, oldPrefix(shard), "") {
		if err != nil {
			return nil, 0, fmt.Errorf("list old manifests: %w", err)
		}
		var n uint64
		if _, err := fmt.Sscanf(strings.TrimPrefix(e.Key, oldPrefix(shard)), "%016d", &n); err == nil &&
			OldKey(shard, n) == e.Key {
			list, last = append(list, e), n // all keys have the same length, so the listing is in numerical order
		}
	}
	return list, last, nil
}

// NewestOld returns the newest readable copy of the manifest of a shard, or nil if there is none.
func (b *Bucket) NewestOld(ctx context.Context, shard int) (*Manifest, error) {
	list, _, err := b.Olds(ctx, shard)
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(list) {
		m, err := b.Old(ctx, shard, e.Key)
		if err == nil || !IsWrong(err) {
			return m, err
		}
	}
	return nil, nil
}

// Old reads a copy of the manifest of a shard.
func (b *Bucket) Old(ctx context.Context, shard int, key string) (*Manifest, error) {
	got, err := b.Get(ctx, key, MaxManifest, "")
	if err != nil {
		return nil, err
	}
	return b.DecodeManifest(shard, got.Body)
}

// IsWrong reports whether an error means that the object is damaged or missing, rather than that
// the request for it failed.
func IsWrong(err error) bool {
	return errors.Is(err, block.ErrDamaged) || errors.Is(err, objects.ErrDamaged) || errors.Is(err, objects.ErrNotFound)
}
