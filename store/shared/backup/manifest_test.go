package backup

import (
	"bytes"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// newTestBackup returns a backup of a place with two shards, and m as the manifest of shard 0.
func newTestBackup(t *testing.T, m *layout.Manifest) *backup {
	t.Helper()
	b, err := layout.Create(t.Context(), memory{}, options())
	if err != nil {
		t.Fatal(err)
	}
	body, err := m.Encode(b.Codec, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.PutObject(t.Context(), layout.ManifestKey(0), body); err != nil {
		t.Fatal(err)
	}
	return &backup{b: b, out: newWriter(new(bytes.Buffer), time.Unix(1_800_000_000, 0))}
}

func testManifest() *layout.Manifest {
	return &layout.Manifest{
		Version: 1, Nonce: "x", Owner: "0123456789ab",
		Instances: map[string]*layout.Consumed{}, Days: map[string]*layout.Day{},
		Hours: map[string]*layout.Hour{"20261125T10": {Runs: []layout.File{{ID: "a", Rows: 5}, {ID: "b", Rows: 7}}}},
	}
}

// A backup counts the traces in runs, and the traces of segments that were not rolled up yet.
func TestTracesOfBackup(t *testing.T) {
	m := testManifest()
	x := newTestBackup(t, m)
	for seq := range uint64(3) {
		s := layout.Segment{Hour: "20261125T11", Instance: "0123456789ab", Seq: seq + 1}
		x.segments = append(x.segments, segment{s, []int{100, 1000}})
		if seq < 2 {
			m.Take(s, time.Unix(1_800_000_000, 0))
		}
	}
	if err := x.putManifest(0, m); err != nil {
		t.Fatal(err)
	}
	if want := uint64(5 + 7 + 100); x.traces != want {
		t.Errorf("got %d traces, want %d", x.traces, want)
	}
	if err := x.putManifest(1, &layout.Manifest{}); err != nil || x.traces != 112 {
		t.Errorf("a shard that was never written: got %d traces and error %v, want 112", x.traces, err)
	}
}

// The manifest of a backup has no owner and no removed objects.
func TestManifestOfBackup(t *testing.T) {
	m := testManifest()
	m.Remove(time.Unix(1_800_000_000, 0), layout.RunKey(0, "20261125T10", "old"))
	x := newTestBackup(t, m)
	got, err := x.manifest(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got.Owner != "" || len(got.Removed) > 0 || len(got.Hours) != 1 {
		t.Errorf("got the owner %q, %d removed objects and %d hours, want only one hour",
			got.Owner, len(got.Removed), len(got.Hours))
	}
	if known, _ := x.b.NewestKnown(0); known.Owner == "" || len(known.Removed) != 1 {
		t.Error("the cached manifest was changed")
	}
}
