package roll

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// Time limits of the protocol.
const (
	// sealAfter is how long after its end an hour is closed, and dayAfter the same for a day.
	sealAfter = 2 * time.Minute
	dayAfter  = 5 * time.Minute
	// giveUpAfter is the maximum time between writing the first object for a manifest and writing
	// the manifest. It is far less than sweepAfter, after which objects that no manifest names are
	// deleted. Both are long because a large object may take long on a slow connection.
	giveUpAfter = 12 * time.Hour
	sweepAfter  = 24 * time.Hour
	// deleteAfter is how long readers may read an object that was removed from the manifest. If all
	// readers are in this process, deleteAloneAfter is enough, because queries end sooner.
	deleteAfter      = 15 * time.Minute
	deleteAloneAfter = 2 * time.Minute
	// openLonger is how much longer than its retention an hour is kept if it has traces to roll up.
	openLonger = 24 * time.Hour
	// forgetInstances is how long a manifest keeps the segment numbers of an instance without
	// segments.
	forgetInstances = 8 * 24 * time.Hour
)

// CloseTimes closes hours and days that are over if all of their listed segments are rolled up, and
// removes expired data. It commits at most once.
func (r *Shard) CloseTimes(ctx context.Context, l *layout.Listing) (err error) {
	defer func() {
		if err != nil {
			r.Forget()
		}
	}()
	if err := r.Begin(ctx); err != nil {
		return err
	}
	next := r.Manifest.Clone()
	changed, closed := false, false
	// A failure to close one hour must not block the others, or retention.
	var failed []error
	try := func(what string, do func(next *layout.Manifest) error) {
		tried := next.Clone()
		if err := do(tried); err != nil {
			failed = append(failed, fmt.Errorf("close the %s of shard %d: %w", what, r.Number, err))
			r.note(ctx, l, err)
			r.Discard(ctx, next)
			return
		}
		next, changed = tried, true
	}
	for _, name := range slices.Sorted(maps.Keys(next.Hours)) {
		if next.Hours[name].Sealed || !layout.IsOver(name, sealAfter, l.At) || l.Has(next, name) {
			continue
		}
		try("hour "+name, func(next *layout.Manifest) error { return r.seal(ctx, next, name) })
		closed = true
	}
	for _, day := range daysToClose(next, l) {
		try("day "+day, func(next *layout.Manifest) error { return r.CloseDay(ctx, next, day) })
	}
	changed = r.expire(next, l) || changed
	tried := next.Clone()
	if packed, err := r.pack(ctx, tried); err != nil {
		failed = append(failed, fmt.Errorf("pack traces of shard %d: %w", r.Number, err))
		r.note(ctx, l, err)
		r.Discard(ctx, next)
	} else if packed {
		next, changed = tried, true
	}
	deleted, err := r.deleteRemoved(ctx, next)
	if err != nil {
		return errors.Join(append(failed, err)...)
	}
	if changed || deleted {
		if err := r.Commit(ctx, next); err != nil {
			return errors.Join(append(failed, err)...)
		}
	}
	if err := r.keepOld(ctx, closed); err != nil {
		failed = append(failed, err)
	}
	if len(failed) > 0 {
		r.Forget() // another node may have replaced the manifest
	}
	for _, err := range failed {
		r.roller.warn(ctx, "an hour or a day cannot be closed or packed", r.Number, err)
	}
	return nil
}

// seal closes an hour: it merges its rollups and its small runs.
func (r *Shard) seal(ctx context.Context, next *layout.Manifest, name string) error {
	h := next.Hours[name]
	if err := r.compactRollups(ctx, next, name, true); err != nil {
		return err
	}
	small := slices.DeleteFunc(slices.Clone(h.Runs), func(f layout.File) bool { return f.Tier == fullTier })
	if len(small) > 1 {
		if err := r.compactRuns(ctx, next, name, small, 0); err != nil {
			return err
		}
	}
	h.Sealed = true
	return nil
}

// daysToClose returns the days that are over and whose hours are all closed.
func daysToClose(m *layout.Manifest, l *layout.Listing) (out []string) {
	hours := map[string][]string{}
	for name := range m.Hours {
		hours[layout.DayOf(name)] = append(hours[layout.DayOf(name)], name)
	}
	for day, names := range hours {
		open := slices.ContainsFunc(names, func(name string) bool { return !m.Hours[name].Sealed })
		waiting := slices.ContainsFunc(l.List, func(x layout.Listed) bool {
			return layout.DayOf(x.Hour) == day && !m.Has(x.Segment)
		})
		if m.Days[day] == nil && !open && !waiting && layout.IsOver(day+"T23", dayAfter, l.At) {
			out = append(out, day)
		}
	}
	slices.Sort(out)
	return out
}

// CloseDay adds up the rollups of the hours of a day.
func (r *Shard) CloseDay(ctx context.Context, next *layout.Manifest, name string) error {
	d := &layout.Day{}
	var of []layout.Sized
	for _, hour := range next.HoursOf(name) {
		h := next.Hours[hour]
		for _, f := range h.Rollups {
			of = append(of, layout.Sized{Key: layout.HourKey(r.Number, hour, f.ID), Size: f.Size})
		}
		d.Sources = append(d.Sources, hour)
		d.Traces += h.Traces
		if h.First > 0 && (d.First == 0 || h.First < d.First) {
			d.First = h.First
		}
		d.Last = max(d.Last, h.Last)
	}
	var err error
	if d.Rollups, err = r.addUp(ctx, of, r.DayRollups(name)); err != nil {
		return err
	}
	next.Days[name] = d
	return nil
}

// expire removes expired data from the manifest. It reports whether the manifest changed.
func (r *Shard) expire(next *layout.Manifest, l *layout.Listing) (changed bool) {
	now, kept := l.At, r.roller.kept(next)
	if kept != r.roller.keeps.Load().Retention {
		r.roller.warnRetention.Do(func() {
			r.roller.opts.Logger.Warn(
				"the retention of the bucket is longer than the configured one; set --shorten-retention to shorten it",
				"traces", time.Duration(kept.Traces), "hours", time.Duration(kept.Hours), "days",
				time.Duration(kept.Days))
		})
	}
	if next.Kept == nil || *next.Kept != kept {
		next.Kept, changed = &kept, true
	}
	for name, h := range next.Hours {
		// An open hour expires as well, but a day later if it has segments that wait to be rolled
		// up.
		expired := layout.Expired(name, time.Duration(kept.Traces), now) && (h.Sealed || !l.Has(next, name)) ||
			layout.Expired(name, time.Duration(kept.Traces), now.Add(-openLonger))
		if len(h.Runs)+len(h.Quarantined) > 0 && expired {
			next.RemoveRuns(now, r.Number, name)
			changed = true
		}
		// Without its day, an hour is the only copy. The hours of a day are removed together,
		// because queries do not use the day while any of its hours is left.
		day := layout.DayOf(name)
		if h.Sealed && len(h.Runs) == 0 && next.Days[day] != nil &&
			layout.Expired(day+"T23", time.Duration(kept.Hours), now) {
			next.RemoveHour(now, r.Number, name)
			changed = true
		}
	}
	for name, d := range next.Days {
		if d.OutlivesHours(next) && layout.Expired(name+"T23", time.Duration(kept.Days), now) {
			next.RemoveDay(now, r.Number, name)
			changed = true
		}
	}
	for instance, c := range next.Instances {
		there := slices.ContainsFunc(l.List, func(x layout.Listed) bool { return x.Instance == instance })
		if !there && now.Sub(time.UnixMicro(c.Last)) > forgetInstances {
			delete(next.Instances, instance)
			changed = true
		}
	}
	return changed
}

// deleteRemoved deletes objects that were removed long enough ago. It reports whether there were
// any.
func (r *Shard) deleteRemoved(ctx context.Context, next *layout.Manifest) (bool, error) {
	var due []string
	after := deleteAfter
	if r.Bucket.Exclusive() {
		after = deleteAloneAfter
	}
	next.Removed = slices.DeleteFunc(next.Removed, func(x layout.Removed) bool {
		old := r.Bucket.Now().Sub(time.UnixMicro(x.At)) > after
		if old {
			due = append(due, x.Key)
		}
		return old
	})
	return len(due) > 0, r.Bucket.DeleteAll(ctx, due)
}

// Sweep deletes objects that no manifest names, 24 hours after they were written, if they are
// [Shard.deletable].
func (r *Shard) Sweep(ctx context.Context) error {
	now := r.Bucket.Now()
	var old []string
	for e, err := range r.Bucket.ListNamed(ctx, r.Number) {
		if err != nil {
			return fmt.Errorf("sweep shard %d: %w", r.Number, err)
		}
		if now.Sub(e.Modified) > sweepAfter {
			old = append(old, e.Key)
		}
	}
	if len(old) == 0 {
		return nil
	}
	// The manifest is read after the list, so objects that are named later were also written later.
	m, _, err := r.Bucket.Manifest(ctx, r.Number, 0)
	if err != nil {
		return err
	}
	named := m.Names(r.Number)
	for _, x := range m.Removed {
		named[x.Key] = true // its time comes
	}
	old = slices.DeleteFunc(old, func(k string) bool { return named[k] || !r.deletable(m, k, now) })
	if err := r.Bucket.DeleteAll(ctx, old); err != nil {
		return err
	}
	for _, k := range old {
		delete(r.abandoned, k)
	}
	return nil
}

// deletable reports whether an object that no manifest names may be deleted: this process wrote it
// and gave it up, or the hour or day in its key is older than the retention. Any other object may
// belong to a manifest that was lost or replaced by an older copy.
func (r *Shard) deletable(m *layout.Manifest, key string, now time.Time) bool {
	if r.abandoned[key] {
		return true
	}
	kind, rest, _ := strings.Cut(key, "/")
	_, rest, _ = strings.Cut(rest, "/")
	name, _, _ := strings.Cut(rest, "/")
	kept := r.roller.kept(m)
	switch kind {
	case "raw":
		return layout.Expired(name, time.Duration(kept.Traces), now)
	case "hours":
		return layout.Expired(name, time.Duration(kept.Hours), now)
	case "days":
		return layout.Expired(name+"T23", time.Duration(kept.Days), now)
	}
	return false
}

// SweepSegments deletes the listed segments that all shards have rolled up.
func (n *Roller) SweepSegments(ctx context.Context, l *layout.Listing) error {
	left := slices.Clone(l.List)
	for shard := range n.Bucket.Shards {
		if len(left) == 0 {
			return nil
		}
		m, _, err := n.Bucket.Manifest(ctx, shard, 0)
		if err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(x layout.Listed) bool { return !m.Has(x.Segment) })
	}
	keys := make([]string, len(left))
	for i := range left {
		keys[i] = left[i].Key()
	}
	return n.Bucket.DeleteAll(ctx, keys)
}
