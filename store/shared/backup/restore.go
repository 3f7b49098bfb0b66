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

// Archive is a backup of which the beginning was read.
type Archive struct {
	in     *reader
	format []byte
}

// Open reads the beginning of a backup.
func Open(r io.Reader) (*Archive, error) {
	a := &Archive{in: newReader(r)}
	name, err := a.in.next()
	switch {
	case err != nil:
		return nil, err
	case name != objects.Marker:
		return nil, fmt.Errorf("%w: it begins with %q, not with %s", errBackup, name, objects.Marker)
	}
	if a.format, err = a.in.content(maxFormat); err != nil {
		return nil, err
	}
	a.in.note(objects.Marker, a.format)
	return a, nil
}

// Restore makes an empty place of a backup, and tells moving of each object. All is there when it returns; after an error the place is
// empty again. Until all is there it has no format, so that nobody takes a part of a backup for a whole one.
func (a *Archive) Restore(ctx context.Context, to objects.Store, o layout.Options, moving func(key string)) (Stats, error) {
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
	of     int             // a shard
	there  map[string]bool // the objects of it, until its manifest comes
	moving func(key string)
}

// begin refuses a place that is not empty, and makes it ours.
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
			return fmt.Errorf("it is not empty (%s is there): use a new one", e.Key)
		}
	}
	_, err := x.b.Put(ctx, layout.Restoring, []byte("{}\n"), objects.Absent)
	if errors.Is(err, objects.ErrConflict) {
		return &layout.RestoringError{Place: "it"}
	}
	return err
}

// objects puts all that the backup has, and compares it with its end.
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

// object puts the present entry.
func (x *restore) object(ctx context.Context, key string) error {
	shard, most, ok := x.b.Place(key)
	if !ok {
		return fmt.Errorf("%w: %q is no object of a place of %d shards", errBackup, key, x.b.Shards)
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

// manifest deletes what was replaced while the backup was made, and says what is not in it.
func (x *restore) manifest(ctx context.Context, shard int, body []byte) error {
	m, err := x.b.DecodeManifest(shard, body)
	if err != nil {
		return nil // it was noted, and all that there is of the shard stays
	}
	for key := range m.Names(shard) {
		if !x.there[key] {
			x.wrong(key, "it is not in the backup")
		}
		delete(x.there, key)
	}
	var unnamed []string
	for key := range x.there {
		unnamed = append(unnamed, key)
	}
	return x.b.DeleteAll(ctx, unnamed)
}

// wrong notes that an object is missing or damaged.
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

// finish makes a place of what is there. Between its two steps all is there, and whoever opens the place says what is to be put back.
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

// undo deletes all that was put, and last what says so; unless somebody uses the place.
func (x *restore) undo(ctx context.Context) error {
	var keys []string
	for e, err := range x.b.List(ctx, "", "") {
		if err != nil {
			return err
		}
		if e.Key == objects.Marker {
			return fmt.Errorf("%s is there, so nothing is deleted", objects.Marker)
		}
		if e.Key != layout.Restoring {
			keys = append(keys, e.Key)
		}
	}
	return x.b.DeleteAll(ctx, append(keys, layout.Restoring))
}
