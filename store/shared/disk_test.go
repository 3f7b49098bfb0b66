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

// bounded is a directory with a size limit, and one without that receives the same traces.
type bounded struct {
	t         *testing.T
	now       time.Time
	dir       string
	node, all *Node
	rnd       *rand.Rand
	sent      []store.Record
}

func newBounded(t *testing.T, most int64) *bounded {
	b := &bounded{t: t, now: time.Date(2026, 11, 20, 20, 10, 0, 0, time.UTC), dir: t.TempDir(),
		rnd: rand.New(rand.NewPCG(1, 1))}
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

// hour lets an hour pass in which both directories receive traces.
func (b *bounded) hour(traces int) {
	b.t.Helper()
	var recs []store.Record
	for range traces {
		var id store.ID
		binary.BigEndian.PutUint64(id.View[:], b.rnd.Uint64())
		rec := recordOf(id, b.rnd)
		rec.Tags = append(rec.Tags, store.Tag{Key: "feature", Value: id.String()}) // does not compress
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
	for range 3 { // close the hour, remove excess data, and delete it
		b.now = b.now.Add(2 * time.Minute)
		b.node.RollUp(b.t.Context())
		b.all.RollUp(b.t.Context())
	}
}

// same compares query results for all time.
func (b *bounded) same() {
	b.t.Helper()
	x := &both{t: b.t, coarse: time.Minute}
	for _, page := range testPages {
		want, werr := x.answers(b.t.Context(), query.Local{Reader: b.all.Reader}, selection.Selection{Page: page})
		got, gerr := x.answers(b.t.Context(), query.Local{Reader: b.node.Reader}, selection.Selection{Page: page})
		if werr != nil || gerr != nil {
			b.t.Fatal(werr, gerr)
		}
		for i := range len(want) - 1 { // the last results are traces
			if got[i] != want[i] {
				b.t.Errorf("%s: answer %d:\nbounded %s\nall     %s", page, i, around(got[i], want[i]),
					around(want[i], got[i]))
			}
		}
	}
}

// keys returns the keys of a kind of objects, without the shard.
func (b *bounded) keys(kind string) (out []string) {
	for _, k := range keysUnder(b.t, b.node, kind) {
		out = append(out, layout.HourOfKey(k))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// soon waits for a condition for several seconds, because Badger deletes in the background.
func soon(is func() bool) bool {
	for range 500 {
		if is() {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

// A directory keeps within its limit by deleting the oldest traces, and then the oldest rollups.
// Query results for the remaining data do not change.
func TestMaxDisk(t *testing.T) {
	const most, folders = 900 << 10, 96 << 10 // folders: the size of folders of shards and their hours
	b := newBounded(t, most)
	before := 0
	for hour := range 14 { // includes the end of a day
		b.hour(150)
		n := int64(0)
		if !soon(func() bool { n = disk.TreeBytes(b.dir) - folders; return n <= most }) {
			t.Fatalf("%v: got %d bytes, want at most %d", b.now, n, most)
		}
		if hour%6 == 5 {
			b.same()
		}
		before = len(b.keys("raw/"))
	}
	if all := keysUnder(t, b.all, "raw/"); before >= 12 || len(all) < 14 {
		t.Errorf("got traces of %d hours, and %d objects without a limit", before, len(all))
	}
	ids, newest := idsIn(t, b.node.Reader), b.sent[len(b.sent)-300:]
	for _, rec := range newest {
		if !ids[rec.ID] {
			t.Errorf("recent trace %s is missing", rec.ID)
		}
	}
	if _, err := b.node.Append(t.Context(), newest[150:]); err != nil {
		t.Fatal(err)
	}
	b.node.RollUp(t.Context())
	b.same() // duplicates are still detected
	var err error
	taken, real := int64(0), int64(0)
	if !soon(func() bool {
		taken, err = b.node.Taken()
		real = disk.TreeBytes(b.dir)
		return err == nil && taken <= real+real/2 && taken >= real/2 // some file systems use no space for folders
	}) {
		t.Errorf("got a disk usage of %d bytes, want about %d; %v", taken, real, err)
	}
	if err := b.node.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	// With a smaller limit only the newest traces are left, and old rollups are deleted as well.
	b.node = b.open(b.dir, 300<<10)
	for range 3 {
		b.now = b.now.Add(3 * time.Minute)
		b.node.RollUp(t.Context())
	}
	if hours := b.keys("hours/"); len(b.keys("raw/")) > 3 || strings.HasPrefix(hours[0], "20261120") ||
		len(b.keys("days/")) != 1 {
		t.Errorf("traces of %v, rollups of %v and %v are left", b.keys("raw/"), hours, b.keys("days/"))
	}
	st, err := b.node.Select(t.Context(), store.Query{Until: time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)},
		store.Wanted{}, func(store.Record) error {
			return nil
		}, func(store.Rolled) error { return nil })
	if err != nil || len(st.Widened) == 0 || !st.Complete() {
		t.Errorf("part of a day is answered by the whole day without a report: %+v, %v", st, err)
	}
	b.same()
	if v := verified(t, b.node); len(v.Findings) > 0 {
		t.Errorf("found %+v", v.Findings)
	}
}

// While a manifest is missing, no data is deleted to free space.
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
	b.node.round(t.Context(), roll.Work{}) // caches all manifests
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
	if left := b.keys("raw/"); len(left) != 2 { // the current hour and the one before
		t.Errorf("got traces of %v, want two hours", left)
	}
}

// A bucket has no size limit.
func TestMaxDiskOfBucket(t *testing.T) {
	if _, err := Open(t.Context(), fakebucket.New(1).Client().Bucket(time.Now), Options{MaxDisk: 1 << 30}); err == nil {
		t.Error("a bucket is opened with a size limit")
	}
}
