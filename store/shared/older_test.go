package shared

import (
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// An older MANIFEST replaces the newest one, as after a manual restore of files. The newer traces
// are in unnamed runs, so responses lack them. The next start and Verify must report that, and
// Repair must add the traces.
func TestOlderManifest(t *testing.T) {
	dir := t.TempDir()
	open := func() *Node {
		d, err := directory.Open(dir, directory.Options{MinFree: -1})
		if err != nil {
			t.Fatal(err)
		}
		n, err := Open(t.Context(), d, Options{Flush: time.Millisecond, Shards: 1})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	n := open()
	add := func(i byte) {
		if _, err := n.Append(t.Context(), []store.Record{testRecord(i, "/a")}); err != nil {
			t.Fatal(err)
		}
		n.RollUp(t.Context())
	}
	add(1)
	old, err := n.b.Get(t.Context(), layout.ManifestKey(0), 1<<20, "")
	if err != nil {
		t.Fatal(err)
	}
	add(2)
	add(3)
	if _, err := n.b.Put(t.Context(), layout.ManifestKey(0), old.Body, objects.Condition{}); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	n = open()
	defer n.Close(t.Context())
	n.RollUp(t.Context())
	got := countOf(t, n)
	v, err := n.Verify(t.Context(), func(int, int, uint64) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || len(n.Warnings()) != 1 || len(v.Findings) == 0 {
		t.Errorf("%d of 3 traces are in responses, warnings: %v, findings: %+v", len(got), n.Warnings(), v.Findings)
	}
	if _, err := n.Repair(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	n.RollUp(t.Context())
	if got, v := countOf(t, n), verified(t, n); len(got) != 3 || len(n.Warnings()) != 0 || len(v.Findings) != 0 {
		t.Errorf("after the repair: %v, warnings: %v, findings: %+v", got, n.Warnings(), v.Findings)
	}
}
