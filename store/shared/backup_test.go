package shared

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/backup"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// emptyPlace returns an empty directory or bucket.
func emptyPlace(t testing.TB, inBucket bool, now func() time.Time) objects.Store {
	t.Helper()
	if inBucket {
		s := fakebucket.New(1)
		s.Now = now
		return s.Client().Bucket(now)
	}
	d, err := directory.Open(filepath.Join(t.TempDir(), "new"), directory.Options{MinFree: -1, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// restored restores a backup into an empty location.
func restored(t testing.TB, data []byte, to objects.Store) backup.Stats {
	t.Helper()
	a, err := backup.Open(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	stats, err := Restore(t.Context(), a, to, Options{}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// slow is a writer that runs other actions while a backup is written.
type slow struct {
	bytes.Buffer
	before func(p []byte)
}

func (s *slow) Write(p []byte) (int, error) {
	s.before(p)
	return s.Buffer.Write(p)
}

// entries returns the names of the entries in a backup.
func entries(t testing.TB, data []byte) (names []string) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
}

// backUp makes a backup while the nodes keep running. It reports whether objects were replaced
// meanwhile.
func (w *world) backUp(to objects.Store) (replaced bool) {
	ctx := w.t.Context()
	c := w.server.Client()
	r, err := OpenReader(ctx, c.Bucket(func() time.Time { return w.now }), Options{})
	if err != nil {
		w.fail("%v", err)
	}
	r.b.Pause = func(context.Context, int, time.Duration) error { return nil }
	left := 400 // a limit, because each action makes the backup longer
	step := func() {
		for range min(left, w.rnd.IntN(30)) {
			left--
			w.step()
		}
	}
	c.Before = func(*http.Request) { step() }
	out := &slow{before: func([]byte) { step() }}
	w.say("a backup begins")
	stats, err := r.Backup(ctx, out)
	if err != nil || len(stats.Wrong) > 0 {
		w.fail("back up: %v, %+v", err, stats)
	}
	w.say("the backup ends")
	got := restored(w.t, out.Bytes(), to)
	if len(got.Wrong) > 0 || got.Objects != stats.Objects || got.Traces != stats.Traces || !got.Made.Equal(stats.Made) {
		w.fail("backed up %+v, restored %+v", stats, got)
	}
	return wasReplaced(w.t, out.Bytes(), to)
}

// wasReplaced reports whether objects in a backup are missing from the location it was restored
// into, because they were replaced while the backup was made.
func wasReplaced(t testing.TB, data []byte, to objects.Store) bool {
	t.Helper()
	there := map[string]bool{"END.json": true}
	for e, err := range to.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		there[e.Key] = true
	}
	return slices.ContainsFunc(entries(t, data), func(k string) bool { return !there[k] })
}

// TestBackup makes backups of a bucket while random things happen and objects are deleted before
// they are copied. Each backup has every trace that was acknowledged before it, once, and rollups
// that equal the sum of the traces.
func TestBackup(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 4
	}
	var replaced atomic.Int64
	t.Run("all", func(t *testing.T) {
		for seed := range seeds {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				wrong, log := backUpAnything(t, seed, &replaced)
				if wrong != "" {
					t.Errorf("%s\n%s", wrong, strings.Join(log[max(0, len(log)-60):], "\n"))
				}
			})
		}
	})
	t.Logf("objects were replaced in %d of %d backups", replaced.Load(), seeds)
}

func backUpAnything(t *testing.T, seed uint64, replaced *atomic.Int64) (wrong string, log []string) {
	w := newWorld(t, seed, []float64{0, 0.02}[seed%2])
	defer w.caught(&wrong, &log)
	for range 100 {
		w.step()
	}
	before := *w
	before.acked, before.views = map[store.ID][]time.Time{}, maps.Clone(w.views)
	for id, times := range w.acked {
		before.acked[id] = slices.Clone(times)
	}
	now := func() time.Time { return w.now }
	to := emptyPlace(t, seed%4 < 2, now)
	if w.backUp(to) {
		replaced.Add(1)
	}
	for o, x := range w.views { // it may contain traces that arrived during the backup
		before.views[o] = [2]int64{before.views[o][0], x[1]}
	}
	before.now, before.sent = w.now, w.sent
	n, err := Open(t.Context(), to, Options{Retention: 30 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	before.settleNode(n)
	before.check(n)
	w.sameAgain(w.settle(), seed%4 < 2)
	return "", nil
}

// sameAgain makes a backup of an idle bucket, and compares all query results with the copy.
func (w *world) sameAgain(n *Node, inBucket bool) {
	var out bytes.Buffer
	if _, err := n.Backup(w.t.Context(), &out); err != nil {
		w.fail("back up: %v", err)
	}
	to := emptyPlace(w.t, inBucket, func() time.Time { return w.now })
	restored(w.t, out.Bytes(), to)
	r, err := OpenReader(w.t.Context(), to, Options{Retention: 30 * time.Hour})
	if err != nil {
		w.fail("%v", err)
	}
	b := &both{coarse: 1}
	for _, page := range append([]string{""}, testPages...) {
		for _, since := range []time.Duration{0, 3 * time.Hour, 40 * time.Hour} {
			sel := selection.Selection{Page: page}
			if since > 0 {
				sel.Since = w.now.Add(-since)
			}
			want, err := b.answers(w.t.Context(), query.Local{Reader: n.Reader}, sel)
			if err != nil {
				w.fail("%v", err)
			}
			got, err := b.answers(w.t.Context(), query.Local{Reader: r}, sel)
			if err != nil || !slices.Equal(got, want) {
				w.fail("%q since %v: the responses of the copy differ, or failed: %v", page, since, err)
			}
		}
	}
	if v, err := r.Verify(w.t.Context(), quietly); err != nil || len(v.Findings) > 0 {
		w.fail("verify the copy: %+v, %v", v.Findings, err)
	}
}

// Traces are stored, rolled up and swept in a directory while it is backed up, with a clock that
// runs fast.
func TestBackupOfDirectory(t *testing.T) {
	var ahead, rounds atomic.Int64
	start := time.Now()
	now := func() time.Time { return start.Add(time.Since(start) + time.Duration(ahead.Load())) }
	n, err := Open(t.Context(), emptyPlace(t, false, now), Options{Flush: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	acked := map[store.ID]bool{}
	var mu sync.Mutex
	appendOne := func() {
		rec := recordOf(idOf(rnd), rnd)
		if _, err := n.Append(t.Context(), []store.Record{rec}); err != nil {
			t.Error(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		acked[rec.ID] = true
	}
	for range 40 {
		appendOne()
		n.RollUp(t.Context())
		ahead.Add(int64(2 * time.Minute))
	}
	appendOne()
	want := maps.Clone(acked)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				appendOne()
				n.RollUp(t.Context())
				ahead.Add(int64(20 * time.Minute))
				rounds.Add(1)
			}
		}
	}()
	waits := 4
	out := &slow{before: func(p []byte) {
		// Wait until the hour is closed, so that its remaining objects are copied afterwards.
		if waits > 0 && bytes.Contains(p, []byte("hours/")) {
			waits--
			for until := rounds.Load() + 8; rounds.Load() < until; {
				time.Sleep(time.Millisecond)
			}
		}
	}}
	stats, err := n.Backup(t.Context(), out)
	close(stop)
	<-done
	if err != nil || len(stats.Wrong) > 0 {
		t.Fatalf("got %+v, %v", stats, err)
	}
	to := emptyPlace(t, true, now)
	restored(t, out.Bytes(), to)
	if !wasReplaced(t, out.Bytes(), to) {
		t.Error("no objects were replaced during the backup, so this test proves little")
	}
	copied, err := Open(t.Context(), to, Options{})
	if err != nil {
		t.Fatal(err)
	}
	copied.RollUp(t.Context())
	got := map[store.ID]bool{}
	if _, err := copied.Scan(t.Context(), store.Query{}, func(rec store.Record) error {
		got[rec.ID] = true
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for id := range want {
		if !got[id] {
			t.Errorf("trace %s was acknowledged before the backup, but is missing from it", id)
		}
	}
	if v := verified(t, copied); len(v.Findings) > 0 {
		t.Errorf("got %+v", v.Findings)
	}
}

// A segment is rolled up and deleted at the worst moments: just before and just after the manifests
// that name it were copied.
func TestBackupOfSegments(t *testing.T) {
	for _, inBucket := range []bool{true, false} {
		for _, moment := range []string{"FORMAT", "seg/", "raw/", "MANIFEST"} {
			rnd := rand.New(rand.NewPCG(1, 6))
			n, err := Open(t.Context(), emptyPlace(t, inBucket, time.Now), Options{Flush: time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			appendSome := func() {
				for range 4 {
					want++
					if _, err := n.Append(t.Context(), []store.Record{recordOf(idOf(rnd), rnd)}); err != nil {
						t.Fatal(err)
					}
				}
			}
			appendSome()
			n.RollUp(t.Context())
			appendSome()
			out := &slow{before: func(p []byte) {
				if bytes.Contains(p, []byte(moment)) {
					n.RollUp(t.Context())
				}
			}}
			if _, err := n.Backup(t.Context(), out); err != nil {
				t.Fatal(err)
			}
			if left := keysUnder(t, n, "seg/"); len(left) > 0 {
				t.Fatalf("%s: %v are left", moment, left)
			}
			to := emptyPlace(t, inBucket, time.Now)
			restored(t, out.Bytes(), to)
			copied, err := Open(t.Context(), to, Options{})
			if err != nil {
				t.Fatal(err)
			}
			copied.RollUp(t.Context())
			got := map[store.ID]bool{}
			if _, err := copied.Scan(t.Context(), store.Query{}, func(rec store.Record) error {
				got[rec.ID] = true
				return nil
			}); err != nil || len(got) != want {
				t.Errorf("rolled up at %s: got %d of %d traces, %v", moment, len(got), want, err)
			}
		}
	}
}

// Missing and damaged objects are reported, and the copy has the same damage as the original.
func TestBackupOfDamage(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for i, harm := range []struct {
		prefix  string
		deleted bool
	}{{"raw/", true}, {"raw/", false}, {"hours/", true}, {"hours/", false}, {"shard/", true}, {"shard/", false},
		{"seg/", false}} {
		b := newBoth(t)
		for range 9 {
			b.append(recordOf(idOf(rnd), rnd))
		}
		b.settle()
		b.append(recordOf(idOf(rnd), rnd))
		k := keysUnder(t, b.node, harm.prefix)[0]
		damage(t, b.node, k, harm.deleted)
		r, err := OpenReader(t.Context(), b.node.b.Store, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		stats, err := r.Backup(t.Context(), &out)
		if err != nil || len(stats.Wrong) != 1 && harm.prefix != "shard/" || stats.Wrong[0].Object != k {
			t.Fatalf("%+v of %s: got %+v, %v", harm, k, stats, err)
		}
		to := emptyPlace(t, i%2 == 0, func() time.Time { return b.now })
		if got := restored(t, out.Bytes(), to); len(got.Wrong) == 0 || got.Wrong[0] != stats.Wrong[0] {
			t.Errorf("%+v: restored %+v", harm, got)
		}
		copied, err := OpenReader(t.Context(), to, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, werr := r.Verify(t.Context(), quietly)
		got, gerr := copied.Verify(t.Context(), quietly)
		if werr != nil || gerr != nil || len(got.Findings) != len(want.Findings) ||
			got.Findings[0].Object != want.Findings[0].Object || got.Findings[0].Mends != want.Findings[0].Mends {
			t.Errorf("%+v: got %+v, %v in the copy, want %+v, %v as in the original", harm, got, gerr, want, werr)
		}
	}
}

// A backup that is truncated or changed in any place is rejected, and the location is empty
// afterwards.
func TestBackupTorn(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	b := newBoth(t)
	b.append(recordOf(idOf(rnd), rnd), recordOf(idOf(rnd), rnd))
	b.settle()
	b.append(recordOf(idOf(rnd), rnd))
	var out bytes.Buffer
	if _, err := b.node.Backup(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	whole := out.Bytes()
	ended := bytes.Index(whole, []byte(`{"backup":1`))
	now := func() time.Time { return b.now }
	for range 60 {
		data := bytes.Clone(whole)
		what := "cut off"
		if rnd.IntN(2) == 0 {
			data = data[:rnd.IntN(ended+100)]
		} else {
			what = "changed"
			at := rnd.IntN(ended)
			for data[at] == 0 || at%512 >= 100 && bytes.Contains(data[at/512*512:][:512], []byte("ustar")) {
				at = rnd.IntN(ended) // padding, and header fields other than the name, are not verified
			}
			data[at] ^= 1 << rnd.IntN(8)
		}
		to := emptyPlace(t, false, now)
		a, err := backup.Open(bytes.NewReader(data))
		if err == nil {
			_, err = Restore(t.Context(), a, to, Options{}, func(string) {})
		}
		if err == nil {
			t.Fatalf("a backup that was %s is restored", what)
		}
		for e := range to.List(t.Context(), "", "") {
			t.Fatalf("%s: %s is left behind", what, e.Key)
		}
	}
}

// Restore rejects a location that is not empty, or that contains an interrupted restore.
func TestRestoreIntoOthers(t *testing.T) {
	b := newBoth(t)
	var out bytes.Buffer
	if _, err := b.node.Backup(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, inBucket := range []bool{true, false} {
		for key, want := range map[string]string{objects.Marker: "it is not empty", "seg/x": "it is not empty",
			layout.Restoring: "delete all objects"} {
			to := emptyPlace(t, inBucket, func() time.Time { return b.now })
			if _, err := to.Put(t.Context(), key, []byte("{}"), objects.Condition{}); err != nil {
				t.Fatal(err)
			}
			a, err := backup.Open(bytes.NewReader(out.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Restore(t.Context(), a, to, Options{}, func(string) {}); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("with %s: got %v", key, err)
			}
			if key == layout.Restoring {
				if _, err := Open(t.Context(), to, Options{}); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("opened: got %v", err)
				}
			}
			if got, err := to.Get(t.Context(), key, 100, ""); err != nil || string(got.Body) != "{}" {
				t.Errorf("%s was changed, or cannot be read: %v", key, err)
			}
		}
	}
}
