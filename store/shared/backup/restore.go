package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// Archive is a backup whose first entry has been read.
type Archive struct {
	in     *reader
	format []byte
}

// Open reads the first entry of a backup.
func Open(r io.Reader) (*Archive, error) {
	a := &Archive{in: newReader(r)}
	name, err := a.in.next()
	switch {
	case err != nil:
		return nil, err
	case name != objects.Marker:
		return nil, fmt.Errorf("%w: it begins with %q instead of %s", errBackup, name, objects.Marker)
	}
	if a.format, err = a.in.content(maxFormat); err != nil {
		return nil, err
	}
	a.in.note(objects.Marker, a.format)
	return a, nil
}

// Restore restores a backup into an empty location, and calls moving for each object. After an
// error the location is empty again. FORMAT is written last, so an incomplete restore cannot be
// mistaken for a complete one.
func (a *Archive) Restore(ctx context.Context, to objects.Store, o layout.Options,
	moving func(key string)) (Stats, error) {
	b, err := layout.Unmade(to, o, a.format)
	if err != nil {
		return Stats{}, err
	}
	x := &restore{b: b, in: a.in, there: map[string]bool{}, moving: moving}
	err = x.begin(ctx)
	if err == nil {
		if err = x.objects(ctx); err == nil {
			err = x.finish(ctx, a.format)
		}
		if err != nil {
			err = errors.Join(err, x.undo(context.WithoutCancel(ctx)))
		}
	}
	if err != nil {
		return Stats{}, fmt.Errorf("restore into %s: %w", to.Name(), err)
	}
	return x.stats, nil
}

type restore struct {
	b      *layout.Bucket
	in     *reader
	stats  Stats
	of     int             // the shard of the objects in there
	there  map[string]bool // objects of that shard before its manifest
	moving func(key string)
}

// begin checks that the location is empty, and reserves it.
func (x *restore) begin(ctx context.Context) error {
	if err := x.b.Probe(ctx); err != nil {
		return err
	}
	for e, err := range x.b.List(ctx, "", "") {
		switch {
		case err != nil:
			return err
		case e.Key == layout.Restoring:
			return &layout.RestoringError{Place: "it"}
		case !strings.HasPrefix(e.Key, objects.Probes):
			return fmt.Errorf("it is not empty (it contains %s); use a new location", e.Key)
		}
	}
	_, err := x.b.Put(ctx, layout.Restoring, []byte("{}\n"), objects.Absent)
	if errors.Is(err, objects.ErrConflict) {
		return &layout.RestoringError{Place: "it"}
	}
	return err
}

// objects writes all objects of the backup, and verifies the counts at its end.
func (x *restore) objects(ctx context.Context) error {
	for {
		key, err := x.in.next()
		if err != nil {
			return err
		}
		if key == endEntry {
			return x.end()
		}
		if err := x.object(ctx, key); err != nil {
			return err
		}
	}
}

// object writes the current entry.
func (x *restore) object(ctx context.Context, key string) error {
	shard, most, ok := x.b.Place(key)
	if !ok {
		return fmt.Errorf("%w: %q is not the key of an object in a bucket with %d shards", errBackup, key, x.b.Shards)
	}
	body, err := x.in.content(most)
	if err != nil {
		return err
	}
	x.in.note(key, body)
	x.moving(key)
	if err := x.b.Check(key, body); err != nil {
		if newer, ok := errors.AsType[*layout.VersionError](err); ok {
			return newer
		}
		x.wrong(key, err.Error())
	}
	if err := x.b.PutObject(ctx, key, body); err != nil {
		return err
	}
	if shard != x.of {
		x.of = shard
		clear(x.there)
	}
	if key == layout.ManifestKey(shard) {
		return x.manifest(ctx, shard, body)
	}
	if !strings.HasPrefix(key, "shard/") {
		x.there[key] = true
	}
	return nil
}

// manifest deletes objects that were replaced during the backup, and records missing ones.
func (x *restore) manifest(ctx context.Context, shard int, body []byte) error {
	m, err := x.b.DecodeManifest(shard, body)
	if err != nil {
		return nil // it was recorded, and all objects of the shard are kept
	}
	for key := range m.Names(shard) {
		if !x.there[key] {
			x.wrong(key, "it is missing from the backup")
		}
		delete(x.there, key)
	}
	var unnamed []string
	for key := range x.there {
		unnamed = append(unnamed, key)
	}
	return x.b.DeleteAll(ctx, unnamed)
}

// wrong records that an object is missing or damaged.
func (x *restore) wrong(key, why string) { x.stats.Wrong = append(x.stats.Wrong, Wrong{key, why}) }

// end reads the end of the backup.
func (x *restore) end() error {
	e, err := x.in.end()
	if err != nil {
		return err
	}
	said := map[string]bool{}
	for _, w := range e.Wrong {
		said[w.Object] = true
	}
	for _, w := range x.stats.Wrong {
		if !said[w.Object] {
			e.Wrong = append(e.Wrong, w)
		}
	}
	x.stats = Stats{e.Made, e.Objects, e.Bytes, e.Traces, e.Wrong}
	return nil
}

// finish marks the restore as complete. If it fails between its two steps, opening the location
// reports which file is missing.
func (x *restore) finish(ctx context.Context, format []byte) error {
	if err := x.b.Delete(ctx, layout.Restoring); err != nil {
		return err
	}
	_, err := x.b.Put(ctx, objects.Marker, format, objects.Absent)
	if err != nil && !errors.Is(err, objects.ErrConflict) { // it may have been stored
		if got, gerr := x.b.Get(ctx, objects.Marker, maxFormat, ""); gerr == nil && bytes.Equal(got.Body, format) {
			return nil
		}
	}
	return err
}

// undo deletes all objects, the marker of the restore last. It deletes nothing if another process
// has initialized the location.
func (x *restore) undo(ctx context.Context) error {
	var keys []string
	for e, err := range x.b.List(ctx, "", "") {
		if err != nil {
			return err
		}
		if e.Key == objects.Marker {
			return fmt.Errorf("%s exists, so nothing is deleted", objects.Marker)
		}
		if e.Key != layout.Restoring {
			keys = append(keys, e.Key)
		}
	}
	return x.b.DeleteAll(ctx, append(keys, layout.Restoring))
}
