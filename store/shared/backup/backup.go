package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// Stats describes a backup.
type Stats struct {
	Made    time.Time
	Objects int
	Bytes   int64
	Traces  uint64 // a trace of two pages counts twice
	Wrong   []Wrong
}

// Wrong is an object that is missing or damaged.
type Wrong struct {
	Object string `json:"object"`
	Why    string `json:"why"`
}

// mostWrong is the maximum number of such objects. If there are more, the problem is probably the
// connection to the store.
const mostWrong = 10_000

// Backup writes all traces that were acknowledged before the call to w. Nodes may keep running, and
// may delete objects that they have replaced. Objects that are missing or damaged are reported in
// Stats.Wrong and do not stop the backup. After an error the stream has no end, and
// [Archive.Restore] rejects it.
//
// No trace is lost between a segment and the runs of a shard, because segments are copied before
// manifests. A segment is deleted only when the manifests of all shards have it. So if a listed
// segment is missing when it is read, all manifests that are read later have it. For each segment
// that was copied, the manifest shows whether its traces are in runs already. In the opposite
// order, a segment that is rolled up and deleted in between would be in neither.
//
// Nodes need not wait for a backup or know of it. Objects that a manifest names may be replaced
// during the backup, and are deleted some minutes later. In that case Backup reads the manifest
// again: it names the replacements, and otherwise mostly objects that have been sent, which never
// change. The backup ends if the stream is faster than new data arrives. It contains the manifest
// that was read last.
func Backup(ctx context.Context, w io.Writer, b *layout.Bucket) (Stats, error) {
	x := &backup{b: b, out: newWriter(w, b.Now())}
	if err := x.run(ctx); err != nil {
		return Stats{}, fmt.Errorf("back up: %w", err)
	}
	return Stats{x.out.made, x.out.objects, x.out.bytes, x.traces, x.wrong}, nil
}

type backup struct {
	b        *layout.Bucket
	out      *writer
	segments []segment
	traces   uint64
	wrong    []Wrong
}

// segment is a copied segment with its number of rows by shard.
type segment struct {
	layout.Segment
	rows []int
}

func (x *backup) run(ctx context.Context) error {
	format, err := x.get(ctx, objects.Marker, maxFormat)
	if err != nil {
		return err
	}
	if err := x.out.put(objects.Marker, format); err != nil {
		return err
	}
	if err := x.waiting(ctx); err != nil {
		return err
	}
	for shard := range x.b.Shards {
		if err := x.shard(ctx, shard); err != nil {
			return fmt.Errorf("shard %d: %w", shard, err)
		}
	}
	for _, prefix := range []string{layout.Changes, layout.Deletions} {
		if err := x.all(ctx, prefix); err != nil {
			return err
		}
	}
	if err := x.symbols(ctx); err != nil {
		return err
	}
	return x.out.close(end{Traces: x.traces, Wrong: x.wrong})
}

// symbols copies the symbols. Uploads name tables, so they are listed before the tables and copied
// after them.
func (x *backup) symbols(ctx context.Context) error {
	uploads, err := x.list(ctx, layout.Symbols)
	if err != nil {
		return err
	}
	tables, err := x.list(ctx, layout.Symbols)
	if err != nil {
		return err
	}
	if err := x.each(ctx, slices.DeleteFunc(tables, layout.NamesTables)); err != nil {
		return err
	}
	return x.each(ctx, slices.DeleteFunc(uploads, func(key string) bool { return !layout.NamesTables(key) }))
}

// waiting copies the segments that are not rolled up, and the quarantined ones.
func (x *backup) waiting(ctx context.Context) error {
	l, err := x.b.ListSegments(ctx)
	if err != nil {
		return err
	}
	for _, s := range l.List {
		body, err := x.object(ctx, s.Key())
		if err != nil {
			return err
		}
		o, err := x.b.ParseSegment(s.Key(), body)
		if err != nil {
			continue // it was rolled up, or is already noted as damaged
		}
		rows := make([]int, x.b.Shards)
		for shard := range rows {
			rows[shard] = o.RowsOf(shard)
		}
		x.segments = append(x.segments, segment{s.Segment, rows})
	}
	return x.all(ctx, layout.Quarantine) // after the segments, because a segment may be quarantined meanwhile
}

// shard copies the objects of a shard, and then its manifest.
func (x *backup) shard(ctx context.Context, shard int) error {
	done := map[string]bool{} // objects that were copied or noted
	missing := ""
	for {
		m, err := x.manifest(ctx, shard)
		if layout.IsWrong(err) {
			return x.lost(ctx, shard, err)
		}
		if err != nil {
			return err
		}
		named := m.Names(shard)
		if named[missing] { // it was not replaced, so it is missing
			done[missing] = true
			if err := x.note(missing, errors.New("it is missing")); err != nil {
				return err
			}
		}
		if missing, err = x.named(ctx, named, done); err != nil {
			return err
		}
		if missing == "" {
			x.wrong = slices.DeleteFunc(x.wrong, func(w Wrong) bool { return done[w.Object] && !named[w.Object] })
			return x.putManifest(shard, m)
		}
	}
}

// manifest returns the newest manifest of a shard, without its owner and without removed objects.
func (x *backup) manifest(ctx context.Context, shard int) (m *layout.Manifest, err error) {
	err = x.patiently(ctx, func() error {
		m, _, err = x.b.Manifest(ctx, shard, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	m = m.Clone()
	m.Owner, m.Removed = "", nil
	return m, nil
}

// named copies the objects of a manifest that are not done. It stops at the first missing one and
// returns it.
func (x *backup) named(ctx context.Context, named, done map[string]bool) (missing string, err error) {
	// The newest objects are copied first, because nodes replace them first.
	keys := slices.SortedFunc(maps.Keys(named), func(a, b string) int {
		return cmp.Or(cmp.Compare(layout.HourOfKey(b), layout.HourOfKey(a)), cmp.Compare(a, b))
	})
	for _, k := range keys {
		if done[k] {
			continue
		}
		body, err := x.object(ctx, k)
		if err != nil {
			return "", err
		}
		if body == nil && !x.noted(k) {
			return k, nil
		}
		done[k] = true
	}
	return "", nil
}

// putManifest copies the manifest of a shard, unless it was never written.
func (x *backup) putManifest(shard int, m *layout.Manifest) error {
	if m.Nonce == "" {
		return nil
	}
	for _, h := range m.Hours {
		for _, f := range h.Runs {
			x.traces += uint64(f.Rows)
		}
	}
	for _, s := range x.segments {
		if !m.Has(s.Segment) {
			x.traces += uint64(s.rows[shard])
		}
	}
	body, err := m.Encode(x.b.Codec, shard)
	if err != nil {
		return err
	}
	return x.out.put(layout.ManifestKey(shard), body)
}

// lost copies all objects of a shard whose manifest is lost or damaged, so that the shard can be
// repaired after a restore as well.
func (x *backup) lost(ctx context.Context, shard int, why error) error {
	if err := x.note(layout.ManifestKey(shard), why); err != nil {
		return err
	}
	for _, kind := range []string{"raw/", "hours/", "days/", "shard/"} {
		if err := x.all(ctx, kind+layout.ShardName(shard)+"/"); err != nil {
			return err
		}
	}
	return nil
}

// all copies the objects with a prefix.
func (x *backup) all(ctx context.Context, prefix string) error {
	keys, err := x.list(ctx, prefix)
	if err != nil {
		return err
	}
	return x.each(ctx, keys)
}

func (x *backup) each(ctx context.Context, keys []string) error {
	for _, k := range keys {
		if _, err := x.object(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// list returns the keys with a prefix that are valid in this bucket.
func (x *backup) list(ctx context.Context, prefix string) (keys []string, err error) {
	for e, err := range x.b.List(ctx, prefix, "") {
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", prefix, err)
		}
		if _, _, ok := x.b.Place(e.Key); ok {
			keys = append(keys, e.Key)
		}
	}
	return keys, nil
}

// object copies an object, and returns its content. It copies damaged objects unchanged. It returns
// nil if the object is missing or cannot be read.
func (x *backup) object(ctx context.Context, key string) ([]byte, error) {
	_, most, ok := x.b.Place(key)
	if !ok {
		return nil, x.note(key, errors.New("this is not a valid key"))
	}
	body, err := x.get(ctx, key, most)
	switch {
	case errors.Is(err, objects.ErrNotFound):
		return nil, nil
	case err != nil && (ctx.Err() != nil || objects.Temporary(err)):
		return nil, err
	case err != nil:
		return nil, x.note(key, err)
	}
	if err := x.b.Check(key, body); err != nil {
		if err := x.note(key, err); err != nil {
			return nil, err
		}
	}
	return body, x.out.put(key, body)
}

// note records that an object is missing or damaged.
func (x *backup) note(key string, why error) error {
	if len(x.wrong) == mostWrong {
		return fmt.Errorf("more than %d objects cannot be read; the last error: %w", mostWrong, why)
	}
	x.wrong = append(x.wrong, Wrong{key, why.Error()})
	return nil
}

func (x *backup) noted(key string) bool {
	return slices.ContainsFunc(x.wrong, func(w Wrong) bool { return w.Object == key })
}

func (x *backup) get(ctx context.Context, key string, most int64) (body []byte, err error) {
	err = x.patiently(ctx, func() error {
		got, err := x.b.Get(ctx, key, most, "")
		if err == nil {
			body = got.Body
		}
		return err
	})
	return body, err
}

// patience is how long Backup retries a request if the bucket is busy or does not respond. A backup
// takes long, and must start again after an error.
const patience = time.Minute

// patiently retries do while the bucket is busy.
func (x *backup) patiently(ctx context.Context, do func() error) error {
	attempts := 0
	for pause := time.Second; ; pause *= 2 {
		err := do()
		if attempts++; !objects.Temporary(err) || pause > patience/2 || x.b.Pause(ctx, attempts, pause) != nil {
			return err
		}
	}
}
