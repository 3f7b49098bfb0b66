package shared

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/test/scratchdisk"
)

// idsIn returns the ids of all traces that a reader finds.
func idsIn(t *testing.T, r *Reader) map[store.ID]bool {
	t.Helper()
	found := map[store.ID]bool{}
	st, err := r.Scan(t.Context(), store.Query{}, func(rec store.Record) error {
		if found[rec.ID] {
			t.Errorf("duplicate trace %s", rec.ID)
		}
		found[rec.ID] = true
		return nil
	})
	if err != nil || len(st.Unreadable) > 0 {
		t.Fatalf("got %v, %v", st.Unreadable, err)
	}
	return found
}

// A new node in a directory does not wait for earlier ones. It immediately rolls up the traces that
// a killed node has acknowledged, and a node that is closed leaves nothing to roll up.
func TestAlone(t *testing.T) {
	dir := t.TempDir()
	open := func() (*Node, *directory.Directory) {
		d, err := directory.Open(dir, directory.Options{MinFree: -1})
		if err != nil {
			t.Fatal(err)
		}
		n, err := Open(t.Context(), d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return n, d
	}
	n, d := open()
	for i := range 3 {
		res, err := n.Append(t.Context(), []store.Record{testRecord(byte(i), "/a")})
		if err != nil || res.Durability != store.Local || res.Stored != 1 {
			t.Fatalf("got %+v, %v", res, err)
		}
	}
	if !n.Waits(t.Context()) {
		t.Error("no traces are waiting to be rolled up")
	}
	if err := d.Close(); err != nil { // the process is killed and its lock released
		t.Fatal(err)
	}
	n, _ = open()
	n.RollUp(t.Context())
	if got := idsIn(t, n.Reader); len(got) != 3 || n.Waits(t.Context()) {
		t.Errorf("after a kill: got %d traces, more wait: %v", len(got), n.Waits(t.Context()))
	}
	if _, err := n.Append(t.Context(), []store.Record{testRecord(3, "/a"), testRecord(1, "/a")}); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	place, err := OpenPlace(t.Context(), dir, PlaceOptions{ReadOnly: true}) // the objects identify the directory
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(t.Context(), place, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := idsIn(t, r); len(got) != 4 || r.Waits(t.Context()) {
		t.Errorf("after the end: got %d traces, more wait: %v", len(got), r.Waits(t.Context()))
	}
}

// Traces are rejected with ErrNoSpace while the disk is full, and accepted again when there is
// space. Traces that were acknowledged before are kept.
func TestFullDisk(t *testing.T) {
	fs := scratchdisk.Tmpfs(t, 96<<20)
	d, err := directory.Open(filepath.Join(fs.Dir, "data"), directory.Options{MinFree: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	n, err := Open(t.Context(), d, Options{Flush: time.Millisecond, RollRows: 16})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	stored := map[store.ID]bool{}
	put := func() error {
		rec := testRecord(0, "/a")
		for i := range rec.ID.View {
			rec.ID.View[i] = byte(rnd.Uint32())
		}
		rec.Payload = make([]byte, 256<<10) // not a valid trace, which does not matter here
		for i := range rec.Payload {
			rec.Payload[i] = byte(rnd.Uint32())
		}
		_, err := n.Append(t.Context(), []store.Record{rec})
		if err == nil {
			stored[rec.ID] = true
		}
		return err
	}
	fill := func() {
		for range 1000 {
			time.Sleep(11 * time.Millisecond) // the free space is checked every 10 ms
			if err = put(); err != nil {
				break
			}
		}
		if !errors.Is(err, store.ErrNoSpace) {
			t.Fatalf("got %v, want ErrNoSpace", err)
		}
	}
	fill()
	for i := 0; n.Waits(t.Context()); i++ { // rolling up frees space
		if n.RollUp(t.Context()); i == 100 {
			t.Fatal("traces are not rolled up")
		}
		time.Sleep(time.Duration(i) * time.Millisecond) // Badger deletes in the background
	}
	fill()
	if !soon(func() bool { // the process must not end if the disk becomes full while Badger is being closed
		logs, err := filepath.Glob(filepath.Join(fs.Dir, "data", directory.Commits, "*", "*.mem"))
		return err == nil && len(logs) <= 1
	}) {
		t.Fatal("generations do not end")
	}
	fs.Fill(1<<20, 1<<20, 0)
	time.Sleep(time.Second)
	if err := n.Unready(); !errors.Is(err, objects.ErrNoSpace) {
		t.Errorf("got %v with a full disk", err)
	}
	n.RollUp(t.Context()) // there is no space for this either
	fs.Empty()
	time.Sleep(time.Second)
	if err := n.Unready(); err != nil && !errors.Is(err, objects.ErrNoSpace) {
		t.Errorf("got %v", err)
	}
	for i := 0; i < 20 || n.Waits(t.Context()) && i < 100; i++ {
		n.RollUp(t.Context())
		time.Sleep(time.Duration(i) * time.Millisecond)
	}
	got := idsIn(t, n.Reader)
	for id := range stored {
		if !got[id] {
			t.Errorf("acknowledged trace %s is missing", id)
		}
	}
	if err := n.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// A directory on a full disk can be opened and queried, and waiting traces are rolled up. Only new
// traces are rejected.
func TestOpenOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	open := func(minFree int64) *Node {
		d, err := directory.Open(dir, directory.Options{MinFree: minFree})
		if err != nil {
			t.Fatal(err)
		}
		n, err := Open(t.Context(), d, Options{Flush: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	n := open(-1)
	if _, err := n.Append(t.Context(), []store.Record{testRecord(1, "/a")}); err != nil {
		t.Fatal(err)
	}
	room, _ := n.Room()
	if err := n.b.Store.(*directory.Directory).Close(); err != nil { // so that the trace is not rolled up yet
		t.Fatal(err)
	}
	n = open(room.Free + room.Free/2) // half of it is reserved for rolling up
	if _, err := n.Append(t.Context(), []store.Record{testRecord(2, "/a")}); !errors.Is(err, store.ErrNoSpace) {
		t.Errorf("got %v, want ErrNoSpace", err)
	}
	if !n.Waits(t.Context()) {
		t.Error("no traces are waiting to be rolled up")
	}
	n.RollUp(t.Context())
	if got := idsIn(t, n.Reader); len(got) != 1 || n.Waits(t.Context()) {
		t.Errorf("got %d traces, more wait: %v", len(got), n.Waits(t.Context()))
	}
	if err := n.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A commit that is damaged on disk before it is rolled up is quarantined. Only its traces are lost;
// other commits are rolled up.
func TestDamagedCommit(t *testing.T) {
	dir := t.TempDir()
	open := func() *directory.Directory {
		d, err := directory.Open(dir, directory.Options{MinFree: -1})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := open()
	n, err := Open(t.Context(), d, Options{Flush: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for i := range byte(3) {
		if _, err := n.Append(t.Context(), []store.Record{testRecord(i, "/a")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil { // the process is killed
		t.Fatal(err)
	}
	d = open()
	tables, err := filepath.Glob(filepath.Join(dir, directory.Commits, "*", "*.sst"))
	if err != nil || len(tables) != 1 {
		t.Fatalf("got %v, %v", tables, err)
	}
	data, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	second := []byte("-00000002")
	data[bytes.LastIndex(data, second)+len(second)]++ // the first byte of the segment
	if err := os.WriteFile(tables[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err = Open(t.Context(), d, Options{}); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		n.RollUp(t.Context())
	}
	if got := idsIn(t, n.Reader); len(got) != 2 || n.Counters().QuarantinedSegments != 1 || n.Waits(t.Context()) {
		t.Errorf("got %v, %d are quarantined", got, n.Counters().QuarantinedSegments)
	}
	if err := n.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A query does not wait for segments that a full disk prevents from being rolled up. The response
// reports that they are missing.
func TestQueryOnFullDisk(t *testing.T) {
	fs := scratchdisk.Tmpfs(t, 96<<20)
	d, err := directory.Open(filepath.Join(fs.Dir, "data"), directory.Options{MinFree: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	n, err := Open(t.Context(), d, Options{Flush: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Append(t.Context(), []store.Record{testRecord(1, "/a")}); err != nil {
		t.Fatal(err)
	}
	fs.Fill(1<<20, 1<<20, 0)
	time.Sleep(time.Second) // the free space is checked every 10 ms
	st, err := n.Scan(t.Context(), store.Query{}, func(store.Record) error { return nil })
	if err != nil || len(st.Unreadable) != n.b.Shards || !strings.Contains(st.Unreadable[0].Err.Error(),
		"1 segments wait to be rolled up, and the disk is full") {
		t.Errorf("got %v, %v", st.Unreadable, err)
	}
	fs.Empty()
	if err := n.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// The root of a file system can be a new data directory. A single request does not wait for others.
func TestAloneOnRoot(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "lost+found"), 0o700); err != nil {
		t.Fatal(err)
	}
	place, err := OpenPlace(t.Context(), dir, PlaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := Open(t.Context(), place, Options{Flush: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := n.Append(ctx, []store.Record{testRecord(1, "/a")}); err != nil {
		t.Error(err)
	}
	if err := n.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
