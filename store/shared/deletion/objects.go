package deletion

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

const (
	// maxOpen bounds the requests that are open or were completed in the last day. maxDryRuns
	// bounds dry runs separately.
	maxOpen    = 1000
	maxDryRuns = 100
	// KeepDryRun is how long the result of a dry run is kept.
	KeepDryRun = 10 * time.Minute
)

// TooManyError is returned by [Put] if there are too many requests of a kind.
type TooManyError struct {
	What       string
	RetryAfter time.Duration
}

func (e *TooManyError) Error() string { return e.What + ": try again later" }

// kind returns the folder of requests, their maximum number, and the error beyond it.
func kind(dryRun bool) (folder string, most int, beyond TooManyError) {
	if dryRun {
		const what = "%d dry runs are in progress or were done in the last ten minutes"
		return layout.DryDeletions, maxDryRuns, TooManyError{fmt.Sprintf(what, maxDryRuns), KeepDryRun}
	}
	const what = "%d deletions are in progress or were done in the last day"
	return layout.OpenDeletions, maxOpen, TooManyError{fmt.Sprintf(what, maxOpen), time.Hour}
}

// Put stores a request to delete the selected data. It will be applied even if this process stops.
func Put(ctx context.Context, b *layout.Bucket, s Selection, by string, dryRun bool) (*Request, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	folder, most, beyond := kind(dryRun)
	n := 0
	for e, err := range b.List(ctx, folder, "") {
		if err != nil {
			return nil, fmt.Errorf("list deletions: %w", err)
		}
		if !dryRun && strings.HasPrefix(e.Key, layout.DryDeletions) {
			continue
		}
		if n++; n >= most {
			return nil, &beyond
		}
	}
	at := b.Now().UTC().Truncate(time.Microsecond)
	r := &Request{Version: Version, ID: rand.Text(), At: at, By: by, DryRun: dryRun, Selection: s}
	return r, put(ctx, b, folder, r)
}

// put writes a request or a record. On a full disk it uses the reserved space, because a deletion
// frees more.
func put(ctx context.Context, b *layout.Bucket, folder string, r *Request) error {
	text, err := r.Encode()
	if err != nil {
		return err
	}
	body, err := b.EncodeDeletion(r.ID, text)
	if err != nil {
		return err
	}
	if err := b.PutReserved(ctx, folder+r.ID, body); err != nil {
		return fmt.Errorf("store a deletion: %w", err)
	}
	return nil
}

// Get reads the request or record with a key.
func Get(ctx context.Context, b *layout.Bucket, key string) (*Request, error) {
	got, err := b.Get(ctx, key, layout.MaxDeletion, "")
	if err != nil {
		return nil, err
	}
	text, err := b.DecodeDeletion(path.Base(key), got.Body)
	if err != nil {
		return nil, err
	}
	r, err := Decode(text)
	if err == nil && r.ID != path.Base(key) { // the id becomes a part of other keys
		return nil, fmt.Errorf("read a deletion: %w: %s contains the id %.80q", store.ErrDamaged, key, r.ID)
	}
	return r, err
}

// Manifests returns the manifests of all shards, for [Request.Progress].
func Manifests(ctx context.Context, b *layout.Bucket) ([]*layout.Manifest, error) {
	out := make([]*layout.Manifest, b.Shards)
	for shard := range out {
		m, _, err := b.Manifest(ctx, shard, 0)
		if err != nil {
			return nil, err
		}
		out[shard] = m
	}
	return out, nil
}

// Progress returns the request with the progress from the manifests of all shards. It is Done once
// all shards are.
func (r *Request) Progress(manifests []*layout.Manifest) *Request {
	out, last, all := *r, int64(0), true
	out.Done, out.Counts = time.Time{}, Counts{}
	for _, m := range manifests {
		at := m.Deletions[r.ID]
		out.Counts.Add(Counts{at.Traces, at.Parts, at.Pages, at.Left})
		last, all = max(last, at.Done), all && at.Done > 0
	}
	if all {
		out.Done = time.UnixMicro(last).UTC()
	}
	return &out
}

// Find returns the request with an id and its progress, or its record. It returns
// [objects.ErrNotFound] if there is none.
func Find(ctx context.Context, b *layout.Bucket, id string) (*Request, error) {
	for _, folder := range []string{layout.OpenDeletions, layout.DryDeletions} {
		r, err := Get(ctx, b, folder+id)
		if errors.Is(err, objects.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		manifests, err := Manifests(ctx, b)
		if err != nil {
			return nil, err
		}
		return r.Progress(manifests), nil
	}
	return Get(ctx, b, layout.DoneDeletions+id)
}

// Record replaces a completed request by a record. Dry runs leave no record.
func Record(ctx context.Context, b *layout.Bucket, r *Request) error {
	folder, _, _ := kind(r.DryRun)
	if !r.DryRun {
		if err := put(ctx, b, layout.DoneDeletions, r); err != nil {
			return err
		}
	}
	if err := b.Delete(ctx, folder+r.ID); err != nil {
		return fmt.Errorf("remove a completed request: %w", err)
	}
	return nil
}

// List returns requests and records, newest first, but no more than most.
func List(ctx context.Context, b *layout.Bucket, most int) (out []*Request, err error) {
	manifests, err := Manifests(ctx, b)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, folder := range []string{layout.OpenDeletions, layout.DoneDeletions} {
		for e, err := range b.List(ctx, folder, "") {
			if err != nil {
				return nil, fmt.Errorf("list deletions: %w", err)
			}
			r, err := Get(ctx, b, e.Key)
			if errors.Is(err, objects.ErrNotFound) {
				continue // a record has replaced it
			}
			if err != nil {
				return nil, fmt.Errorf("%s%s: %w", b.Name(), e.Key, err)
			}
			if known[r.ID] {
				continue
			}
			known[r.ID] = true
			if folder == layout.OpenDeletions {
				r = r.Progress(manifests)
			}
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *Request) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
	return out[:min(len(out), most)], nil
}
