package shared

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// changesWait bounds a request for the state of change detection.
const changesWait = 30 * time.Second

// Changes returns the state of change detection, which nodes share.
func (r *Reader) Changes() store.Document { return changes{r.b} }

// changes implements [store.Document]. Its versions are the tags of the object.
type changes struct{ b *layout.Bucket }

func (c changes) Load(ctx context.Context) ([]byte, string, error) {
	body, version, err := c.get(ctx)
	if err != nil || version == "" {
		return nil, "", err
	}
	content, err := c.b.DecodeChanges(body)
	if err != nil {
		return nil, version, fmt.Errorf("%s%s: %w: %w", c.b.Name(), layout.ChangesKey, store.ErrDamaged, err)
	}
	return content, version, nil
}

// get returns the undecoded object, or an empty version if there is none.
func (c changes) get(ctx context.Context) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(ctx, changesWait)
	defer cancel()
	got, err := c.b.Get(ctx, layout.ChangesKey, layout.MaxChanges, "")
	if errors.Is(err, objects.ErrNotFound) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("read changes: %w", err)
	}
	return got.Body, string(got.Tag), nil
}

func (c changes) Save(ctx context.Context, content []byte, version string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, changesWait)
	defer cancel()
	body, err := c.b.EncodeChanges(content)
	if err != nil {
		return "", err
	}
	is := objects.Absent
	if version != "" {
		is = objects.Is(objects.Tag(version))
	}
	tag, err := c.b.Put(ctx, layout.ChangesKey, body, is)
	if errors.Is(err, objects.ErrConflict) {
		return "", fmt.Errorf("save changes: %w", store.ErrReplaced)
	}
	if err != nil {
		return "", fmt.Errorf("save changes: %w", err)
	}
	return string(tag), nil
}

func (c changes) Quarantine(ctx context.Context, version string) (string, error) {
	body, is, err := c.get(ctx)
	if err == nil && is != version {
		err = store.ErrReplaced
	}
	if err != nil {
		return "", fmt.Errorf("quarantine the changes: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, changesWait)
	defer cancel()
	key := layout.ChangesQuarantineKey(body)
	if _, err := c.b.Put(ctx, key, body, objects.Absent); err != nil && !errors.Is(err, objects.ErrConflict) {
		return "", fmt.Errorf("quarantine the changes: %w", err)
	}
	return c.b.Name() + key, nil
}
