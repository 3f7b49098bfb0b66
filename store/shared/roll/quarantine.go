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

// An object that cannot be read must not keep a shard from being rolled up. After some attempts it is quarantined: the
// manifest no longer counts it, but still names it, so it stays for as long as its hour does, and a repair uses it again
// once it can be read. The rollups of an open hour are made again of the runs that are left.

const (
	// quarantineAfter is in how many rounds an object must be damaged or missing: the way to it may be at fault.
	quarantineAfter = 3
	// quarantineUnread is how long an object must fail in all rounds for other reasons, such as a bad sector.
	quarantineUnread = 10 * time.Minute
	// forgetTrouble is how long it is remembered that an object has failed.
	forgetTrouble = time.Hour
)

// trouble is an object that failed.
type trouble struct {
	since, last time.Time
	listing     *layout.Listing // of the last round in which it failed
	rounds      int
	wrong       bool // it is damaged or missing; else it could not be read
}

// due reports whether the object is to be quarantined.
func (t *trouble) due() bool {
	return t.rounds >= quarantineAfter && (t.wrong || t.last.Sub(t.since) >= quarantineUnread)
}

// note notes that something failed in the round of a listing since an object could not be read.
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
			r.roller.warn(ctx, "an object that cannot be read is not quarantined", r.Number, err)
			continue
		}
		delete(r.troubles, key)
	}
}

// quarantine quarantines an object, if the newest manifest names it and it still fails.
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
			return nil // it was replaced meanwhile
		}
		err := r.goOnWithout(ctx, next, name, key)
		if err == nil {
			break
		}
		r.Discard(ctx, next)
		// The hour may have another one.
		if key, why = layout.FailedObject(err), err; key == "" || layout.HourOfKey(key) != name || !layout.IsWrong(err) {
			return err
		}
	}
	before := len(r.Manifest.Hours[name].Quarantined)
	if err := r.Commit(ctx, next); err != nil {
		return err
	}
	for _, q := range h.Quarantined[before:] {
		r.roller.opts.Logger.Error("an object cannot be read, and is quarantined: "+
			"ingest --verify --repair uses it again once it can be read", "object", q.Key, "lost_traces", q.Lost, logErr, q.Why)
	}
	return nil
}

// Check reads all of a run, or of rollups of an hour.
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

// moveToQuarantine moves an object of an hour to those that are quarantined. It reports whether the manifest names it.
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

// goOnWithout makes the rollups of an hour again after an object was quarantined, where that takes something away. The
// blocks of a run that can be read become another run. A closed hour keeps the rollups that have the traces of a run.
func (r *Shard) goOnWithout(ctx context.Context, next *layout.Manifest, name, key string) error {
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
		q.Lost = int(h.Traces) // at most: without its runs, the traces of one object are not known
		return nil
	}
	return r.RemakeHour(ctx, next, name)
}

// saveRows writes the blocks of a damaged run that can be read as other runs.
func (r *Shard) saveRows(ctx context.Context, hour, key string) ([]layout.File, error) {
	o, err := r.Bucket.Open(ctx, key)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, nil // without its index nothing can be read
	}
	rows, err := o.SoundRows(ctx)
	if err != nil {
		return nil, err
	}
	out, err := r.writeRuns(ctx, []*layout.Cursor{rows}, r.Runs(hour, 0))
	if err != nil {
		return nil, fmt.Errorf("save what can be read of %s: %w", key, err)
	}
	return out, nil
}

// lateAfter is how long traces may wait to be rolled up before that is a problem of the shard.
const lateAfter = 10 * time.Minute

// sayLate logs which shards have not been rolled up for long, once in that time.
func (n *Roller) sayLate(ctx context.Context) {
	if time.Since(n.saidLate) < lateAfter {
		return
	}
	for _, why := range n.Late() {
		n.saidLate = time.Now()
		n.warn(ctx, "traces wait to be rolled up", -1, why)
	}
}

// Late returns an error for each shard that has not been rolled up for ten minutes although traces wait.
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

// Quarantined returns what is quarantined, as far as manifests are known.
func (n *Roller) Quarantined() (out []layout.Quarantined) {
	for shard := range n.Bucket.Shards {
		if m, _ := n.Bucket.NewestKnown(shard); m != nil {
			out = append(out, m.Quarantined()...)
		}
	}
	return out
}
