package shared

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Times of the protocol.
const (
	// sealAfter is how long after its end an hour is closed, and dayAfter a day.
	sealAfter = 2 * time.Minute
	dayAfter  = 5 * time.Minute
	// giveUpAfter is how long after its first object a manifest may be written that names it. It is far
	// less than sweepAfter, after which objects that nobody names are deleted. Both are long, since an import over a slow line is.
	giveUpAfter = 12 * time.Hour
	sweepAfter  = 24 * time.Hour
	// deleteAfter is how long readers may read what no manifest names any more.
	deleteAfter = 15 * time.Minute
	// forgetBoots is how long it is known which segments of a machine were rolled up.
	forgetBoots = 8 * 24 * time.Hour
)

// closeTimes closes the hours and days that are over, as far as all that a listing has of them is rolled up, and
// takes out what is too old. It commits once, if there is something to do.
func (r *roller) closeTimes(ctx context.Context, l *listing) (err error) {
	defer func() {
		if err != nil {
			r.forget()
		}
	}()
	if err := r.begin(ctx); err != nil {
		return err
	}
	next := r.m.clone()
	changed, closed := false, false
	// One that can not be closed must not keep the others from being closed, nor what is too old from being deleted.
	var failed []error
	try := func(what string, do func(next *manifest) error) {
		tried := next.clone()
		if err := do(tried); err != nil {
			failed = append(failed, fmt.Errorf("close the %s of shard %d: %w", what, r.shard, err))
			return
		}
		next, changed = tried, true
	}
	for _, name := range slices.Sorted(maps.Keys(next.Hours)) {
		if next.Hours[name].Sealed || !isOver(name, sealAfter, l.at) || l.has(next, name) {
			continue
		}
		try("hour "+name, func(next *manifest) error { return r.seal(ctx, next, name) })
		closed = true
	}
	for _, day := range daysToClose(next, l) {
		try("day "+day, func(next *manifest) error { return r.closeDay(ctx, next, day) })
	}
	changed = r.expire(next, l) || changed
	deleted, err := r.deleteRemoved(ctx, next)
	if err != nil {
		return errors.Join(append(failed, err)...)
	}
	if changed || deleted {
		if err := r.commit(ctx, next); err != nil {
			return errors.Join(append(failed, err)...)
		}
	}
	if err := r.keepOld(ctx, closed); err != nil {
		failed = append(failed, err)
	}
	if len(failed) > 0 {
		r.forget() // it may be another machine that has changed something
	}
	for _, err := range failed {
		r.n.warn(ctx, "an hour or a day stays open", r.shard, err)
	}
	return nil
}

// seal closes an hour.
func (r *roller) seal(ctx context.Context, next *manifest, name string) error {
	h := next.Hours[name]
	if err := r.foldSums(ctx, next, name, true); err != nil {
		return err
	}
	small := slices.DeleteFunc(slices.Clone(h.Runs), func(f file) bool { return f.Tier == fullTier })
	if len(small) > 1 {
		if err := r.foldRuns(ctx, next, name, small, 0); err != nil {
			return err
		}
	}
	h.Sealed = true
	return nil
}

// daysToClose returns the days that are over, and of which all hours are closed.
func daysToClose(m *manifest, l *listing) (out []string) {
	hours := map[string][]string{}
	for name := range m.Hours {
		hours[dayOf(name)] = append(hours[dayOf(name)], name)
	}
	for day, names := range hours {
		open := slices.ContainsFunc(names, func(name string) bool { return !m.Hours[name].Sealed })
		waiting := slices.ContainsFunc(l.list, func(x listed) bool { return dayOf(x.hour) == day && !m.has(x.segmentName) })
		if m.Days[day] == nil && !open && !waiting && isOver(day+"T23", dayAfter, l.at) {
			out = append(out, day)
		}
	}
	slices.Sort(out)
	return out
}

// closeDay adds up the hours of a day.
func (r *roller) closeDay(ctx context.Context, next *manifest, name string) error {
	d := &day{}
	var of []sized
	for _, hour := range slices.Sorted(maps.Keys(next.Hours)) {
		h := next.Hours[hour]
		if dayOf(hour) != name {
			continue
		}
		for _, f := range h.Sums {
			of = append(of, sized{key: sumsKey(r.shard, hour, f.ID), size: f.Size})
		}
		d.Sources = append(d.Sources, hour)
		d.Traces += h.Traces
		d.Imported = append(d.Imported, h.Imported...)
		if h.First > 0 && (d.First == 0 || h.First < d.First) {
			d.First = h.First
		}
		d.Last = max(d.Last, h.Last)
	}
	var err error
	if d.Sums, err = r.addUp(ctx, of, r.ofDay(name)); err != nil {
		return err
	}
	next.Days[name] = d
	return nil
}

// expire takes out what is too old. It reports whether there was something.
func (r *roller) expire(next *manifest, l *listing) (changed bool) {
	o, now := &r.n.opts, l.at
	kept := o.kept(next)
	if kept != o.Keep {
		r.n.told.Do(func() {
			o.Logger.Warn("the bucket keeps what it has for longer than this machine was told; --shorten-retention changes that", "traces", time.Duration(kept.Traces), "hours", time.Duration(kept.Hours), "days", time.Duration(kept.Days))
		})
	}
	if next.Kept == nil || *next.Kept != kept {
		next.Kept, changed = &kept, true
	}
	for name, h := range next.Hours {
		// One that can not be closed is deleted all the same when its time is over.
		if len(h.Runs) > 0 && expired(name, time.Duration(kept.Traces), now) && (h.Sealed || !l.has(next, name)) {
			for _, f := range h.Runs {
				next.remove(now, runKey(r.shard, name, f.ID))
			}
			h.Runs, changed = nil, true
		}
		// Without its day, an hour is all that there is.
		if h.Sealed && len(h.Runs) == 0 && next.Days[dayOf(name)] != nil && expired(name, time.Duration(kept.Hours), now) {
			for _, f := range h.Sums {
				next.remove(now, sumsKey(r.shard, name, f.ID))
			}
			next.remove(now, h.untraced(r.shard, name)...)
			delete(next.Hours, name)
			changed = true
		}
	}
	for name, d := range next.Days {
		hours := slices.ContainsFunc(d.Sources, func(hour string) bool { return next.Hours[hour] != nil })
		if !hours && expired(name+"T23", time.Duration(kept.Days), now) {
			for _, f := range d.Sums {
				next.remove(now, daySumsKey(r.shard, name, f.ID))
			}
			delete(next.Days, name)
			changed = true
		}
	}
	for boot, c := range next.Boots {
		there := slices.ContainsFunc(l.list, func(x listed) bool { return x.boot == boot })
		if !there && now.Sub(time.UnixMicro(c.Last)) > forgetBoots {
			delete(next.Boots, boot)
			changed = true
		}
	}
	return changed
}

// deleteRemoved deletes what was taken out a while ago. It reports whether there was something.
func (r *roller) deleteRemoved(ctx context.Context, next *manifest) (bool, error) {
	var due []string
	next.Removed = slices.DeleteFunc(next.Removed, func(x removed) bool {
		old := r.b.Now().Sub(time.UnixMicro(x.At)) > deleteAfter
		if old {
			due = append(due, x.Key)
		}
		return old
	})
	return len(due) > 0, r.b.deleteAll(ctx, due)
}

// sweep deletes objects that no manifest names, long after they were put, as far as they are [roller.deletable].
func (r *roller) sweep(ctx context.Context) error {
	now := r.b.Now()
	var old []string
	for _, kind := range []string{"raw/", "hours/", "days/"} {
		for e, err := range r.b.List(ctx, kind+shardName(r.shard)+"/", "") {
			if err != nil {
				return fmt.Errorf("sweep shard %d: %w", r.shard, err)
			}
			if now.Sub(e.Modified) > sweepAfter {
				old = append(old, e.Key)
			}
		}
	}
	if len(old) == 0 {
		return nil
	}
	// The manifest is read after the list: what is named later was put later.
	m, _, err := r.b.manifest(ctx, r.shard, 0)
	if err != nil {
		return err
	}
	named := m.names(r.shard)
	for _, x := range m.Removed {
		named[x.Key] = true // its time comes
	}
	old = slices.DeleteFunc(old, func(k string) bool { return named[k] || !r.deletable(m, k, now) })
	if err := r.b.deleteAll(ctx, old); err != nil {
		return err
	}
	for _, k := range old {
		delete(r.abandoned, k)
	}
	return nil
}

// sweepSegments deletes the segments of a listing that all shards have rolled up.
func (n *rollers) sweepSegments(ctx context.Context, l *listing) error {
	left := slices.Clone(l.list)
	for shard := range n.b.shards {
		if len(left) == 0 {
			return nil
		}
		m, _, err := n.b.manifest(ctx, shard, 0)
		if err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(x listed) bool { return !m.has(x.segmentName) })
	}
	keys := make([]string, len(left))
	for i := range left {
		keys[i] = left[i].key()
	}
	return n.b.deleteAll(ctx, keys)
}
