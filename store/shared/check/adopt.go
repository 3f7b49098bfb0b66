package check

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
)

// A run that no manifest names may contain traces that are missing from responses: its manifest may
// be lost, or replaced by an older copy. Adopting a run adds its traces as if they arrived again.
// Traces that are already stored are dropped as duplicates, so it does not matter whether the run
// was compacted into another one, or rolled up by another node.

// orphanAfter is the age at which an unnamed run counts as lost even if segments wait to be rolled
// up. A younger run may belong to a node that is about to name it.
const orphanAfter = time.Hour

// unnamed lists the unnamed runs of a shard, from the hour since on, that have not expired. It also
// returns the newest manifest, which does not name them.
//
// Runs are listed before segments, and the manifest is read last, because the traces of a new run
// are also in segments until a manifest names the run. So if no segment waits, the traces of an
// unnamed run are either named elsewhere or lost. If segments wait, unnamed leaves out recent runs,
// unless all is set. Adopting a run is always safe, because duplicates are dropped.
func (r mender) unnamed(ctx context.Context, since string, all bool) (m *layout.Manifest, keys []string, err error) {
	var list []objects.Entry
	for e, err := range r.Bucket.List(ctx, layout.RunsOf(r.Number), layout.RunsOf(r.Number)+since) {
		if err != nil {
			return nil, nil, fmt.Errorf("list runs: %w", err)
		}
		list = append(list, e)
	}
	l, err := r.Bucket.ListSegments(ctx)
	if err != nil {
		return nil, nil, err
	}
	if m, _, err = r.Bucket.Manifest(ctx, r.Number, 0); err != nil {
		return nil, nil, err
	}
	named, patience := m.Names(r.Number), time.Duration(0)
	for _, x := range m.Removed {
		named[x.Key] = true
	}
	if !all && slices.ContainsFunc(l.List, func(s layout.Listed) bool { return !m.Has(s.Segment) }) {
		patience = orphanAfter
	}
	for _, e := range list {
		if !named[e.Key] && r.Bucket.Now().Sub(e.Modified).Abs() >= patience &&
			r.adoptable(m, layout.HourOfKey(e.Key)) {
			keys = append(keys, e.Key)
		}
	}
	return m, keys, nil
}

// adoptable reports whether the manifest still has the traces of an hour, which are needed to
// detect duplicates.
func (r mender) adoptable(m *layout.Manifest, name string) bool {
	if _, err := layout.ParseHour(name); err != nil {
		return false
	}
	h := m.Hours[name]
	d := m.Days[layout.DayOf(name)]
	gone := h != nil && h.Traces > 0 && len(h.Runs) == 0 || h == nil && d != nil && slices.Contains(d.Sources, name)
	return !gone && (m.Kept == nil || !layout.Expired(name, time.Duration(m.Kept.Traces), r.Bucket.Now()))
}

// adoptRows is the maximum number of traces of a run that are in memory at a time.
const adoptRows = 8000

// eachRows calls f with the rows of a run, up to adoptRows at a time.
func (r mender) eachRows(ctx context.Context, key string, f func([]layout.Row) error) error {
	o, err := r.Bucket.Open(ctx, key)
	if err != nil {
		return err
	}
	var rows []layout.Row
	var d encode.BinaryDecoder
	err = layout.Merge(ctx, []*layout.Cursor{o.Rows(1)}, func(x *layout.Row) error {
		x.Tags = nil // runs have tags only in their payloads
		if t, err := x.Decode(&d); err == nil {
			x.Tags, _ = store.TagsOf(t)
		}
		if rows = append(rows, *x); len(rows) < adoptRows {
			return nil
		}
		all := rows
		rows = nil
		return f(all)
	})
	if err == nil && len(rows) > 0 {
		err = f(rows)
	}
	return err
}

// lacks returns the number of traces of a run that are not in a manifest.
func (r mender) lacks(ctx context.Context, m *layout.Manifest, key string) (count int, err error) {
	err = r.eachRows(ctx, key, func(rows []layout.Row) error {
		fresh, err := r.NewRows(ctx, m, layout.HourOfKey(key), rows)
		count += len(fresh)
		return err
	})
	return count, err
}

// adopt adds the missing traces of unnamed runs.
func (r mender) adopt(ctx context.Context) error {
	if doubt := r.Bucket.Clock().Doubt(); doubt != nil {
		return fmt.Errorf("adopt unnamed runs: %w", doubt)
	}
	if err := r.Begin(ctx); err != nil {
		return err
	}
	next := r.Manifest.Clone()
	changed, err := r.mend(ctx, next)
	if err == nil && changed {
		err = r.Replace(ctx, next)
	}
	if err != nil {
		return err
	}
	_, keys, err := r.unnamed(ctx, "", true)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := r.adoptRun(ctx, k); err != nil && !layout.IsWrong(err) {
			return err
		} // Verify reports unreadable runs
	}
	if err := r.release(ctx); err != nil {
		return err
	}
	return r.asNew(ctx)
}

// asNew marks a manifest as recent as its copies, after all unnamed runs have been adopted.
func (r mender) asNew(ctx context.Context) error {
	old, err := r.Bucket.NewestOld(ctx, r.Number)
	if err != nil || old == nil {
		return err
	}
	if err := r.Begin(ctx); err != nil {
		return err
	}
	if old.AsOf <= r.Manifest.AsOf {
		return nil
	}
	next := r.Manifest.Clone()
	next.AsOf = old.AsOf
	return r.Replace(ctx, next)
}

// release ends the quarantine of objects that can be read again. A run is adopted if its traces are
// missing from the rollups, and named again otherwise.
func (r mender) release(ctx context.Context) error {
	for _, q := range r.Manifest.Quarantined() {
		if err := r.Check(ctx, q.Key); layout.IsWrong(err) {
			continue
		} else if err != nil {
			return err
		}
		if q.IsRun() && q.Lost > 0 {
			if err := r.adoptRun(ctx, q.Key); err != nil {
				return err
			}
		}
		if err := r.Begin(ctx); err != nil {
			return err
		}
		next := r.Manifest.Clone()
		h := next.Hours[layout.HourOfKey(q.Key)]
		if h == nil || !slices.Contains(h.Quarantined, q) {
			continue // it has expired
		}
		h.Quarantined = slices.DeleteFunc(h.Quarantined, func(x layout.Quarantined) bool { return x.Key == q.Key })
		switch {
		case q.Summed():
			h.Runs = append(h.Runs, q.File)
		case !q.IsRun() && len(h.Runs) == 0:
			h.Rollups = append(h.Rollups, q.File)
		default: // its data is in other objects by now
			next.Remove(r.Bucket.Now(), q.Key)
		}
		if err := r.Replace(ctx, next); err != nil {
			return err
		}
	}
	return nil
}

func (r mender) adoptRun(ctx context.Context, key string) error {
	return r.eachRows(ctx, key, func(rows []layout.Row) error { return r.AddRows(ctx, layout.HourOfKey(key), rows) })
}

// Behind returns why the manifest of a shard may be outdated: a copy of it is newer, or an unnamed
// run of the last two hours has traces that are missing from responses. It returns nil if neither
// is the case.
func Behind(ctx context.Context, b *layout.Bucket, shard int) (why, err error) {
	r := mender{roll.New(b, "", roll.Options{}).Detached(shard)}
	m, keys, err := r.unnamed(ctx, layout.HourOf(b.Now().Add(-recentHours)), false)
	if err != nil {
		return nil, err
	}
	old, err := b.NewestOld(ctx, shard)
	if err != nil {
		return nil, err
	}
	if old != nil && old.AsOf > m.AsOf {
		return fmt.Errorf("%s is older than one of its copies. %s", layout.ManifestKey(shard), addThem), nil
	}
	for _, k := range keys {
		if n, err := r.lacks(ctx, m, k); err == nil && n > 0 {
			return fmt.Errorf("%s does not name %s, and %d of its traces are missing from responses. %s",
				layout.ManifestKey(shard), k, n, addThem), nil
		} else if err != nil && !layout.IsWrong(err) {
			return nil, err
		}
	}
	return nil, nil
}

// recentHours is how far back [Behind] looks.
const (
	recentHours = 2 * time.Hour
	addThem     = "It may be a restored older version; run ingest --verify --repair to add the missing traces"
)

// unanswered finds unnamed runs with traces that are missing from responses.
func (v *verifier) unanswered(ctx context.Context, shard int) error {
	r := mender{roll.New(v.b, "", roll.Options{}).Detached(shard)}
	m, keys, err := r.unnamed(ctx, "", false)
	if err != nil {
		return err
	}
	for _, k := range keys {
		v.out.Objects++
		count, err := r.lacks(ctx, m, k)
		f := Finding{Object: k, shard: shard}
		switch {
		case layout.IsWrong(err):
			f.What, f.Do = "no manifest names it, and its content cannot be checked: "+said(err), doUnnamed
			if _, err := v.b.Open(ctx, k); err == nil { // the error concerns another object
				f.Do, f.Mends, f.adopts = doAdopt, true, true
			}
		case err != nil:
			return err
		case count > 0:
			f.What, f.Do, f.Mends,
				f.adopts = fmt.Sprintf("no manifest names it, and %d of its traces are missing from responses", count),
				doAdopt, true, true
		default:
			continue // left behind by a node that was stopped
		}
		v.find(f)
	}
	return v.quarantined(ctx, m, r)
}

// quarantined adds findings for quarantined objects.
func (v *verifier) quarantined(ctx context.Context, m *layout.Manifest, r mender) error {
	for _, q := range m.Quarantined() {
		v.out.Objects++
		f := Finding{Object: q.Key, Do: doHealthy, shard: r.Number, hour: layout.HourOfKey(q.Key)}
		at := time.UnixMicro(q.At).UTC().Format(time.RFC3339)
		f.What = fmt.Sprintf("it was quarantined at %s: %s; %d traces are missing from responses", at, q.Why, q.Lost)
		switch err := r.Check(ctx, q.Key); {
		case err == nil:
			f.What, f.Do, f.Mends, f.adopts = "it is quarantined, but can be read again", doAdopt, true, true
		case !layout.IsWrong(err):
			return err
		}
		v.find(f)
	}
	return nil
}
