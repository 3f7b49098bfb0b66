package erase

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
)

const (
	// deleteFor bounds how long a deletion may delay new segments in its shard. deleteBytes is
	// roughly how many bytes are read between two commits of the progress.
	deleteFor   = 10 * time.Second
	deleteBytes = 64 << 20
	// maxOrphans bounds the orphaned runs per pass, and maxPasses the number of passes, because
	// nodes may write more of them meanwhile.
	maxOrphans, maxPasses = 100, 4
)

// Apply deletes the data that open requests select from a shard. It runs for at most about 10 s;
// the next round continues. Everything in the listing must be rolled up. It returns [roll.ErrLost]
// or [roll.ErrUnknown] like [roll.Shard.Commit].
func Apply(ctx context.Context, r *roll.Shard, open []*deletion.Request, l *layout.Listing) (err error) {
	defer func() {
		if err != nil {
			r.Forget()
		}
	}()
	if err := r.Begin(ctx); err != nil {
		return err
	}
	if next := r.Manifest.Clone(); forgetDeletions(next, open, l.At) {
		if err := r.Commit(ctx, next); err != nil {
			return err
		}
	}
	for began := time.Now(); time.Since(began) < deleteFor && ctx.Err() == nil; {
		req := next(r, open, l)
		if req == nil {
			return nil
		}
		if err := deleteNext(ctx, r, req); err != nil {
			r.Discard(ctx, r.Manifest)
			return fmt.Errorf("delete %s: %w", req.Name(), err)
		}
		if err := r.Begin(ctx); err != nil {
			return err
		}
	}
	return nil
}

// next returns the oldest request that is not complete in a shard. A request that is newer than the
// listing waits for the next listing.
func next(r *roll.Shard, open []*deletion.Request, l *layout.Listing) *deletion.Request {
	for _, req := range open {
		if r.Manifest.Deletions[req.ID].Done == 0 && !l.At.Before(req.At) {
			return req
		}
	}
	return nil
}

// stays records that an unreadable object is not deleted from, so that the deletion continues with
// the others. It returns any other error unchanged.
func (d *deleting) stays(ctx context.Context, err error) error {
	if !layout.IsWrong(err) {
		return err
	}
	m, _, merr := d.Bucket.Manifest(ctx, d.Number, 0)
	if merr != nil || m.Nonce != d.Manifest.Nonce {
		return errors.Join(roll.ErrLost, merr) // another node has replaced the missing object
	}
	d.Warn(ctx, "an object cannot be read; nothing is deleted from it", err)
	d.counts.Left++
	return nil
}

// deleteNext applies a request to the hours up to the next one with selected data, or to the days
// and orphaned runs after the last hour. It commits the progress.
func deleteNext(ctx context.Context, r *roll.Shard, req *deletion.Request) (err error) {
	next := r.Manifest.Clone()
	at := next.Deletions[req.ID]
	d := &deleting{Shard: r, matcher: req.Matcher(), dryRun: req.DryRun}
	var over bool
	if at.Passes == 0 {
		over, err = d.next(ctx, next, &at)
	} else {
		over, err = d.orphans(ctx, at.Orphans)
	}
	if err != nil {
		return err
	}
	if over {
		if at.Orphans = nil; at.Passes < maxPasses && !d.dryRun {
			if at.Orphans, err = d.findOrphans(ctx, next); err != nil {
				return err
			}
		}
		if at.Passes++; len(at.Orphans) == 0 {
			at.Done = r.Bucket.Now().UnixMicro()
		}
	}
	at.Traces, at.Parts, at.Pages, at.Left = at.Traces+d.counts.Traces, at.Parts+d.counts.Parts,
		at.Pages+d.counts.Pages, at.Left+d.counts.Left
	if next.Deletions == nil {
		next.Deletions = map[string]layout.Deleting{}
	}
	next.Deletions[req.ID] = at
	if err := r.Commit(ctx, next); err != nil {
		return err
	}
	if at.Done > 0 && !req.DryRun {
		r.NoteErased()
	}
	return nil
}

// next deletes from the hours up to the next one with selected data, and after the last hour from
// the days that have no hours. It reports whether that was everything.
func (d *deleting) next(ctx context.Context, next *layout.Manifest, at *layout.Deleting) (over bool, err error) {
	names := slices.Sorted(maps.Keys(next.Hours))
	for _, name := range names {
		if name <= at.Through {
			continue
		}
		changed, err := d.hour(ctx, next, name)
		if err != nil {
			if err = d.stays(ctx, err); err != nil {
				return false, fmt.Errorf("hour %s: %w", name, err)
			}
			d.Discard(ctx, d.Manifest)
		}
		at.Through = name
		if changed || d.read > deleteBytes {
			break
		}
	}
	if len(names) > 0 && at.Through < names[len(names)-1] {
		return false, nil
	}
	return true, d.days(ctx, next)
}

// findOrphans returns the runs that no manifest names and that contain selected data. A node that
// stops may leave such runs, and a repair would add their traces again. Once the manifest is
// written, no later manifest can name them: a node that wrote them based on an older manifest will
// fail to commit.
func (d *deleting) findOrphans(ctx context.Context, next *layout.Manifest) (keys []string, err error) {
	named := next.Names(d.Number)
	for _, x := range next.Removed {
		named[x.Key] = true // it will be deleted soon
	}
	before := d.counts
	defer func() { d.counts = before }() // orphans are not part of any response
	for e, err := range d.Bucket.List(ctx, layout.RunsOf(d.Number), "") {
		if err != nil {
			return nil, fmt.Errorf("list runs: %w", err)
		}
		if named[e.Key] || len(keys) == maxOrphans {
			continue
		}
		found, err := d.find(ctx, e.Key, layout.File{}, map[string]bool{})
		if err != nil && !layout.IsWrong(err) { // an unreadable run cannot be added again either
			return nil, fmt.Errorf("%s: %w", e.Key, err)
		}
		if found {
			keys = append(keys, e.Key)
		}
	}
	return keys, nil
}

// orphans replaces orphaned runs by runs without the selected data.
func (d *deleting) orphans(ctx context.Context, keys []string) (over bool, err error) {
	for _, k := range keys {
		o, err := d.Bucket.Open(ctx, k)
		if err == nil {
			_, err = d.filter(ctx, o, d.Runs(layout.HourOfKey(k), 0))
		}
		if err == nil {
			d.Keep() // the new run is an orphan too, so a later failure must not discard it
			err = d.Bucket.Delete(ctx, k)
		}
		if err != nil && !layout.IsWrong(err) {
			return false, fmt.Errorf("%s: %w", k, err)
		}
	}
	return true, nil
}

// forgetDeletions removes deletions that have a record, and finished dry runs, from a manifest. It
// reports whether there were any.
func forgetDeletions(next *layout.Manifest, open []*deletion.Request, now time.Time) bool {
	before := len(next.Deletions)
	maps.DeleteFunc(next.Deletions, func(id string, at layout.Deleting) bool {
		isOpen := slices.ContainsFunc(open, func(r *deletion.Request) bool { return r.ID == id })
		return !isOpen && at.Done > 0 && now.Sub(time.UnixMicro(at.Done)) > deletion.KeepDryRun
	})
	return len(next.Deletions) < before
}
