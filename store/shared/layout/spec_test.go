package layout_test

import (
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/test/layouttest"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

const (
	hour = "20261125T10"
	at   = int64(1_795_600_800_000_000) // µs, within that hour
)

// twoPages returns traces of two page views. One view has two chunks and time on two pages.
func twoPages() []layouttest.Row {
	return []layouttest.Row{
		{Page: "/a", View: "first", At: at, Others: []string{"/b"}, Release: "r1",
			Samples: []string{"f", "f;g", "f;g"}},
		{Page: "/a", View: "first", Chunk: 1, At: at + 60, Release: "r1", Samples: []string{"h"}},
		{Page: "/b", View: "first", At: at, Others: []string{"/a"}, Release: "r1", Samples: []string{"f"}},
		{Page: "/b", View: "other", Chunk: 7, At: at + 5, Payload: "not a trace"},
	}
}

func newBucket(t *testing.T) *layout.Bucket {
	return layouttest.NewBucket(t, fakebucket.New(1).Client().Bucket(time.Now), 2)
}

// A segment has its rows and counts once, grouped by shard.
func TestSegmentLiteral(t *testing.T) {
	b := newBucket(t)
	want := layouttest.Segment{Rows: twoPages(), Counts: []layout.Count{
		{Page: "/a", Received: at, Reason: "unsampled", Views: 9},
		{Page: "/b", Received: at + 1, Views: 1, Vitals: []rollup.Vital{{Name: "LCP", Views: 1, Weight: 2_000_000}}},
	}}
	for i := range want.Rows {
		want.Rows[i].Tags = []store.Tag{{Key: "environment", Value: "production"}, {Key: "release", Value: "r1"}}
	}
	const key = "seg/" + hour + "/abc-00000001"
	body, err := want.Encode(b, key)
	if err != nil {
		t.Fatal(err)
	}
	got, err := layouttest.DecodeSegment(t.Context(), b, key, body)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(got.Rows, func(x, y layouttest.Row) int { return strings.Compare(x.Page, y.Page) })
	slices.SortStableFunc(got.Counts, func(x, y layout.Count) int { return strings.Compare(x.Page, y.Page) })
	if !reflect.DeepEqual(got.Rows, want.Rows) {
		t.Errorf("got the rows %+v\nwant %+v", got.Rows, want.Rows)
	}
	if len(got.Counts) != 2 || !reflect.DeepEqual(got.Counts[0], want.Counts[0]) ||
		got.Counts[1].Vitals[0].Weight != 2_000_000 {
		t.Errorf("got the counts %+v, want %+v", got.Counts, want.Counts)
	}
	again, err := got.Encode(b, key)
	if err != nil || !slices.Equal(again, body) {
		t.Errorf("encoding the result returns different bytes, %v", err)
	}
}

// Packed and unpacked runs return the same rows.
func TestRunLiteral(t *testing.T) {
	b := newBucket(t)
	for _, want := range []layouttest.Run{{Rows: twoPages()}, {Rows: twoPages(), Packed: true}, {},
		{Rows: twoPages()[3:], Packed: false}} {
		key := layout.RunKey(0, hour, layout.NewID())
		layouttest.Put(t, b, key, &want)
		got, err := layouttest.DecodeRun(t.Context(), b, key)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
		o, err := b.Open(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if rows, keys, err := o.CountRows(t.Context()); rows != len(want.Rows) || keys != rows || err != nil {
			t.Errorf("got %d rows with %d keys, %v, want %d", rows, keys, err, len(want.Rows))
		}
	}
	want := layout.File{ID: "x", Rows: 4, First: at, Last: at + 60}
	if f := (&layouttest.Run{Rows: twoPages()}).File("x"); f != want {
		t.Errorf("got the file %+v, want %+v", f, want)
	}
}

// Rollups are the sum of the traces in a run and the counts in a segment.
func TestRollupsLiteral(t *testing.T) {
	b := newBucket(t)
	rows := twoPages()[:3]
	for _, closed := range []bool{false, true} {
		spec := &layouttest.Rollups{Rows: rows, Closed: closed, Counts: []layout.Count{
			{Page: "/a", Reason: "unsampled", Views: 9},
			{Page: "/c", Views: 1, Vitals: []rollup.Vital{{Name: "LCP", Views: 1, Weight: 2_000_000}}},
		}}
		key := layout.HourKey(0, hour, layout.NewID())
		layouttest.Put(t, b, key, spec)
		got, isClosed, err := layouttest.DecodeRollups(t.Context(), b, key)
		if err != nil || isClosed != closed {
			t.Fatalf("got closed %t, %v, want %t", isClosed, err, closed)
		}
		none := map[string]int64{}
		all := func(n uint64, first, last int64) layout.Catalog {
			x := layout.Counted{Traces: n, First: first, Last: last}
			return layout.Catalog{store.Tag{}: x, store.Tag{Key: "release", Value: "r1"}: x}
		}
		want := map[string]layouttest.Sums{
			"/a": {Views: 1, Traces: 2, Self: map[string]int64{"f": 10_000, "f;g": 20_000, "h": 10_000},
				Outcomes: map[string]int64{"unsampled": 9}, Vitals: none, Catalog: all(2, at, at+60)},
			"/b": {Views: 1, Traces: 1, Self: map[string]int64{"f": 10_000}, Outcomes: none, Vitals: none,
				Catalog: all(1, at, at)},
			"/c": {Self: none, Outcomes: none, Vitals: map[string]int64{"LCP": 1}, Catalog: layout.Catalog{}},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("closed %t: got %+v\nwant %+v", closed, got, want)
		}
	}
}

// manifest returns a manifest with every field set.
func manifest() *layout.Manifest {
	run := layouttest.Run{Rows: twoPages()}
	file := run.File("RUN")
	return &layout.Manifest{
		Version: 1, Owner: "owner", Nonce: "nonce", AsOf: at,
		Instances: map[string]*layout.Consumed{"abc": {Ranges: [][2]uint64{{1, 3}, {5, 5}}, Last: at}},
		Hours: map[string]*layout.Hour{hour: {
			Runs: []layout.File{file}, Rollups: []layout.File{{ID: "SUM", Size: 100, Tier: -1}},
			Traces: 4, Duplicates: 1, First: at, Last: at + 60, Sealed: true,
			Quarantined: []layout.Quarantined{{
				Key: layout.RunKey(0, hour, "BAD"), File: layout.File{ID: "BAD", Rows: 7}, At: at,
				Why: "damaged", Lost: 2,
			}},
		}},
		Days: map[string]*layout.Day{"20261124": {
			Rollups: []layout.File{{ID: "DAY"}}, Sources: []string{"20261124T23"}, Traces: 1, First: at, Last: at,
		}},
		Removed:   []layout.Removed{{Key: layout.RunKey(0, hour, "OLD"), At: at}},
		Kept:      &layout.Retention{Traces: 1, Hours: 2, Days: 3},
		Deletions: map[string]layout.Deleting{"ID": {}},
	}
}

// A manifest is decoded with every field, and names all of its objects, including quarantined ones.
func TestManifestLiteral(t *testing.T) {
	b := newBucket(t)
	body, err := manifest().Encode(b.Codec, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.DecodeManifest(0, body)
	if err != nil || !reflect.DeepEqual(got, manifest()) {
		t.Fatalf("got %+v, %v\nwant %+v", got, err, manifest())
	}
	for what, err := range map[string]error{
		"of another shard": func() error { _, err := b.DecodeManifest(1, body); return err }(),
		"cut off":          func() error { _, err := b.DecodeManifest(0, body[:len(body)-1]); return err }(),
	} {
		if !errors.Is(err, block.ErrDamaged) {
			t.Errorf("a manifest %s: got %v", what, err)
		}
	}
	if !reflect.DeepEqual(got.Clone(), manifest()) {
		t.Errorf("the copy differs: %+v", got.Clone())
	}
	want := []string{"days/000/20261124/DAY.sums", "hours/000/" + hour + "/SUM.sums",
		"raw/000/" + hour + "/BAD.run", "raw/000/" + hour + "/RUN.run"}
	if names := slices.Sorted(maps.Keys(got.Names(0))); !slices.Equal(names, want) {
		t.Errorf("got the names %q, want %q", names, want)
	}
}

// Each of these manifests has one invalid field.
func TestWrongManifests(t *testing.T) {
	b := newBucket(t)
	for name, x := range map[string]struct {
		change func(m *layout.Manifest)
		want   string
	}{
		"version": {func(m *layout.Manifest) { m.Version = 2 },
			"the manifest has version 2, this release supports up to 1"},
		"hour":        {func(m *layout.Manifest) { m.Hours["20261125T1"] = &layout.Hour{} }, `hour "20261125T1"`},
		"no hour":     {func(m *layout.Manifest) { m.Hours[hour] = nil }, `hour "` + hour + `"`},
		"day":         {func(m *layout.Manifest) { m.Days["20261131"] = &layout.Day{} }, `day "20261131"`},
		"no day":      {func(m *layout.Manifest) { m.Days["20261124"] = nil }, `day "20261124"`},
		"no instance": {func(m *layout.Manifest) { m.Instances["def"] = nil }, `instance "def"`},
		"backward": {func(m *layout.Manifest) { m.Instances["abc"].Ranges = [][2]uint64{{3, 1}} },
			`segments [[3 1]] of "abc"`},
		"from zero": {func(m *layout.Manifest) { m.Instances["abc"].Ranges = [][2]uint64{{0, 1}} },
			`segments [[0 1]] of "abc"`},
		"neighbours": {func(m *layout.Manifest) { m.Instances["abc"].Ranges = [][2]uint64{{1, 3}, {4, 5}} },
			`segments [[1 3] [4 5]] of "abc"`},
		"out of order": {func(m *layout.Manifest) { m.Instances["abc"].Ranges = [][2]uint64{{5, 6}, {1, 2}} },
			`segments [[5 6] [1 2]] of "abc"`},
	} {
		m := manifest()
		x.change(m)
		body, err := m.Encode(b.Codec, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.DecodeManifest(0, body)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want %q", name, err, x.want)
		}
		if _, newer := errors.AsType[*layout.VersionError](err); !newer && !errors.Is(err, block.ErrDamaged) {
			t.Errorf("%s: %v does not wrap ErrDamaged", name, err)
		}
	}
}

// An object of any kind is damaged if it is read under another key, is truncated, or has a changed
// byte. A run is also damaged if its index contradicts its content.
func TestWrongObjects(t *testing.T) {
	b := newBucket(t)
	run := layout.RunKey(0, hour, "RUN")
	for key, spec := range map[string]layouttest.Spec{
		"seg/" + hour + "/abc-00000001":   &layouttest.Segment{Rows: twoPages()},
		run:                               &layouttest.Run{Rows: twoPages()},
		layout.RunKey(0, hour, "PACKED"):  &layouttest.Run{Rows: twoPages(), Packed: true},
		layout.HourKey(0, hour, "SUM"):    &layouttest.Rollups{Rows: twoPages()[:3]},
		layout.HourKey(0, hour, "CLOSED"): &layouttest.Rollups{Rows: twoPages()[:3], Closed: true},
	} {
		body, err := spec.Encode(b, key)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Check(key, body); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		for what, wrong := range map[string]struct {
			key  string
			body []byte
		}{
			"under another key": {strings.Replace(key, hour, "20261125T11", 1), body},
			"without its end":   {key, body[:len(body)-1]},
			"without its start": {key, body[1:]},
			"with a byte more":  {key, append(slices.Clone(body), 0)},
			"empty":             {key, nil},
		} {
			if err := b.Check(wrong.key, wrong.body); !errors.Is(err, block.ErrDamaged) {
				t.Errorf("%s %s: got %v", key, what, err)
			}
		}
		for i := range body {
			changed := slices.Clone(body)
			changed[i] ^= 1
			if err := b.Check(key, changed); !errors.Is(err, block.ErrDamaged) {
				t.Errorf("%s with byte %d of %d changed: got %v", key, i, len(body), err)
			}
		}
	}
	twice := append(twoPages()[:1], twoPages()[:2]...)
	layouttest.Put(t, b, run, &layouttest.Run{Rows: twice})
	o, err := b.Open(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.FromTraces(t.Context(), []*layout.Object{o}, func(string, *layout.Page) error { return nil })
	if !errors.Is(err, block.ErrDamaged) || !strings.Contains(err.Error(), "duplicate trace") {
		t.Errorf("a duplicate trace: got %v", err)
	}
	if _, err := b.Open(t.Context(), layout.RunKey(0, hour, "NONE")); !errors.Is(err, objects.ErrNotFound) ||
		layout.FailedObject(err) != layout.RunKey(0, hour, "NONE") {
		t.Errorf("a missing run: got %v", err)
	}
}

// The tables of docs/storage.md list all fields of manifests.
func TestDocumentedFields(t *testing.T) {
	text, err := os.ReadFile("../../../docs/storage.md")
	if err != nil {
		t.Fatal(err)
	}
	_, doc, _ := strings.Cut(string(text), "\n## The manifest\n")
	doc, _, _ = strings.Cut(doc, "\n## ")
	for _, v := range []any{layout.Manifest{}, layout.Consumed{}, layout.Hour{}, layout.Day{}, layout.File{},
		layout.Quarantined{}, layout.Removed{}, layout.Retention{}} {
		of := reflect.TypeOf(v)
		for f := range of.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && !strings.Contains(doc, "`"+name+"`") {
				t.Errorf("storage.md lacks the field %q of %s.%s", name, of, f.Name)
			}
		}
	}
}
