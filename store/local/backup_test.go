package local_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
)

// fieldRecords returns n traces, each of a view of its own.
func fieldRecords(t testing.TB, r *rand.Rand, from, n int) (recs []store.Record) {
	for i := range n {
		id := traceID(from + i)
		recs = append(recs, traceRecord(t, fieldTrace(r, id), id))
	}
	return recs
}

func variedOptions(t testing.TB, c *clock) local.Options {
	o := rolledOptions(t, c)
	o.Retention = 26 * time.Hour
	return o
}

// variedStore returns a store with rollups of days and of hours, sealed partitions and one
// that is written to and half rolled up, and one that was set aside.
func variedStore(t testing.TB, dir string, c *clock) *local.Store {
	t.Helper()
	o := variedOptions(t, c)
	r := rand.New(rand.NewPCG(1, 2))
	s := mustOpen(t, dir, o)
	n := 0
	add := func(k int) {
		mustAppend(t, s, fieldRecords(t, r, n, k)...)
		n += k
	}
	for _, d := range []time.Duration{time.Hour, 2 * time.Hour, 22 * time.Hour, time.Hour, time.Hour} {
		add(25)
		mustRoll(t, s)
		c.Add(d)
		if err := s.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	mustRoll(t, s)
	mustClose(t, s)
	// The partition of this hour is unreadable, so that a new one is begun.
	bad := filepath.Join(dir, part.Name(c.Now().Truncate(time.Hour)))
	if err := os.Mkdir(bad, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bad, "000001.sst"), []byte("no table"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir, o)
	add(30)
	mustRoll(t, s)
	s.CountViews("/feed", "unsampled", 70)
	mustRoll(t, s)
	add(20) // which are not rolled up
	return s
}

// answers is all that a data directory says, as of now.
func answers(t testing.TB, r *local.Reader, now time.Time) (out []string) {
	t.Helper()
	for _, q := range []store.Query{{}, {Page: "/feed"}, {Page: "/item/:id"}, {Page: "/feed", Since: now.Add(-100 * time.Minute)},
		{Until: now.Add(-3 * time.Hour)}, {Since: now.Add(-50 * time.Hour), Until: now.Add(-time.Hour)}} {
		for _, none := range []bool{false, true} {
			text, stats := answer(t, r, q, none)
			stats.Bytes = 0
			out = append(out, fmt.Sprintf("%+v, none %v: %+v\n%s", q, none, withoutReasons(stats), text))
		}
	}
	seen := map[store.ID]int{}
	stats, err := r.Scan(t.Context(), store.Query{}, func(rec store.Record) error {
		seen[rec.ID]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	stats.Bytes = 0
	out = append(out, fmt.Sprint(len(seen), withoutReasons(stats)))
	catalog, stats, err := r.Catalog(t.Context(), time.Time{}, now, 0)
	if err != nil {
		t.Fatal(err)
	}
	return append(out, fmt.Sprintf("%+v %+v", catalog, withoutReasons(stats)))
}

// withoutReasons takes out of stats why partitions are unreadable, which a restored directory
// says in other words.
func withoutReasons(s store.ScanStats) store.ScanStats {
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
	t.Parallel()
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
		mustRoll(t, s)
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
	o := variedOptions(t, c)
	mustClose(t, s)
	to := filepath.Join(t.TempDir(), "restored")
	done, err := local.Restore(t.Context(), bytes.NewReader(w.Bytes()), to, o, func(int64, int64, string) {})
	if err != nil {
		t.Fatal(err)
	}
	if done.Traces != stats.Traces || done.Partitions != stats.Partitions || done.Bytes != stats.Bytes || len(done.Missing) != 1 ||
		!slices.Equal(done.Missing, stats.Missing) || !strings.Contains(done.Missing[0], ".corrupt"+": ") {
		t.Errorf("restored %+v of %+v", done, stats)
	}
	c.Set(then)
	reader, err := local.OpenReader(to, o) // twice, as both kinds of program do
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
func goOn(t *testing.T, s *local.Store, c *clock) {
	t.Helper()
	then := c.Now()
	r := rand.New(rand.NewPCG(5, 6))
	if res := mustAppend(t, s, fieldRecords(t, r, 145, 30)...); res.Duplicates != 30 {
		t.Errorf("traces that were restored are stored again: %+v", res)
	}
	mustAppend(t, s, fieldRecords(t, r, 20_000, 20)...)
	for range 3 {
		mustRoll(t, s)
		q := store.Query{Page: "/feed", Since: then.Add(-20 * time.Hour)}
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
		k, err := s.w.Write(b[:min(len(b), 128<<10)])
		n += k
		if err != nil {
			return n, err
		}
		b = b[k:]
	}
	return n, nil
}

// While sums are being written, those that were whole are in a backup, and it does not wait
// for the others.
func TestBackupWhileSummingUp(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	dir := t.TempDir()
	s := variedStore(t, dir, c)
	want := answers(t, s.Reader, c.Now())
	for _, span := range []rollups.Span{rollups.Hours, rollups.Days} {
		start := noon.Truncate(24 * time.Hour)
		w, err := s.Sums().Edit(span, uint32(start.Unix()/60), uint32(noon.Truncate(time.Hour).Unix()/60))
		if err != nil {
			t.Fatal(err)
		}
		stacks, _, err := w.Stacks("/half")
		if err == nil {
			err = w.Put("/half", stacks, 5, [3][]byte{})
		}
		if err != nil {
			t.Fatal(err)
		}
		if half, err := filepath.Glob(filepath.Join(dir, "*.tmp")); err != nil || len(half) != 1 {
			t.Errorf("half written: %v, %v; want one file", half, err)
		}
		var b bytes.Buffer
		if _, err := s.Backup(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		w.Abort()
		to := filepath.Join(t.TempDir(), "x")
		if _, err := local.Restore(t.Context(), &b, to, variedOptions(t, c), nil); err != nil {
			t.Fatal(err)
		}
		copied := mustOpen(t, to, variedOptions(t, c))
		sameAnswers(t, answers(t, copied.Reader, c.Now()), want)
		mustRoll(t, copied)
		sameAnswers(t, answers(t, copied.Reader, c.Now())[1:2], want[1:2])
		mustClose(t, copied)
	}
}

// A partition that lost traces says so in the copy, too.
func TestBackupLoss(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, c))
	for n := range 10 {
		mustAppend(t, s, testRecord(n))
	}
	mustClose(t, s)
	// COMMITS says of a commit of seven traces that it was durable.
	name := filepath.Join(dir, "20261121T12")
	commits, err := os.ReadFile(filepath.Join(name, "COMMITS"))
	if err != nil {
		t.Fatal(err)
	}
	commits = binary.BigEndian.AppendUint64(commits, 11)
	commits = record.AppendCommit(commits, record.AppendCommitKey(nil, 11), record.Commit{Traces: 7, Entries: 7, Received: noon.UnixMicro()})
	if err := os.WriteFile(filepath.Join(name, "COMMITS"), commits, 0o600); err != nil {
		t.Fatal(err)
	}
	remove(t, filepath.Join(name, "CLEAN"))
	s = mustOpen(t, dir, testOptions(t, c))
	mustAppend(t, s, testRecord(10))
	was, err := s.Status()
	if err != nil || was.Lost != 7 {
		t.Fatalf("got %+v, %v, want 7 lost", was, err)
	}
	var b bytes.Buffer
	if _, err := s.Backup(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "x")
	if _, err := local.Restore(t.Context(), &b, to, testOptions(t, c), nil); err != nil {
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
		t.Errorf("restored: got %+v, want as in the original %+v", p, q)
	}
	mustAppend(t, s, testRecord(11))
}
