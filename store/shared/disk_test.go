package shared

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// bounded is a directory with a bound, and one without that gets the same.
type bounded struct {
	t         *testing.T
	now       time.Time
	dir       string
	node, all *Node
	rnd       *rand.Rand
	sent      []store.Record
}

func newBounded(t *testing.T, most int64) *bounded {
	b := &bounded{t: t, now: time.Date(2026, 11, 20, 20, 10, 0, 0, time.UTC), dir: t.TempDir(), rnd: rand.New(rand.NewPCG(1, 1))}
	b.node, b.all = b.open(b.dir, most), b.open(t.TempDir(), 0)
	return b
}

func (b *bounded) open(dir string, most int64) *Node {
	b.t.Helper()
	d, err := directory.Open(dir, directory.Options{MinFree: -1, Now: func() time.Time { return b.now }})
	if err != nil {
		b.t.Fatal(err)
	}
	n, err := Open(b.t.Context(), d, Options{MaxDisk: most, Flush: time.Millisecond})
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// hour has an hour go by in which both get traces.
func (b *bounded) hour(traces int) {
	b.t.Helper()
	var recs []store.Record
	for range traces {
		var id store.ID
		binary.BigEndian.PutUint64(id.View[:], b.rnd.Uint64())
		rec := recordOf(id, b.rnd)
		rec.Tags = append(rec.Tags, store.Tag{Key: "feature", Value: id.String()}) // which can not be compressed
		recs = append(recs, rec)
	}
	b.sent = append(b.sent, recs...)
	for _, n := range []*Node{b.node, b.all} {
		if _, err := n.Append(b.t.Context(), recs); err != nil {
			b.t.Fatal(err)
		}
		n.RollUp(b.t.Context())
	}
	b.now = b.now.Add(54 * time.Minute)
	for range 3 { // it is closed, what is too much goes, and is deleted
		b.now = b.now.Add(2 * time.Minute)
		b.node.RollUp(b.t.Context())
		b.all.RollUp(b.t.Context())
	}
}

// same compares what is answered about all time.
func (b *bounded) same() {
	b.t.Helper()
	x := &both{t: b.t, coarse: time.Minute}
	for _, page := range testPages {
		want, werr := x.answers(b.t.Context(), query.Local{Reader: b.all.Reader}, selection.Selection{Page: page})
		got, gerr := x.answers(b.t.Context(), query.Local{Reader: b.node.Reader}, selection.Selection{Page: page})
		if werr != nil || gerr != nil {
			b.t.Fatal(werr, gerr)
		}
		for i := range len(want) - 1 { // the last are the traces
			if got[i] != want[i] {
				b.t.Errorf("%s: answer %d:\nbounded %s\nall     %s", page, i, around(got[i], want[i]), around(want[i], got[i]))
			}
		}
	}
}

// keys returns the objects of a kind, without shard.
func (b *bounded) keys(kind string) (out []string) {
	for _, k := range keysUnder(b.t, b.node, kind) {
		out = append(out, layout.HourOfKey(k))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// soon reports whether something is so within some seconds: what is deleted from Badger goes in the background.
func soon(is func() bool) bool {
	for range 500 {
		if is() {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

// A directory takes no more than it may: the oldest traces go, and then the oldest rollups. What is left is answered as before.
func TestMaxDisk(t *testing.T) {
	const most, folders = 900 << 10, 96 << 10 // the latter of shards, in which there are those of hours
	b := newBounded(t, most)
	before := 0
	for hour := range 14 { // a day ends
		b.hour(150)
		n := int64(0)
		if !soon(func() bool { n = disk.TreeBytes(b.dir) - folders; return n <= most }) {
			t.Fatalf("%v: %d bytes are taken, of %d", b.now, n, most)
		}
		if hour%6 == 5 {
			b.same()
		}
		before = len(b.keys("raw/"))
	}
	if all := keysUnder(t, b.all, "raw/"); before >= 12 || len(all) < 14 {
		t.Errorf("traces of %d hours are there, and without a bound %d objects", before, len(all))
	}
	ids, newest := idsIn(t, b.node.Reader), b.sent[len(b.sent)-300:]
	for _, rec := range newest {
		if !ids[rec.ID] {
			t.Errorf("%s is new, and is not there", rec.ID)
		}
	}
	if _, err := b.node.Append(t.Context(), newest[150:]); err != nil {
		t.Fatal(err)
	}
	b.node.RollUp(t.Context())
	b.same() // what comes twice is known
	var err error
	taken, real := int64(0), int64(0)
	if !soon(func() bool {
		taken, err = b.node.Taken()
		real = disk.TreeBytes(b.dir)
		return err == nil && taken <= real+real/2 && taken >= real/2 // some file systems need nothing for folders
	}) {
		t.Errorf("%d bytes are said to be taken, and %d are; %v", taken, real, err)
	}
	if err := b.node.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	// With less room no traces are left but the newest, and then rollups go.
	b.node = b.open(b.dir, 300<<10)
	for range 3 {
		b.now = b.now.Add(3 * time.Minute)
		b.node.RollUp(t.Context())
	}
	if hours := b.keys("hours/"); len(b.keys("raw/")) > 3 || strings.HasPrefix(hours[0], "20261120") || len(b.keys("days/")) != 1 {
		t.Errorf("traces of %v, rollups of %v and %v are left", b.keys("raw/"), hours, b.keys("days/"))
	}
	st, err := b.node.Select(t.Context(), store.Query{Until: time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)}, store.Wanted{}, func(store.Record) error { return nil }, func(store.Rolled) error { return nil })
	if err != nil || len(st.Widened) == 0 || !st.Complete() {
		t.Errorf("a part of a day is answered by all of it, and that is not said: %+v, %v", st, err)
	}
	b.same()
	if v := verified(t, b.node); len(v.Findings) > 0 {
		t.Errorf("found %+v", v.Findings)
	}
}

// While a manifest is not there, nothing is deleted for want of room.
func TestMaxDiskWithoutManifest(t *testing.T) {
	b := newBounded(t, 0)
	for range 5 {
		b.hour(50)
	}
	if err := b.node.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.node = b.open(b.dir, 1)
	appendTo(t, b.node, 1)
	b.node.round(t.Context(), roll.Work{}) // all manifests are in memory
	before := keysUnder(t, b.node, "raw/")
	manifest := layout.ManifestKey(2)
	got, err := b.node.b.Get(t.Context(), manifest, 1<<20, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.node.b.Delete(t.Context(), manifest); err != nil {
		t.Fatal(err)
	}
	round := func() {
		for range 3 {
			b.now = b.now.Add(3 * time.Minute)
			b.node.RollUp(t.Context())
		}
	}
	round()
	if left := keysUnder(t, b.node, "raw/"); !slices.Equal(left, before) {
		t.Errorf("%d of %d objects are left", len(left), len(before))
	}
	if _, err := b.node.b.Put(t.Context(), manifest, got.Body, objects.Absent); err != nil {
		t.Fatal(err)
	}
	round()
	if left := b.keys("raw/"); len(left) != 2 { // the hour under way, and the one before
		t.Errorf("the traces of %v are left", left)
	}
}

// A bucket has no bound.
func TestMaxDiskOfBucket(t *testing.T) {
	if _, err := Open(t.Context(), fakebucket.New(1).Client().Bucket(time.Now), Options{MaxDisk: 1 << 30}); err == nil {
		t.Error("a bucket is opened with a bound")
	}
}
