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

// Times of the protocol.
const (
	// sealAfter is how long after its end an hour is closed, and dayAfter a day.
	sealAfter = 2 * time.Minute
	dayAfter  = 5 * time.Minute
	// giveUpAfter is how long after its first object a manifest may be written that names it. It is far
	// less than sweepAfter, after which objects that nobody names are deleted. Both are long, since a large object over a slow line is.
	giveUpAfter = 12 * time.Hour
	sweepAfter  = 24 * time.Hour
	// deleteAfter is how long readers may read what no manifest names any more, and deleteAloneAfter where they are in this process:
	// a query ends sooner.
	deleteAfter      = 15 * time.Minute
	deleteAloneAfter = 2 * time.Minute
	// openLonger is how much longer than its retention an hour stays that has traces to roll up.
	openLonger = 24 * time.Hour
	// forgetInstances is how long it is known which segments of a node were rolled up.
	forgetInstances = 8 * 24 * time.Hour
)

// CloseTimes closes the hours and days that are over, as far as all that a listing has of them is rolled up, and
// takes out what is too old. It commits once, if there is something to do.
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
	// One that can not be closed must not keep the others from being closed, nor what is too old from being deleted.
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
		r.Forget() // it may be another node that has changed something
	}
	for _, err := range failed {
		r.roller.warn(ctx, "an hour or a day stays open", r.Number, err)
	}
	return nil
}

// seal closes an hour.
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

// daysToClose returns the days that are over, and of which all hours are closed.
func daysToClose(m *layout.Manifest, l *layout.Listing) (out []string) {
	hours := map[string][]string{}
	for name := range m.Hours {
		hours[layout.DayOf(name)] = append(hours[layout.DayOf(name)], name)
	}
	for day, names := range hours {
		open := slices.ContainsFunc(names, func(name string) bool { return !m.Hours[name].Sealed })
		waiting := slices.ContainsFunc(l.List, func(x layout.Listed) bool { return layout.DayOf(x.Hour) == day && !m.Has(x.Segment) })
		if m.Days[day] == nil && !open && !waiting && layout.IsOver(day+"T23", dayAfter, l.At) {
			out = append(out, day)
		}
	}
	slices.Sort(out)
	return out
}

// CloseDay adds up the hours of a day.
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

// expire takes out what is too old. It reports whether there was something.
func (r *Shard) expire(next *layout.Manifest, l *layout.Listing) (changed bool) {
	now, kept := l.At, r.roller.kept(next)
	if kept != r.roller.keeps.Load().Retention {
		r.roller.told.Do(func() {
			r.roller.opts.Logger.Warn("the bucket keeps what it has for longer than this machine was told; --shorten-retention changes that", "traces", time.Duration(kept.Traces), "hours", time.Duration(kept.Hours), "days", time.Duration(kept.Days))
		})
	}
	if next.Kept == nil || *next.Kept != kept {
		next.Kept, changed = &kept, true
	}
	for name, h := range next.Hours {
		// An hour that is still open expires as well, a day later if some of its traces wait to be rolled up.
		expired := layout.Expired(name, time.Duration(kept.Traces), now) && (h.Sealed || !l.Has(next, name)) ||
			layout.Expired(name, time.Duration(kept.Traces), now.Add(-openLonger))
		if len(h.Runs)+len(h.Quarantined) > 0 && expired {
			next.RemoveRuns(now, r.Number, name)
			changed = true
		}
		// Without its day, an hour is all that there is. Those of a day go together: while one of them is there, the day is not read for
		// the others.
		day := layout.DayOf(name)
		if h.Sealed && len(h.Runs) == 0 && next.Days[day] != nil && layout.Expired(day+"T23", time.Duration(kept.Hours), now) {
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

// deleteRemoved deletes what was taken out a while ago. It reports whether there was something.
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

// Sweep deletes objects that no manifest names, long after they were put, as far as they are [Shard.deletable].
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
	// The manifest is read after the list: what is named later was put later.
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

// deletable reports whether an object that no manifest names may be deleted: if this process has put it and given it up, or if
// the hour or day in its name is older than what is kept. Any other one may have been named by a manifest that was lost, or
// that an older one has taken the place of.
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

// SweepSegments deletes the segments of a listing that all shards have rolled up.
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
