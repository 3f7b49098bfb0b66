package local_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

// glob returns the one file that matches pattern in dir.
func glob(t testing.TB, dir, pattern string) string {
	t.Helper()
	m, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(m) != 1 {
		t.Fatalf("%s matches %v, %v; want one file", pattern, m, err)
	}
	return m[0]
}

// flip changes one byte of a file.
func flip(t testing.TB, path string, at int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 0x40
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// filled returns a data directory with n traces in the partition of noon, cleanly
// closed, and the path of that partition.
func filled(t testing.TB, n int) (dir, part string) {
	t.Helper()
	dir = t.TempDir()
	s := mustOpen(t, dir, testOptions(t, newClock(noon)))
	for i := 0; i < n; i += 100 {
		mustAppend(t, s, testRecords(i, min(i+100, n))...)
	}
	mustClose(t, s)
	return dir, filepath.Join(dir, "20261121T12")
}

// TestFlippedTableByte flips bytes all over a table. Whatever Badger makes of it,
// what a scan delivers is right, and it says how much is missing.
func TestFlippedTableByte(t *testing.T) {
	t.Parallel()
	const n = 300
	dir, part := filled(t, n)
	path := glob(t, part, "*.sst")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	offsets := []int{0, 4, 10, len(whole) - 1, len(whole) - 5, len(whole) - 40}
	// One in the middle of a known value.
	offsets = append(offsets, bytes.Index(whole, record.AppendID(nil, traceID(7)))+100)
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		offsets = append(offsets, r.IntN(len(whole)))
	}
	values, gaps, unreadable := 0, 0, 0
	for _, at := range offsets {
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at % 8)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		rd, err := local.OpenReader(dir, testOptions(t, nil))
		if err != nil {
			t.Fatalf("byte %d: %v", at, err)
		}
		for _, q := range []store.Query{{}, {Page: "/feed"}} {
			seen, st := scanIDs(t, rd, q) // fails on a changed payload
			for id, times := range seen {
				if times != 1 {
					t.Errorf("byte %d: trace %s found %d times", at, id, times)
				}
			}
			if len(seen) < n && st.Complete() {
				t.Errorf("byte %d, %+v: %d of %d traces found, and the scan calls itself complete", at, q, len(seen), n)
			}
			if st.Damaged > 0 && len(st.BadValues) == 0 {
				t.Errorf("byte %d: damage without a name: %+v", at, st)
			}
			values += int(st.Damaged)
			gaps += len(st.Gaps)
			unreadable += len(st.Unreadable)
		}
		mustClose(t, rd)
	}
	t.Logf("%d damaged values, %d gaps, %d unreadable partitions", values, gaps, unreadable)
	if values == 0 || unreadable == 0 {
		t.Errorf("got %d damaged values and %d unreadable partitions; the test misses its aim", values, unreadable)
	}
	if err := os.WriteFile(path, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, dir, testOptions(t, newClock(noon)))
	wantAll(t, s, store.Query{}, 0, n)
}

// TestBadValue checks what is said about one damaged value, and that the rest of
// the page stays readable.
func TestBadValue(t *testing.T) {
	t.Parallel()
	dir, part := filled(t, 300)
	path := glob(t, part, "*.sst")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The payload is stored compressed; find it by its stored form.
	codec, err := record.NewCodec(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer codec.Close()
	at := bytes.Index(b, codec.Plain().Compress(nil, payloadOf(traceID(7))))
	if at < 0 {
		t.Fatal("trace 7 is not in the table")
	}
	flip(t, path, at+50)
	s := mustOpen(t, dir, testOptions(t, newClock(noon)))
	seen, st := scanIDs(t, s, store.Query{Page: "/feed"})
	if len(seen) != 299 || seen[traceID(7)] != 0 {
		t.Errorf("got %d traces, %d of them the damaged one; want 299 others", len(seen), seen[traceID(7)])
	}
	if st.Damaged != 1 || len(st.Gaps) != 0 || len(st.BadValues) != 1 {
		t.Fatalf("got %+v, want one damaged value and no gap", st)
	}
	bad := st.BadValues[0]
	if !bytes.Equal(bad.Key, record.AppendTraceKey(nil, "/feed", traceID(7))) || bad.Partition != "20261121T12" || !errors.Is(bad.Err, store.ErrDamaged) {
		t.Errorf("got %+v, want the key of trace 7", bad)
	}
	if status, err := s.Status(); err != nil || status.Damaged != 1 {
		t.Errorf("status counts %d damaged values, %v; want 1", status.Damaged, err)
	}
}

// TestGap takes keys away behind the store's back, as damage in Badger's own
// structures can. Nothing is wrong with what is left, and still it is noticed.
func TestGap(t *testing.T) {
	t.Parallel()
	dir, part := filled(t, 50)
	remove := func(key []byte) {
		t.Helper()
		editBadger(t, part, func(txn *badger.Txn) error { return txn.Delete(key) })
	}
	remove(record.AppendTraceKey(nil, "/feed", traceID(7)))
	r := mustRead(t, dir, testOptions(t, nil))
	for _, page := range []string{"/feed", ""} {
		seen, st := scanIDs(t, r, store.Query{Page: page})
		want := []store.Gap{{Partition: "20261121T12", Page: page, Expected: 50, Found: 49}}
		if len(seen) != 49 || !slices.Equal(st.Gaps, want) || st.Complete() {
			t.Errorf("page %q: got %d traces and gaps %+v, want 49 and %+v", page, len(seen), st.Gaps, want)
		}
	}
	if st, err := r.Status(); err != nil || st.Missing != 2 {
		t.Errorf("status counts %d missing, %v; want 1 for each scan", st.Missing, err)
	}
	mustClose(t, r)

	remove(record.AppendCatalogKey(nil, "/feed", store.Tag{}))
	r = mustRead(t, dir, testOptions(t, nil))
	for _, page := range []string{"/feed", ""} {
		if seen, st := scanIDs(t, r, store.Query{Page: page}); len(seen) != 49 || st.Complete() {
			t.Errorf("page %q without its catalogue entry: got %d traces, %+v", page, len(seen), st)
		}
	}
}

// TestFlippedLogByte flips a byte of a write-ahead log after a kill. Badger drops
// what comes behind it without a word; the store says how much that was.
func TestFlippedLogByte(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clk := newClock(noon)
	s := mustOpen(t, dir, testOptions(t, clk))
	const n = 500
	for i := range n / 10 {
		mustAppend(t, s, testRecords(10*i, 10*i+10)...)
	}
	crashed := copyDir(t, dir) // as a kill would leave it
	mustClose(t, s)
	part := filepath.Join(crashed, "20261121T12")
	log := glob(t, part, "*.mem")
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, record.AppendIDKey(nil, traceID(255))) // in the 26th commit
	if at < 0 {
		t.Fatal("trace 255 is not in the log")
	}
	flip(t, log, at+3)
	for range 2 { // the loss is remembered
		r, err := local.OpenReader(crashed, testOptions(t, nil))
		if err != nil {
			t.Fatal(err)
		}
		seen, st := scanIDs(t, r, store.Query{})
		if len(seen) != 250 || st.Lost != 250 || st.Complete() {
			t.Errorf("got %d traces, %d lost, want 250 and 250", len(seen), st.Lost)
		}
		status, err := r.Status()
		if err != nil {
			t.Fatal(err)
		}
		p := status.Partitions[0]
		if status.Lost != 250 || p.LostTraces != 250 || p.LostCommits != 25 || p.Traces != 250 || p.Commits != 25 {
			t.Errorf("got status %+v, want 250 traces in 25 commits found, and as many lost", p)
		}
		want := "partition 20261121T12: expected at least 500 traces in 50 commits, found 250 in 25: 250 lost"
		if got := p.Loss(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		mustClose(t, r)
	}
	// It is written to again: numbers of lost commits are not used twice, and a
	// second crash does not report the loss of the first anew.
	s = mustOpen(t, crashed, testOptions(t, clk))
	mustAppend(t, s, testRecords(n, n+10)...)
	again := copyDir(t, crashed)
	s2 := mustOpen(t, again, testOptions(t, clk))
	status, err := s2.Status()
	if err != nil || status.Lost != 250 || status.Partitions[0].Traces != 260 {
		t.Errorf("after another crash: got %+v, %v, want 260 traces and 250 lost", status, err)
	}
}

// copyDir copies a data directory with open files, which is what a kill would leave
// of it. The copy is not locked.
func copyDir(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestCrashedCopyIsWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, newClock(noon)))
	mustAppend(t, s, testRecords(0, 100)...)
	s2 := mustOpen(t, copyDir(t, dir), testOptions(t, newClock(noon)))
	wantAll(t, s2, store.Query{}, 0, 100)
	if st, err := s2.Status(); err != nil || st.Lost != 0 {
		t.Errorf("got %+v, %v, want nothing lost", st, err)
	}
}
