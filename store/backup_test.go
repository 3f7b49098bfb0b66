package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fieldRecords returns n traces, each of a view of its own.
func fieldRecords(t testing.TB, r *rand.Rand, from, n int) (recs []Record) {
	for i := range n {
		id := traceID(from + i)
		recs = append(recs, traceRecord(t, fieldTrace(r, id), id))
	}
	return recs
}

// variedStore returns a store with rollups of days and of hours, sealed partitions and one
// that is written to and half rolled up, and one that was set aside.
func variedStore(t testing.TB, dir string, c *clock) *Store {
	t.Helper()
	o := testOptions(t, c)
	o.RollEvery, o.RollTraces, o.Retention = time.Nanosecond, 1, 26*time.Hour
	r := rand.New(rand.NewPCG(1, 2))
	s := mustOpen(t, dir, o)
	n := 0
	add := func(k int) {
		mustAppend(t, s, fieldRecords(t, r, n, k)...)
		n += k
	}
	for _, d := range []time.Duration{time.Hour, 2 * time.Hour, 22 * time.Hour, time.Hour, time.Hour} {
		add(25)
		rollUp(t, s)
		c.Add(d)
		if err := s.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	rollUp(t, s)
	mustClose(t, s)
	// The partition of this hour is unreadable, so that a new one is begun.
	bad := filepath.Join(dir, partitionName(partitionStart(c.Now(), time.Hour)))
	if err := os.Mkdir(bad, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bad, "000001.sst"), []byte("no table"), 0o644); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir, o)
	add(30)
	rollUp(t, s)
	s.CountViews("/feed", "unsampled", 70)
	rollUp(t, s)
	add(20) // which are not rolled up
	return s
}

func rollUp(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Roll(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// answers is all that a data directory says, as of now.
func answers(t testing.TB, r *Reader, now time.Time) (out []string) {
	t.Helper()
	for _, q := range []Query{{}, {Page: "/feed"}, {Page: "/item/:id"}, {Page: "/feed", Since: now.Add(-100 * time.Minute)},
		{Until: now.Add(-3 * time.Hour)}, {Since: now.Add(-50 * time.Hour), Until: now.Add(-time.Hour)}} {
		for _, none := range []bool{false, true} {
			text, stats := answer(t, r, q, none)
			stats.Bytes = 0
			out = append(out, fmt.Sprintf("%+v, none %v: %+v\n%s", q, none, withoutReasons(stats), text))
		}
	}
	seen := map[ID]int{}
	stats, err := r.Scan(t.Context(), Query{}, func(rec Record) error {
		seen[rec.ID]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	stats.Bytes = 0
	out = append(out, fmt.Sprint(len(seen), withoutReasons(stats)))
	catalog, stats, err := r.Catalog(t.Context(), time.Time{}, now)
	if err != nil {
		t.Fatal(err)
	}
	return append(out, fmt.Sprintf("%+v %+v", catalog, withoutReasons(stats)))
}

// withoutReasons takes out of stats why partitions are unreadable, which a restored directory
// says in other words.
func withoutReasons(s ScanStats) ScanStats {
	s.Unreadable = slices.Clone(s.Unreadable)
	for i := range s.Unreadable {
		s.Unreadable[i].Err = nil
	}
	return s
}

func sameAnswers(t testing.TB, got, want []string) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("restored:\n%s\n--- original:\n%s", got[i], want[i])
		}
	}
}

// busyWriter does something whenever it is written to.
type busyWriter struct {
	bytes.Buffer
	do func()
}

func (w *busyWriter) Write(b []byte) (int, error) {
	w.do()
	return w.Buffer.Write(b)
}

// A backup is of the moment when it began, whatever happens until it ends.
func TestBackup(t *testing.T) {
	c := newClock(noon)
	dir := t.TempDir()
	s := variedStore(t, dir, c)
	then := c.Now()
	want := answers(t, s.Reader, then)
	r := rand.New(rand.NewPCG(3, 4))
	n := 10_000
	w := &busyWriter{do: func() {
		mustAppend(t, s, fieldRecords(t, r, n, 5)...)
		n += 5
		if n%20 == 0 {
			c.Add(5 * time.Hour) // seals, and lets retention delete
		}
		if err := s.Maintain(t.Context()); err != nil {
			t.Error(err)
		}
		rollUp(t, s)
	}}
	stats, err := s.Backup(t.Context(), slowly{w})
	if err != nil {
		t.Fatal(err)
	}
	if n < 10_050 {
		t.Fatalf("only %d traces came during the backup", n-10_000)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "backup*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
	o := s.opts
	mustClose(t, s)
	to := filepath.Join(t.TempDir(), "restored")
	done, err := Restore(t.Context(), bytes.NewReader(w.Bytes()), to, o, func(int64, int64, string) {})
	if err != nil {
		t.Fatal(err)
	}
	if done.Traces != stats.Traces || done.Partitions != stats.Partitions || done.Bytes != stats.Bytes || len(done.Missing) != 1 ||
		!slices.Equal(done.Missing, stats.Missing) || !strings.Contains(done.Missing[0], corruptSuffix+": ") {
		t.Errorf("restored %+v of %+v", done, stats)
	}
	c.Set(then)
	reader, err := OpenReader(to, o) // twice, as both kinds of program do
	if err != nil {
		t.Fatal(err)
	}
	sameAnswers(t, answers(t, reader, then), want)
	mustClose(t, reader)
	s = mustOpen(t, to, o)
	sameAnswers(t, answers(t, s.Reader, then), want)
	goOn(t, s, c)
}

// goOn checks that what was restored goes on: the same traces again are duplicates, new ones
// are added and rolled up.
func goOn(t *testing.T, s *Store, c *clock) {
	t.Helper()
	then := c.Now()
	r := rand.New(rand.NewPCG(5, 6))
	if res := mustAppend(t, s, fieldRecords(t, r, 145, 30)...); res.Duplicates != 30 {
		t.Errorf("traces that were restored are stored again: %+v", res)
	}
	mustAppend(t, s, fieldRecords(t, r, 20_000, 20)...)
	for range 3 {
		rollUp(t, s)
		q := Query{Page: "/feed", Since: then.Add(-20 * time.Hour)}
		got, _ := answer(t, s.Reader, q, false)
		all, _ := answer(t, s.Reader, q, true)
		if got != all {
			t.Errorf("after more traces:\n%s", differences(got, all))
		}
		c.Add(5 * time.Hour)
		if err := s.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// slowly writes little at a time.
type slowly struct{ w io.Writer }

func (s slowly) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		k, err := s.w.Write(b[:min(len(b), 8<<10)])
		n += k
		if err != nil {
			return n, err
		}
		b = b[k:]
	}
	return n, nil
}

// Traces that come at the same moment are in a backup by whole commits and in their order,
// and counted alike by rollups and by traces.
func TestBackupUnderLoad(t *testing.T) {
	c := newClock(noon)
	o := testOptions(t, c)
	o.RollEvery, o.RollTraces = time.Nanosecond, 1
	s := mustOpen(t, t.TempDir(), o)
	stop := make(chan struct{})
	var acked sync.Map
	var work sync.WaitGroup
	for g := range 4 {
		work.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 9))
			for n := g * 100_000; ; n += 3 {
				select {
				case <-stop:
					return
				default:
				}
				recs := fieldRecords(t, r, n, 3)
				if _, err := s.Append(t.Context(), recs); err != nil {
					t.Error(err)
					return
				}
				for _, rec := range recs {
					acked.Store(rec.ID, true)
				}
			}
		})
	}
	work.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
			c.Add(2 * time.Minute)
			if err := errors.Join(s.Roll(t.Context()), s.Maintain(t.Context())); err != nil {
				t.Error(err)
			}
		}
	})
	for range 4 {
		time.Sleep(200 * time.Millisecond)
		before := map[ID]bool{}
		acked.Range(func(id, _ any) bool { before[id.(ID)] = true; return true })
		var b bytes.Buffer
		stats, err := s.Backup(t.Context(), &b)
		if err != nil {
			t.Fatal(err)
		}
		checkLoaded(t, o, &b, before, stats)
	}
	close(stop)
	work.Wait()
}

func checkLoaded(t *testing.T, o Options, backup io.Reader, before map[ID]bool, stats BackupStats) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "restored")
	if _, err := Restore(t.Context(), backup, to, o, nil); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(to, o)
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, r)
	seen := map[ID]int{}
	st, err := r.Scan(t.Context(), Query{}, func(rec Record) error { seen[rec.ID]++; return nil })
	if err != nil || !st.Complete() || uint64(len(seen)) != stats.Traces {
		t.Errorf("scan of %d traces, the backup has %d: %+v %v", len(seen), stats.Traces, st, err)
	}
	for id := range before {
		if seen[id] != 1 {
			t.Errorf("trace %s, acknowledged before, is there %d times", id, seen[id])
		}
	}
	for id := range seen { // each client waits for one trace before it sends the next
		if k := id.Chunk % 100_000; k > 2 && seen[traceID(int(id.Chunk)-3)] == 0 {
			t.Errorf("trace %d is there and not %d", id.Chunk, id.Chunk-3)
		}
	}
	for _, q := range []Query{{}, {Page: "/feed"}} {
		got, gs := answer(t, r, q, false)
		want, _ := answer(t, r, q, true)
		if got != want || !gs.Complete() {
			t.Errorf("by rollups, by traces:\n%s\n%+v", differences(got, want), gs)
		}
	}
}

// While rollups are being written, those that were whole are in a backup, and it does not
// wait for the others.
func TestBackupWhileRolling(t *testing.T) {
	c := newClock(noon)
	s := variedStore(t, t.TempDir(), c)
	want := answers(t, s.Reader, c.Now())
	for _, sp := range []span{hours, days} {
		w, err := s.openRollups(sp, noon.Add(-24*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		half := rollupKey{"/feed", minutes(noon), byte(1)}
		if err := errors.Join(w.write([]pair{{half.append(nil), []byte("half")}}), w.flush()); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := s.Backup(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		closing := make(chan error) // at the same time as the next backup
		go func() { closing <- w.close() }()
		var b2 bytes.Buffer
		if _, err := s.Backup(t.Context(), &b2); err != nil {
			t.Fatal(err)
		}
		if err := <-closing; err != nil {
			t.Fatal(err)
		}
		for _, b := range []*bytes.Buffer{&b, &b2} {
			to := filepath.Join(t.TempDir(), "x")
			if _, err := Restore(t.Context(), b, to, s.opts, nil); err != nil {
				t.Fatal(err)
			}
			copied := mustOpen(t, to, s.opts)
			sameAnswers(t, answers(t, copied.Reader, c.Now()), want)
			rollUp(t, copied)
			sameAnswers(t, answers(t, copied.Reader, c.Now())[1:2], want[1:2])
			mustClose(t, copied)
		}
	}
}

// A partition that lost traces says so in the copy, too.
func TestBackupLoss(t *testing.T) {
	c := newClock(noon)
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, c))
	for n := range 10 {
		mustAppend(t, s, testRecord(n))
	}
	mustClose(t, s)
	log, err := openCommitLog(filepath.Join(dir, "20261121T12"))
	if err != nil {
		t.Fatal(err)
	}
	if err := log.append(11, appendCommitKey(nil, 11), commit{traces: 7, entries: 7, received: noon.UnixMicro()}); err != nil {
		t.Fatal(err)
	}
	mustClose(t, log)
	if err := removeClean(filepath.Join(dir, "20261121T12")); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir, testOptions(t, c))
	mustAppend(t, s, testRecord(10))
	was, err := s.Status()
	if err != nil || was.Lost != 7 {
		t.Fatalf("%+v %v", was, err)
	}
	var b bytes.Buffer
	if _, err := s.Backup(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "x")
	if _, err := Restore(t.Context(), &b, to, s.opts, nil); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, to, testOptions(t, c))
	is, err := s.Status()
	if err != nil {
		t.Fatal(err)
	}
	p, q := is.Partitions[0], was.Partitions[0]
	p.Bytes, q.Bytes, q.State = 0, 0, p.State
	if !reflect.DeepEqual(p, q) {
		t.Errorf("restored: %+v\noriginal: %+v", p, q)
	}
	mustAppend(t, s, testRecord(11))
}
