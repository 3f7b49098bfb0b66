package roll

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// An unreadable object must not block the roll-up of its shard. After several attempts it is
// quarantined: the manifest no longer counts it, but still names it, so it is kept as long as its
// hour, and a repair restores it once it can be read. The rollups of an open hour are rebuilt from
// the remaining runs.

const (
	// quarantineAfter is the number of rounds in which an object must be damaged or missing. Fewer
	// failures may be caused by the network or the store.
	quarantineAfter = 3
	// quarantineUnread is how long an object must fail in all rounds for other reasons, such as a
	// bad sector.
	quarantineUnread = 10 * time.Minute
	// forgetTrouble is how long a failure of an object is remembered.
	forgetTrouble = time.Hour
)

// trouble is the record of an object that failed.
type trouble struct {
	since, last time.Time
	listing     *layout.Listing // of the last round in which it failed
	rounds      int
	wrong       bool // damaged or missing, rather than a failed request
}

// due reports whether the object should be quarantined.
func (t *trouble) due() bool {
	return t.rounds >= quarantineAfter && (t.wrong || t.last.Sub(t.since) >= quarantineUnread)
}

// note records that an object could not be read in the round of a listing.
func (r *Shard) note(ctx context.Context, l *layout.Listing, err error) {
	key := layout.FailedObject(err)
	if kind, _, _ := strings.Cut(key, "/"); ctx.Err() != nil || kind != "raw" && kind != "hours" {
		return
	}
	t := r.troubles[key]
	now := time.Now()
	if t == nil || now.Sub(t.last) > forgetTrouble {
		t = &trouble{since: now}
		if r.troubles == nil {
			r.troubles = map[string]*trouble{}
		}
		r.troubles[key] = t
	}
	if t.listing != l {
		t.rounds++
	}
	t.listing, t.last, t.wrong = l, now, layout.IsWrong(err)
}

// quarantineDue quarantines the objects that have failed for long enough.
func (r *Shard) quarantineDue(ctx context.Context) {
	for _, key := range slices.Sorted(maps.Keys(r.troubles)) {
		t := r.troubles[key]
		if time.Since(t.last) > forgetTrouble {
			delete(r.troubles, key)
			continue
		}
		if !t.due() {
			continue
		}
		if err := r.quarantine(ctx, key, t); err != nil {
			r.Forget()
			r.roller.warn(ctx, "an unreadable object cannot be quarantined", r.Number, err)
			continue
		}
		delete(r.troubles, key)
	}
}

// quarantine quarantines an object if the newest manifest names it and it still fails.
func (r *Shard) quarantine(ctx context.Context, key string, t *trouble) error {
	r.Forget()
	if err := r.Begin(ctx); err != nil {
		return err
	}
	why := r.Check(ctx, key)
	if why == nil || !layout.IsWrong(why) && t.wrong {
		return why
	}
	next := r.Manifest.Clone()
	name := layout.HourOfKey(key)
	h := next.Hours[name]
	if h == nil {
		return nil
	}
	for key := key; ; {
		if !r.moveToQuarantine(next, key, why) {
			return nil // another commit replaced it
		}
		err := r.rebuildWithout(ctx, next, name, key)
		if err == nil {
			break
		}
		r.Discard(ctx, next)
		// Another object of the hour may have failed.
		if key, why = layout.FailedObject(err), err; key == "" || layout.HourOfKey(key) != name ||
			!layout.IsWrong(err) {
			return err
		}
	}
	before := len(r.Manifest.Hours[name].Quarantined)
	if err := r.Commit(ctx, next); err != nil {
		return err
	}
	for _, q := range h.Quarantined[before:] {
		r.roller.opts.Logger.Error("an unreadable object was quarantined; "+
			"ingest --verify --repair restores it once it can be read", "object", q.Key, "lost_traces", q.Lost,
			logErr, q.Why)
	}
	return nil
}

// Check reads a complete run, or a complete object of hourly rollups.
func (r *Shard) Check(ctx context.Context, key string) error {
	o, err := r.Bucket.Open(ctx, key)
	if err != nil {
		return err
	}
	if strings.HasPrefix(key, "hours/") {
		return o.CheckRollups(ctx)
	}
	_, _, err = o.CountRows(ctx)
	return err
}

// moveToQuarantine moves an object of an hour to the quarantined ones. It reports whether the
// manifest names the object.
func (r *Shard) moveToQuarantine(next *layout.Manifest, key string, why error) bool {
	name := layout.HourOfKey(key)
	h := next.Hours[name]
	list := &h.Runs
	if strings.HasPrefix(key, "hours/") {
		list = &h.Rollups
	}
	i := slices.IndexFunc(*list, func(f layout.File) bool {
		return layout.RunKey(r.Number, name, f.ID) == key || layout.HourKey(r.Number, name, f.ID) == key
	})
	if i < 0 {
		return false
	}
	q := layout.Quarantined{Key: key, File: (*list)[i], At: r.Bucket.Now().UnixMicro(), Why: why.Error()}
	h.Quarantined = append(h.Quarantined, q)
	*list = slices.Delete(*list, i, i+1)
	delete(r.keys, key)
	return true
}

// rebuildWithout rebuilds the rollups of an hour after an object was quarantined, if they depend on
// it. The readable blocks of a run are saved to another run. A closed hour keeps its rollups,
// because they still count the traces of the run.
func (r *Shard) rebuildWithout(ctx context.Context, next *layout.Manifest, name, key string) error {
	h := next.Hours[name]
	q := &h.Quarantined[len(h.Quarantined)-1]
	if q.IsRun() && h.Sealed {
		return nil
	}
	if q.IsRun() {
		saved, err := r.saveRows(ctx, name, key)
		if err != nil {
			return err
		}
		for _, f := range saved {
			q.File.Rows -= f.Rows
		}
		h.Runs = append(h.Runs, saved...)
	} else if len(h.Runs) == 0 && h.Traces > 0 {
		q.Lost = int(h.Traces) // an upper bound: without runs, the share of one object is unknown
		return nil
	}
	return r.RemakeHour(ctx, next, name)
}

// saveRows saves the readable blocks of a damaged run to other runs.
func (r *Shard) saveRows(ctx context.Context, hour, key string) ([]layout.File, error) {
	o, err := r.Bucket.Open(ctx, key)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, nil // without its index no block can be found
	}
	rows, err := o.SoundRows(ctx)
	if err != nil {
		return nil, err
	}
	out, err := r.writeRuns(ctx, []*layout.Cursor{rows}, r.Runs(hour, 0))
	if err != nil {
		return nil, fmt.Errorf("save the readable rows of %s: %w", key, err)
	}
	return out, nil
}

// lateAfter is how long traces may wait to be rolled up before the shard counts as late.
const lateAfter = 10 * time.Minute

// warnLate logs the late shards, at most once per lateAfter.
func (n *Roller) warnLate(ctx context.Context) {
	if time.Since(n.lateWarned) < lateAfter {
		return
	}
	for _, why := range n.Late() {
		n.lateWarned = time.Now()
		n.warn(ctx, "traces are waiting to be rolled up", -1, why)
	}
}

// Late returns an error for each shard that has not been rolled up for ten minutes although traces
// wait.
func (n *Roller) Late() (out []error) {
	for shard := range n.Bucket.Shards {
		m, _ := n.Bucket.NewestKnown(shard)
		if lag, waiting := n.waiting(m); lag > lateAfter {
			out = append(out, fmt.Errorf("shard %d has not been rolled up for %v: %d segments wait",
				shard, lag.Round(time.Minute), waiting))
		}
	}
	return out
}

// Quarantined returns the quarantined objects of all known manifests.
func (n *Roller) Quarantined() (out []layout.Quarantined) {
	for shard := range n.Bucket.Shards {
		if m, _ := n.Bucket.NewestKnown(shard); m != nil {
			out = append(out, m.Quarantined()...)
		}
	}
	return out
}
