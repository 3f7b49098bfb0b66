package shared

import (
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/test/faultyfs"
)

// The process has no file descriptors left when a generation of commits ends and its files are
// scanned. Its acknowledged traces must not be quarantined as damaged: once there are descriptors,
// they are rolled up.
func TestCommitsCannotBeRead(t *testing.T) {
	now := time.Now()
	f := &faultyfs.FS{}
	d, err := directory.Open(t.TempDir(), directory.Options{MinFree: -1, FS: f, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	n, err := Open(t.Context(), d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	add := func(i byte) {
		t.Helper()
		if _, err := n.Append(t.Context(), []store.Record{testRecord(i, "/a")}); err != nil {
			t.Fatal(err)
		}
	}
	add(1)
	f.Set(faultyfs.Fault{N: 1, Stays: true, Err: syscall.EMFILE, Only: func(op faultyfs.Op) bool {
		return op.Kind == faultyfs.Open && strings.HasSuffix(op.Path, ".sst")
	}})
	now = now.Add(61 * time.Minute) // so that the next commit begins another generation
	add(2)
	if !soon(func() bool { return f.Count() > 0 }) {
		t.Fatal("the generation does not end")
	}
	for range 5 {
		n.RollUp(t.Context())
	}
	if keys := keysUnder(t, n, layout.Quarantine); len(keys) > 0 {
		t.Errorf("quarantined: %q", keys)
	}
	f.Set(faultyfs.Fault{})
	n.RollUp(t.Context())
	if got := idsIn(t, n.Reader); len(got) != 2 {
		t.Errorf("got %d of 2 acknowledged traces", len(got))
	}
	if err := n.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A damaged segment that is empty must not be replaced by an empty object under quarantine/. It
// stays in place, and does not block other segments.
func TestQuarantineWithoutBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		n := openNode(t, s, Options{Flush: time.Millisecond, Shards: 1})
		bad := layout.Segment{Hour: layout.HourOf(n.Now()), Instance: "0123456789ab", Seq: 1}
		if _, err := n.b.Put(t.Context(), bad.Key(), nil, objects.Condition{}); err != nil {
			t.Fatal(err)
		}
		appendTo(t, n, 1)
		settleNode(t.Context(), n, 9)
		if got := countOf(t, n); len(got) != 1 {
			t.Errorf("the other segment is not rolled up: %v", got)
		}
		if keys := keysUnder(t, n, layout.Segments); len(keys) != 1 || keys[0] != bad.Key() {
			t.Errorf("segments: %q", keys)
		}
		if keys := keysUnder(t, n, layout.Quarantine); len(keys) > 0 {
			t.Errorf("quarantined: %q", keys)
		}
	})
}
