package local_test

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
)

// names returns the partitions of a store with their state.
func names(t testing.TB, s interface{ Status() (local.Status, error) }) (list []string) {
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
	t.Parallel()
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
	if seen, _ := scanIDs(t, s, store.Query{Until: noon}); len(seen) != 1 || seen[traceID(3)] != 1 {
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
	wantAll(t, s, store.Query{}, 0, 5)
}

func TestRestartWithinPartition(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	dir := t.TempDir()
	for n := range 3 {
		s := mustOpen(t, dir, testOptions(t, c))
		wantAll(t, s, store.Query{}, 0, n) // read-only at first
		mustAppend(t, s, testRecord(n))
		wantAll(t, s, store.Query{}, 0, n+1)
		if got, want := names(t, s), []string{"20261121T12 writing"}; !slices.Equal(got, want) {
			t.Errorf("got partitions %v, want %v", got, want)
		}
		mustClose(t, s)
	}
}

func TestPartitionWidthChanges(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	dir := t.TempDir()
	n := 0
	for _, width := range []time.Duration{30 * time.Minute, 15 * time.Minute, time.Hour} {
		o := testOptions(t, c)
		o.Partition = width
		s := mustOpen(t, dir, o)
		mustAppend(t, s, testRecord(n))
		n++
		wantAll(t, s, store.Query{}, 0, n)
		mustClose(t, s)
	}
	r, err := local.OpenReader(dir, testOptions(t, c))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	wantAll(t, r, store.Query{}, 0, n)
	if got, want := names(t, r), []string{"20261121T1230 closed"}; !slices.Equal(got, want) {
		t.Errorf("got partitions %v, want %v", got, want)
	}
}

// TestScanDuringRotation scans while the hour turns many times. The scan sees what
// was there when it began, and neither side waits for the other.
func TestScanDuringRotation(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	o := testOptions(t, c)
	o.OpenPartitions = 2
	s := mustOpen(t, t.TempDir(), o)
	mustAppend(t, s, testRecords(0, 50)...)
	c.Add(time.Hour)
	const before = 50 + 3*local.BatchRecords
	mustAppend(t, s, testRecords(50, before)...)
	seen := make(map[store.ID]int)
	turned, added := 0, 0
	st, err := s.Scan(t.Context(), store.Query{}, func(r store.Record) error {
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
	if all, _ := scanIDs(t, s, store.Query{}); len(all) != before+added {
		t.Errorf("got %d traces afterwards, want %d", len(all), before+added)
	}
}

// TestScansAndRotation lets many scans compete for few handles while partitions are
// sealed and deleted under them.
func TestScansAndRotation(t *testing.T) {
	t.Parallel()
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
				if _, st := scanIDs(t, s, store.Query{}); !st.Complete() {
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
	t.Parallel()
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
	wantAll(t, s, store.Query{}, 0, hours)
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
	r, err := local.OpenReader(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	wantAll(t, r, store.Query{}, 0, hours)
}

func TestRetention(t *testing.T) {
	t.Parallel()
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
	before := disk.TreeBytes(dir)
	wantAll(t, s, store.Query{}, 0, 600)

	// A scan that has begun keeps what it still has to read.
	first := filepath.Join(dir, "20261121T12")
	n := 0
	if _, err := s.Scan(t.Context(), store.Query{}, func(store.Record) error {
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
	maintain() // which waits for deletions
	if _, err := os.Stat(first); !os.IsNotExist(err) {
		t.Errorf("stat of the expired partition: got %v, want that it is gone", err)
	}
	wantAll(t, s, store.Query{}, 200, 600)
	if after := disk.TreeBytes(dir); after > before*3/4 {
		t.Errorf("%d bytes on disk after one of three partitions expired, %d before", after, before)
	}
	c.Add(24 * time.Hour)
	mustAppend(t, s, testRecord(1000)) // a commit in a new hour applies retention too
	if got, want := names(t, s), []string{"20261122T15 writing"}; !slices.Equal(got, want) {
		t.Errorf("got partitions %v, want %v", got, want)
	}
	maintain()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("data directory holds %v, %v; want FORMAT, LOCK and one partition", entries, err)
	}
}

// TestRetentionIsExact checks that readers do not see what is too old, though its
// directory is still there.
func TestRetentionIsExact(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	o := testOptions(t, c)
	o.Retention = time.Hour
	s := mustOpen(t, t.TempDir(), o)
	mustAppend(t, s, testRecord(0))
	c.Add(10 * time.Minute)
	mustAppend(t, s, testRecord(1))
	c.Add(time.Hour)
	wantAll(t, s, store.Query{}, 1, 2)
	c.Add(time.Second)
	wantAll(t, s, store.Query{}, 0, 0)
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []local.Options{
		{Partition: 7 * time.Hour}, {Partition: time.Second}, {Partition: -time.Hour}, {Partition: 48 * time.Hour},
		{Retention: -1}, {GroupTraces: 257}, {QueueTraces: -1}, {MemTableSize: 1 << 20},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		if s, err := local.Open(dir, o); err == nil {
			s.Close()
			t.Errorf("options %+v are accepted", o)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("options %+v: a directory was made", o)
		}
	}
}
