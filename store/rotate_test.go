package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// names returns the partitions of a store with their state.
func names(t testing.TB, s interface{ Status() (Status, error) }) (list []string) {
	t.Helper()
	st, err := s.Status()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range st.Partitions {
		list = append(list, p.Name+" "+string(p.State))
	}
	return list
}

func TestRotation(t *testing.T) {
	c := newClock(noon)
	s := mustOpen(t, t.TempDir(), testOptions(t, c))
	want := func(want ...string) {
		t.Helper()
		if got := names(t, s); !slices.Equal(got, want) {
			t.Errorf("at %v: got partitions %v, want %v", c.Now(), got, want)
		}
	}
	want()
	mustAppend(t, s, testRecord(0))
	want("20261121T12 writing")
	c.Set(noon.Truncate(time.Hour).Add(time.Hour - time.Nanosecond))
	mustAppend(t, s, testRecord(1))
	want("20261121T12 writing")
	c.Add(time.Nanosecond)
	mustAppend(t, s, testRecord(2))
	want("20261121T12 closed", "20261121T13 writing")

	// The clock goes back: what comes now goes to the newest partition.
	c.Set(noon.Add(-3 * time.Hour))
	mustAppend(t, s, testRecord(3))
	want("20261121T12 closed", "20261121T13 writing")
	if err := s.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	want("20261121T12 closed", "20261121T13 writing")
	// It is found by its true time.
	if seen, _ := scanIDs(t, s, Query{Until: noon}); len(seen) != 1 || seen[traceID(3)] != 1 {
		t.Errorf("before noon: got %v, want trace 3", seen)
	}

	// An idle store is sealed by Maintain, and then not written to again.
	c.Set(noon.Add(2 * time.Hour))
	if err := s.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	want("20261121T12 closed", "20261121T13 closed")
	c.Set(noon)
	mustAppend(t, s, testRecord(4))
	want("20261121T12 closed", "20261121T13 closed", "20261121T14 writing")
	wantAll(t, s, Query{}, 0, 5)
}

func TestRestartWithinPartition(t *testing.T) {
	c := newClock(noon)
	dir := t.TempDir()
	for n := range 3 {
		s := mustOpen(t, dir, testOptions(t, c))
		wantAll(t, s, Query{}, 0, n) // read-only at first
		mustAppend(t, s, testRecord(n))
		wantAll(t, s, Query{}, 0, n+1)
		if got, want := names(t, s), []string{"20261121T12 writing"}; !slices.Equal(got, want) {
			t.Errorf("got partitions %v, want %v", got, want)
		}
		mustClose(t, s)
	}
}

func TestPartitionWidthChanges(t *testing.T) {
	c := newClock(noon)
	dir := t.TempDir()
	n := 0
	for _, width := range []time.Duration{30 * time.Minute, 15 * time.Minute, time.Hour} {
		o := testOptions(t, c)
		o.Partition = width
		s := mustOpen(t, dir, o)
		mustAppend(t, s, testRecord(n))
		n++
		wantAll(t, s, Query{}, 0, n)
		mustClose(t, s)
	}
	r, err := OpenReader(dir, testOptions(t, c))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	wantAll(t, r, Query{}, 0, n)
	if got, want := names(t, r), []string{"20261121T1230 closed"}; !slices.Equal(got, want) {
		t.Errorf("got partitions %v, want %v", got, want)
	}
}

// TestScanDuringRotation scans while the hour turns many times. The scan sees what
// was there when it began, and neither side waits for the other.
func TestScanDuringRotation(t *testing.T) {
	c := newClock(noon)
	o := testOptions(t, c)
	o.OpenPartitions = 2
	s := mustOpen(t, t.TempDir(), o)
	mustAppend(t, s, testRecords(0, 50)...)
	c.Add(time.Hour)
	const before = 50 + 3*batchRecords
	mustAppend(t, s, testRecords(50, before)...)
	seen := make(map[ID]int)
	turned, added := 0, 0
	st, err := s.Scan(t.Context(), Query{}, func(r Record) error {
		seen[r.ID]++
		if len(seen)%300 == 0 { // in the middle of a batch, of the first partition too
			mustAppend(t, s, testRecords(before+added, before+added+50)...)
			c.Add(time.Hour)
			turned++
			mustAppend(t, s, testRecord(before+added+50))
			added += 51
		}
		return nil
	})
	if err != nil || !st.Complete() || st.Partitions != 2 {
		t.Fatalf("scan: %+v, %v", st, err)
	}
	if turned < 4 {
		t.Fatalf("the hour turned %d times during the scan, want at least 4", turned)
	}
	for n := range before {
		if seen[traceID(n)] != 1 {
			t.Fatalf("trace %d found %d times, want once", n, seen[traceID(n)])
		}
	}
	if len(seen) != before {
		t.Errorf("got %d traces, want the %d that were there at the start", len(seen), before)
	}
	if all, _ := scanIDs(t, s, Query{}); len(all) != before+added {
		t.Errorf("got %d traces afterwards, want %d", len(all), before+added)
	}
}

// TestScansAndRotation lets many scans compete for few handles while partitions are
// sealed and deleted under them.
func TestScansAndRotation(t *testing.T) {
	c := newClock(noon)
	o := testOptions(t, c)
	o.OpenPartitions = 1
	o.Retention = 3 * time.Hour
	s := mustOpen(t, t.TempDir(), o)
	mustAppend(t, s, testRecords(0, 200)...)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, st := scanIDs(t, s, Query{}); !st.Complete() {
					t.Errorf("scan is incomplete: %+v", st)
					return
				}
			}
		})
	}
	for h := range 10 {
		c.Add(time.Hour)
		for n := 200 * (h + 1); n < 200*(h+2); n += 20 {
			mustAppend(t, s, testRecords(n, n+20)...)
		}
	}
	close(stop)
	wg.Wait()
	if got := len(names(t, s)); got != 4 {
		t.Errorf("%d partitions left, want the 4 that retention keeps", got)
	}
}

func TestRolloverManyTimes(t *testing.T) {
	c := newClock(noon)
	o := testOptions(t, c)
	o.OpenPartitions = 3
	dir := t.TempDir()
	s := mustOpen(t, dir, o)
	const hours = 12
	for n := range hours {
		mustAppend(t, s, testRecord(n))
		c.Add(time.Hour)
	}
	wantAll(t, s, Query{}, 0, hours)
	if open := openHandles(s.shelf); open > 3+1 {
		t.Errorf("%d partitions open, want at most 3 and that being written", open)
	}
	st, err := s.Status()
	if err != nil || len(st.Partitions) != hours {
		t.Fatalf("got %d partitions, %v, want %d", len(st.Partitions), err, hours)
	}
	for i, p := range st.Partitions {
		if p.Traces != 1 || p.Start != noon.Truncate(time.Hour).Add(time.Duration(i)*time.Hour) {
			t.Errorf("partition %+v: want one trace of hour %d", p, i)
		}
	}
	mustClose(t, s)
	r, err := OpenReader(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	wantAll(t, r, Query{}, 0, hours)
	if open := openHandles(r.shelf); open > 3 {
		t.Errorf("%d partitions open, want at most 3", open)
	}
}

func openHandles(s *shelf) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parts {
		if p.db != nil {
			n++
		}
	}
	return n
}

func TestRetention(t *testing.T) {
	c := newClock(noon)
	o := testOptions(t, c)
	o.Retention = 3 * time.Hour
	dir := t.TempDir()
	s := mustOpen(t, dir, o)
	for h := range 3 {
		mustAppend(t, s, testRecords(200*h, 200*(h+1))...)
		c.Add(time.Hour)
	}
	// 15:30. Hour 12 has its newest trace at 12:30, which is kept for three hours.
	maintain := func() {
		t.Helper()
		if err := s.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	maintain()
	before := treeBytes(dir)
	wantAll(t, s, Query{}, 0, 600)

	// A scan that has begun keeps what it still has to read.
	first := filepath.Join(dir, "20261121T12")
	n := 0
	if _, err := s.Scan(t.Context(), Query{}, func(Record) error {
		if n++; n == 1 {
			c.Add(time.Microsecond)
			maintain()
			if _, err := os.Stat(first); err != nil {
				t.Errorf("partition deleted during a scan: %v", err)
			}
		}
		return nil
	}); err != nil || n != 600 {
		t.Errorf("scan read %d traces, %v; want 600", n, err)
	}
	if _, err := os.Stat(first); !os.IsNotExist(err) {
		t.Errorf("stat of the expired partition: got %v, want that it is gone", err)
	}
	wantAll(t, s, Query{}, 200, 600)
	if after := treeBytes(dir); after > before*3/4 {
		t.Errorf("%d bytes on disk after one of three partitions expired, %d before", after, before)
	}
	c.Add(24 * time.Hour)
	mustAppend(t, s, testRecord(1000)) // a commit in a new hour applies retention too
	if got, want := names(t, s), []string{"20261122T15 writing"}; !slices.Equal(got, want) {
		t.Errorf("got partitions %v, want %v", got, want)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("data directory holds %v, %v; want FORMAT, LOCK and one partition", entries, err)
	}
}

// TestRetentionIsExact checks that readers do not see what is too old, though its
// directory is still there.
func TestRetentionIsExact(t *testing.T) {
	c := newClock(noon)
	o := testOptions(t, c)
	o.Retention = time.Hour
	s := mustOpen(t, t.TempDir(), o)
	mustAppend(t, s, testRecord(0))
	c.Add(10 * time.Minute)
	mustAppend(t, s, testRecord(1))
	c.Add(time.Hour)
	wantAll(t, s, Query{}, 1, 2)
	c.Add(time.Second)
	wantAll(t, s, Query{}, 0, 0)
}

func TestExpired(t *testing.T) {
	at := func(hours int) time.Time { return noon.Add(time.Duration(hours) * time.Hour) }
	parts := []lifetime{
		{name: "old", start: at(0), last: at(1)},
		{name: "written with a clock that was ahead", start: at(0), last: at(9)},
		{name: "unknown, over", start: at(1)},
		{name: "unknown, not over", start: at(2)},
		{name: "open", start: at(0), last: at(0), open: true},
	}
	for _, tt := range []struct {
		now       time.Time
		retention time.Duration
		want      string
	}{
		{at(100), 0, ""},
		{at(3), 2 * time.Hour, ""},
		{at(3).Add(1), 2 * time.Hour, "old"},
		{at(5), 2 * time.Hour, "old|unknown, over"},
		{at(-5), 2 * time.Hour, ""},
		{at(100), time.Hour, "old|written with a clock that was ahead|unknown, over|unknown, not over"},
	} {
		got := strings.Join(expired(parts, tt.now, time.Hour, keep{traces: tt.retention}), "|")
		if got != tt.want {
			t.Errorf("at %v with retention %v: got %q, want %q", tt.now, tt.retention, got, tt.want)
		}
	}
}

func TestPartitionNames(t *testing.T) {
	var names []string
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for m := 0; m < 24*60; m += 15 {
		names = append(names, partitionName(day.Add(time.Duration(m)*time.Minute)))
	}
	if !slices.IsSorted(names) {
		t.Errorf("names do not sort by time: %v", names)
	}
	for i, name := range names {
		got, ok := parseName(name)
		if want := day.Add(time.Duration(i) * 15 * time.Minute); !ok || !got.Equal(want) {
			t.Errorf("parse %s: got %v, %v, want %v", name, got, ok, want)
		}
	}
	for _, bad := range []string{"", "FORMAT", "20261121", "20261121T24", "20261121T1000", "20261121T10.corrupt", "20261121T10x"} {
		if _, ok := parseName(bad); ok {
			t.Errorf("%q is taken for a partition", bad)
		}
	}
	for name, want := range map[string]bool{"20261121T10.corrupt": true, "20261121T1030.corrupt.2": true,
		"20261121T10": false, "x.corrupt": false, "20261121T10.corrupt.deleting": false} {
		if _, _, _, ok := parseCorruptName(name); ok != want {
			t.Errorf("%q taken for a corrupt partition: %v", name, ok)
		}
	}
	zone := time.FixedZone("", 5*3600+1800)
	if got, want := partitionName(partitionStart(noon.In(zone), time.Hour)), "20261121T12"; got != want {
		t.Errorf("in another zone: got %s, want %s", got, want)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{Partition: 7 * time.Hour}, {Partition: time.Second}, {Partition: -time.Hour}, {Partition: 48 * time.Hour},
		{Retention: -1}, {GroupTraces: 257}, {QueueTraces: -1}, {MemTableSize: 1 << 20},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		if s, err := Open(dir, o); err == nil {
			s.Close()
			t.Errorf("options %+v are accepted", o)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("options %+v: a directory was made", o)
		}
	}
}
