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

// Verified says what a bucket has, and what is wrong with it.
type Verified struct {
	Objects  int
	Hours    int    // of shards
	Traces   uint64 // that were read; one of two pages counts twice
	Findings []Finding
}

// Finding is something that is wrong.
type Finding struct {
	Object string // its key
	What   string // is wrong with it
	Do     string // what can be done

	// Mends says that [Repair] makes it again.
	Mends bool

	shard  int
	hour   string // or
	day    string // or
	lost   bool   // it is a manifest, or
	adopts bool   // runs are added to it
}

// What can be done. SOURCE is where a copy may be.
const (
	doRepair      = "--repair makes it again of what it was made of"
	doPutBack     = "restore it from SOURCE; nothing else has it"
	doTraces      = "restore it from SOURCE; what its traces sum up to is there"
	doSegment     = "restore it from SOURCE; else a node quarantines it soon, and responses lack some of its traces"
	doQuarantined = "put a sound copy under " + layout.Segments + " within a week, if there is one, and delete this one; responses lack its traces of some shards"
	doPutLast     = "put its newest version back, from SOURCE; nothing of its pages is answered or deleted until then"
	doRestore     = "--repair brings it back from what is kept of it, and adds the traces that came since; or put its newest version back, from SOURCE"
	doAdopt       = "--repair adds them"
	doChanges     = "restore it from SOURCE; else a machine quarantines it, and what people said of changes is forgotten"
	doOld         = "put a sound copy in the place of STATE next to it, if there is one, and delete this one"
	doHealthy     = "put a sound copy back, from SOURCE, and --repair uses it again"
	doNewer       = "--repair adds the traces that the manifest does not name"
	doBadOld      = "delete it: it is a copy of the manifest, which is there"
	doUnnamed     = "restore it from SOURCE, or leave it: it is deleted when its time is over"
)

// Moving is told now and then how far something is: hours and days of all that there are, and traces.
type Moving func(done, of int, traces uint64)

// Verify reads all that a bucket has. Each object that a manifest names has to be there with all of its checksums, and
// rollups have to be what the traces sum up to, where these are there. Nodes may go on meanwhile.
func Verify(ctx context.Context, b *layout.Bucket, moving Moving) (Verified, error) {
	v := &verifier{b: b, tags: map[int]objects.Tag{}}
	for shard := range b.Shards {
		if err := v.shard(ctx, shard, func(done, of int) { moving(shard*of+done, b.Shards*of, v.out.Traces) }); err != nil {
			return v.out, fmt.Errorf("verify shard %d: %w", shard, err)
		}
	}
	if err := v.segments(ctx); err != nil {
		return v.out, err
	}
	return v.out, v.changes(ctx)
}

// changes checks what is known of changes.
func (v *verifier) changes(ctx context.Context) error {
	for e, err := range v.b.List(ctx, layout.Changes, "") {
		if err != nil {
			return fmt.Errorf("list changes: %w", err)
		}
		if e.Key != layout.ChangesKey {
			v.find(Finding{Object: e.Key, What: "it was quarantined, since it could not be read", Do: doOld})
			continue
		}
		v.out.Objects++
		got, err := v.b.Get(ctx, e.Key, layout.MaxChanges, "")
		if err == nil {
			_, err = v.b.DecodeChanges(got.Body)
		}
		switch {
		case errors.Is(err, objects.ErrNotFound): // it was there a moment ago, and is not deleted by anybody: the next look tells
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
	tags map[int]objects.Tag // of the manifests that are checked
}

// said says what an error means to who keeps the bucket.
func said(err error) string {
	if errors.Is(err, objects.ErrNotFound) {
		return "it is not there"
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
	sound := map[string]bool{} // hours whose sums can be read
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

// olds checks the copies of the manifest of a shard, which must not be newer than it.
func (v *verifier) olds(ctx context.Context, m *layout.Manifest, shard int) error {
	list, _, err := v.b.Olds(ctx, shard)
	if err != nil {
		return err
	}
	for _, e := range list {
		v.out.Objects++
		old, err := v.b.Old(ctx, shard, e.Key)
		switch {
		case errors.Is(err, objects.ErrNotFound): // it was replaced meanwhile
		case layout.IsWrong(err):
			v.find(Finding{Object: e.Key, What: said(err), Do: doBadOld})
		case err != nil:
			return err
		case old.AsOf > m.AsOf:
			if _, now, err := v.b.Manifest(ctx, shard, 0); err != nil || now != v.tags[shard] {
				continue // a node has written both since
			}
			v.find(Finding{Object: layout.ManifestKey(shard), What: fmt.Sprintf("it is older than %s, a copy of it", e.Key),
				Do: doNewer, Mends: true, adopts: true, shard: shard})
			return nil
		}
	}
	return nil
}

// named reports whether the newest manifest of a shard names an object. While a bucket is read, nodes replace
// what they name.
func (v *verifier) named(ctx context.Context, shard int, k string) bool {
	m, _, err := v.b.Manifest(ctx, shard, 0)
	return err != nil || m.Names(shard)[k]
}

// open reads the index of an object.
func (v *verifier) open(ctx context.Context, k string) (*layout.Object, error) {
	v.out.Objects++
	return v.b.Open(ctx, k)
}

// rollups opens objects of rollups, and reads all of them. It returns those that can be read, and what is wrong with others.
func (v *verifier) rollups(ctx context.Context, keys []string) (sound []*layout.Object, bad map[string]error, err error) {
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

// day checks the rollups of a day: they have to be what those of its hours add up to, where all of these are there.
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
			f.Object, f.What = keys[0], fmt.Sprintf("the sums of %s are not those of the hours of the day: %s", page, why)
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
		case errors.Is(err, objects.ErrNotFound): // it was rolled up meanwhile
		case layout.IsWrong(err):
			v.find(Finding{Object: s.Key(), What: said(err), Do: doSegment})
		case err != nil:
			return err
		}
	}
	for e, err := range v.b.List(ctx, layout.Quarantine, "") {
		if err != nil {
			return fmt.Errorf("list what is quarantined: %w", err)
		}
		v.find(Finding{Object: e.Key, What: "it was quarantined, since it is damaged", Do: doQuarantined})
	}
	return nil
}
