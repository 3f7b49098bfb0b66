package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// Verified is the result of [Verify].
type Verified struct {
	Objects  int
	Hours    int    // hours, counted for each shard
	Traces   uint64 // traces that were read; a trace of two pages counts twice
	Findings []Finding
}

// Finding is an object with a problem.
type Finding struct {
	Object string // the key of the object
	What   string // the problem
	Do     string // the remedy

	// Mends reports whether [Repair] can repair it.
	Mends bool

	shard  int
	hour   string // the hour that is affected, or
	day    string // the day, or
	lost   bool   // the manifest is lost, or
	adopts bool   // runs must be adopted
}

// Remedies. SOURCE is replaced by a place that may have a copy.
const (
	doRepair  = "--repair rebuilds it from its source data"
	doPutBack = "restore it from SOURCE; no other object has its data"
	doTraces  = "restore it from SOURCE; the rollups of its traces are intact"
	doSegment = "restore it from SOURCE; otherwise a node quarantines it soon, and responses lack some of its " +
		"traces"
	doQuarantined = "if there is an intact copy, put it under " + layout.Segments +
		" within a week; then delete this one; responses lack its traces of some shards"
	doPutLast = "restore its newest version from SOURCE; until then pages of this shard are not queried or deleted"
	doRestore = "--repair restores it from a copy, and adds later traces; or restore its newest version from SOURCE"
	doAdopt   = "--repair adds them"
	doChanges = "restore it from SOURCE; otherwise a node quarantines it, and all decisions of users about " +
		"changes are lost"
	doOld     = "if there is an intact copy, replace STATE in the same folder with it; then delete this one"
	doHealthy = "restore it from SOURCE, then run --repair to use it again"
	doNewer   = "--repair adds the traces that the manifest does not name"
	doBadOld  = "delete it; it is a copy of the manifest, which is intact"
	doUnnamed = "restore it from SOURCE, or leave it; it is deleted when its hour expires"
)

// Moving is called from time to time with the progress: the hours and days that are done, the total
// of them, and the traces that were read.
type Moving func(done, of int, traces uint64)

// Verify reads all objects of a bucket. Each object that a manifest names must exist with correct
// checksums, and rollups must equal the sum of their traces if these are still stored. Nodes may
// keep running meanwhile.
func Verify(ctx context.Context, b *layout.Bucket, moving Moving) (Verified, error) {
	v := &verifier{b: b, tags: map[int]objects.Tag{}}
	for shard := range b.Shards {
		if err := v.shard(ctx, shard, func(done, of int) {
			moving(shard*of+done, b.Shards*of, v.out.Traces)
		}); err != nil {
			return v.out, fmt.Errorf("verify shard %d: %w", shard, err)
		}
	}
	if err := v.segments(ctx); err != nil {
		return v.out, err
	}
	return v.out, v.changes(ctx)
}

// changes checks the state of change detection.
func (v *verifier) changes(ctx context.Context) error {
	for e, err := range v.b.List(ctx, layout.Changes, "") {
		if err != nil {
			return fmt.Errorf("list changes: %w", err)
		}
		if e.Key != layout.ChangesKey {
			v.find(Finding{Object: e.Key, What: "it was quarantined because it could not be read", Do: doOld})
			continue
		}
		v.out.Objects++
		got, err := v.b.Get(ctx, e.Key, layout.MaxChanges, "")
		if err == nil {
			_, err = v.b.DecodeChanges(got.Body)
		}
		switch {
		case errors.Is(err, objects.ErrNotFound): // it was quarantined just now; the next run reports it
		case layout.IsWrong(err):
			v.find(Finding{Object: e.Key, What: said(err), Do: doChanges})
		case err != nil:
			return err
		}
	}
	return nil
}

type verifier struct {
	b    *layout.Bucket
	out  Verified
	tags map[int]objects.Tag // tags of the manifests that were checked
}

// said returns the message of an error for an operator.
func said(err error) string {
	if errors.Is(err, objects.ErrNotFound) {
		return "it is missing"
	}
	return err.Error()
}

func (v *verifier) find(f Finding) {
	from := "an older version of the bucket, or from a replica"
	if v.b.Exclusive() {
		from = "a backup"
	}
	f.Do = strings.ReplaceAll(f.Do, "SOURCE", from)
	v.out.Findings = append(v.out.Findings, f)
}

func (v *verifier) shard(ctx context.Context, shard int, moving func(done, of int)) error {
	m, tag, err := v.b.Manifest(ctx, shard, 0)
	if layout.IsWrong(err) {
		f := Finding{Object: layout.ManifestKey(shard), What: said(err), Do: doPutLast, shard: shard, lost: true}
		old, err := v.b.NewestOld(ctx, shard)
		if old != nil {
			f.Do, f.Mends = doRestore, true
		}
		v.find(f)
		return err
	}
	if err != nil {
		return err
	}
	v.tags[shard] = tag
	done, of := 0, len(m.Hours)+len(m.Days)
	sound := map[string]bool{} // hours whose rollups can be read
	for _, name := range slices.Sorted(maps.Keys(m.Hours)) {
		h := &hourCheck{v: v, m: m, shard: shard, name: name, hour: m.Hours[name]}
		if err := h.run(ctx); err != nil {
			return err
		}
		sound[name] = len(h.badRollups) == 0
		done++
		moving(done, of)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Days)) {
		if err := v.day(ctx, m, shard, name, sound); err != nil {
			return err
		}
		done++
		moving(done, of)
	}
	if err := v.olds(ctx, m, shard); err != nil {
		return err
	}
	return v.unanswered(ctx, shard)
}

// olds checks the copies of the manifest of a shard. None of them may be newer than the manifest.
func (v *verifier) olds(ctx context.Context, m *layout.Manifest, shard int) error {
	list, _, err := v.b.Olds(ctx, shard)
	if err != nil {
		return err
	}
	for _, e := range list {
		v.out.Objects++
		old, err := v.b.Old(ctx, shard, e.Key)
		switch {
		case errors.Is(err, objects.ErrNotFound): // it was replaced in the meantime
		case layout.IsWrong(err):
			v.find(Finding{Object: e.Key, What: said(err), Do: doBadOld})
		case err != nil:
			return err
		case old.AsOf > m.AsOf:
			if _, now, err := v.b.Manifest(ctx, shard, 0); err != nil || now != v.tags[shard] {
				continue // a node has replaced the manifest since
			}
			v.find(Finding{Object: layout.ManifestKey(shard), What: fmt.Sprintf("it is older than its copy %s", e.Key),
				Do: doNewer, Mends: true, adopts: true, shard: shard})
			return nil
		}
	}
	return nil
}

// named reports whether the newest manifest of a shard names an object. Nodes may replace objects
// while they are being verified.
func (v *verifier) named(ctx context.Context, shard int, k string) bool {
	m, _, err := v.b.Manifest(ctx, shard, 0)
	return err != nil || m.Names(shard)[k]
}

// open reads the index of an object, and counts it.
func (v *verifier) open(ctx context.Context, k string) (*layout.Object, error) {
	v.out.Objects++
	return v.b.Open(ctx, k)
}

// rollups opens and reads objects of rollups. It returns the sound ones, and the errors of the
// others by key.
func (v *verifier) rollups(ctx context.Context, keys []string) (sound []*layout.Object, bad map[string]error,
	err error) {
	bad = map[string]error{}
	for _, k := range keys {
		o, err := v.open(ctx, k)
		if err == nil {
			err = o.CheckRollups(ctx)
		}
		if err != nil && !layout.IsWrong(err) {
			return nil, nil, err
		}
		if err != nil {
			bad[k] = err
			continue
		}
		sound = append(sound, o)
	}
	return sound, bad, nil
}

// day checks the rollups of a day. They must equal the sum of the rollups of its hours if these are
// still stored.
func (v *verifier) day(ctx context.Context, m *layout.Manifest, shard int, name string, sound map[string]bool) error {
	d := m.Days[name]
	var keys, ofHours []string
	for _, f := range d.Rollups {
		keys = append(keys, layout.DayKey(shard, name, f.ID))
	}
	list, bad, err := v.rollups(ctx, keys)
	if err != nil {
		return err
	}
	whole := true
	for _, hour := range d.Sources {
		whole = whole && sound[hour]
		for _, f := range m.RollupsOf(hour) {
			ofHours = append(ofHours, layout.HourKey(shard, hour, f.ID))
		}
	}
	f := Finding{Do: doPutBack, shard: shard, day: name}
	if whole {
		f.Do, f.Mends = doRepair, true
	}
	for _, k := range slices.Sorted(maps.Keys(bad)) {
		if v.named(ctx, shard, k) {
			f.Object, f.What = k, said(bad[k])
			v.find(f)
		}
	}
	if !whole || len(bad) > 0 {
		return nil
	}
	hours, bad, err := v.rollups(ctx, ofHours)
	if err != nil || len(bad) > 0 {
		return err
	}
	for _, page := range layout.PagesOf(append(slices.Clone(list), hours...)) {
		got, err := v.b.PageOf(ctx, list, page)
		if err != nil {
			return err
		}
		want, err := v.b.PageOf(ctx, hours, page)
		if err != nil {
			return err
		}
		if why := differ(got, want); why != "" && len(keys) > 0 && v.named(ctx, shard, keys[0]) {
			f.Object, f.What = keys[0], fmt.Sprintf("the rollups of %s differ from the hours of the day: %s", page, why)
			v.find(f)
			return nil
		}
	}
	return nil
}

// segments checks the segments that wait to be rolled up.
func (v *verifier) segments(ctx context.Context) error {
	l, err := v.b.ListSegments(ctx)
	if err != nil {
		return err
	}
	for _, s := range l.List {
		v.out.Objects++
		o, err := v.b.ReadSegment(ctx, s.Segment)
		for shard := 0; err == nil && shard < v.b.Shards; shard++ {
			_, err = o.OfShard(ctx, shard)
		}
		switch {
		case errors.Is(err, objects.ErrNotFound): // it was rolled up in the meantime
		case layout.IsWrong(err):
			v.find(Finding{Object: s.Key(), What: said(err), Do: doSegment})
		case err != nil:
			return err
		}
	}
	for e, err := range v.b.List(ctx, layout.Quarantine, "") {
		if err != nil {
			return fmt.Errorf("list quarantined segments: %w", err)
		}
		v.find(Finding{Object: e.Key, What: "it was quarantined because it is damaged", Do: doQuarantined})
	}
	return nil
}
