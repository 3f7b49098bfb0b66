package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
)

// TestUnreadablePartition damages one partition of three in ways that keep Badger
// from opening it, or end the process if it tries.
func TestUnreadablePartition(t *testing.T) {
	t.Parallel()
	damage := map[string]func(t *testing.T, part string){
		"manifest flipped": func(t *testing.T, part string) { flip(t, filepath.Join(part, "MANIFEST"), 20) },
		"manifest gone":    func(t *testing.T, part string) { remove(t, filepath.Join(part, "MANIFEST")) },
		"table gone":       func(t *testing.T, part string) { remove(t, glob(t, part, "*.sst")) },
		"table cut":        func(t *testing.T, part string) { cut(t, glob(t, part, "*.sst"), 1000) },
		"table empty":      func(t *testing.T, part string) { cut(t, glob(t, part, "*.sst"), 0) },
	}
	for name, harm := range damage {
		for _, clean := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", clean", false: ", not clean"}[clean], func(t *testing.T) {
				dir, part := threeHours(t)
				harm(t, part)
				if !clean {
					remove(t, filepath.Join(part, "CLEAN"))
				}
				files, err := os.ReadDir(part)
				if err != nil {
					t.Fatal(err)
				}
				for _, open := range []func() (reader, error){
					func() (reader, error) { return local.Open(dir, testOptions(t, newClock(noon.Add(3*time.Hour)))) },
					func() (reader, error) { return local.OpenReader(dir, testOptions(t, nil)) },
				} {
					s, err := open()
					if err != nil {
						t.Fatal(err)
					}
					seen, st := scanIDs(t, s, store.Query{Page: "/feed"})
					if len(seen) != 20 {
						t.Errorf("got %d traces, want the 20 of the other partitions", len(seen))
					}
					if len(st.Unreadable) != 1 || !strings.HasPrefix(st.Unreadable[0].Partition, "20261121T13") || st.Complete() {
						t.Errorf("got %+v, want that 20261121T13 is unreadable", st)
					}
					if _, st := scanIDs(t, s, store.Query{Until: noon.Add(time.Minute)}); clean && !st.Complete() {
						t.Errorf("a query of another time is not complete: %+v", st)
					}
					status, err := s.Status()
					if err != nil || len(status.Partitions) != 3 {
						t.Fatalf("got %+v, %v, want three partitions", status, err)
					}
					bad := 0
					for _, p := range status.Partitions {
						if (p.State == local.Faulty || p.State == local.Quarantine) && p.Reason != "" {
							bad++
						}
					}
					if bad != 1 {
						t.Errorf("got status %+v, want one bad partition", status)
					}
					mustClose(t, s)
				}
				// Nothing of it was deleted.
				if !clean {
					part += ".corrupt"
				}
				for _, f := range files {
					if _, err := os.Stat(filepath.Join(part, f.Name())); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// reader is what Store and Reader have in common.
type reader interface {
	scanner
	Status() (local.Status, error)
	Close() error
}

// TestManifestCut takes the end of a manifest away. In a cleanly closed partition
// that is damage; after a crash it is what Badger expects, and it would delete the
// tables that are no longer named.
func TestManifestCut(t *testing.T) {
	t.Parallel()
	dir, part := threeHours(t)
	table := glob(t, part, "*.sst")
	cut(t, filepath.Join(part, "MANIFEST"), 8)
	r, err := local.OpenReader(dir, testOptions(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if seen, st := scanIDs(t, r, store.Query{}); len(seen) != 20 || len(st.Unreadable) != 1 {
		t.Errorf("closed cleanly: got %d traces, %+v, want 20 and an unreadable partition", len(seen), st)
	}
	mustClose(t, r)
	remove(t, filepath.Join(part, "CLEAN"))
	s := mustOpen(t, dir, testOptions(t, nil))
	at := noon.Add(time.Hour)
	if seen, st := scanIDs(t, s, store.Query{Since: at, Until: at.Add(1)}); len(seen) != 0 || st.Lost != 10 {
		t.Errorf("after a crash: got %d traces, %+v, want 10 lost", len(seen), st)
	}
	if _, err := os.Stat(table + ".orphan"); err != nil {
		t.Errorf("the table was not kept: %v", err)
	}
}

// TestOrphansGo checks that a table left by a compaction does not stay for ever.
func TestOrphansGo(t *testing.T) {
	t.Parallel()
	dir, part := threeHours(t)
	b, err := os.ReadFile(glob(t, part, "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	orphan := filepath.Join(part, "000099.sst")
	if err := os.WriteFile(orphan, b, 0o644); err != nil {
		t.Fatal(err)
	}
	remove(t, filepath.Join(part, "CLEAN"))
	s := mustOpen(t, dir, testOptions(t, nil))
	wantAll(t, s, store.Query{}, 0, 30)
	if m, _ := filepath.Glob(orphan + "*"); len(m) != 0 {
		t.Errorf("the orphan is still there: %v", m)
	}
}

// threeHours returns a data directory with 10 traces in each of three partitions,
// and the path of the second.
func threeHours(t testing.TB) (dir, part string) {
	t.Helper()
	dir = t.TempDir()
	c := newClock(noon)
	s := mustOpen(t, dir, testOptions(t, c))
	for h := range 3 {
		mustAppend(t, s, testRecords(10*h, 10*h+10)...)
		c.Add(time.Hour)
	}
	mustClose(t, s)
	return dir, filepath.Join(dir, "20261121T13")
}

func remove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func cut(t testing.TB, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// TestUnwritablePartition damages the newest partition, which a restart within the
// hour wants to go on writing to.
func TestUnwritablePartition(t *testing.T) {
	t.Parallel()
	dir, part := filled(t, 10)
	remove(t, glob(t, part, "*.sst"))
	s := mustOpen(t, dir, testOptions(t, newClock(noon)))
	if _, err := s.Append(t.Context(), []store.Record{testRecord(10)}); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("first append: got %v, want that the partition is damaged", err)
	}
	mustAppend(t, s, testRecord(10))
	seen, st := scanIDs(t, s, store.Query{})
	if len(seen) != 1 || len(st.Unreadable) != 1 || st.Unreadable[0].Partition != "20261121T12.corrupt" {
		t.Errorf("got %d traces, %+v; want the new one and that the others are missing", len(seen), st)
	}
}

func TestRetentionOfQuarantine(t *testing.T) {
	t.Parallel()
	dir, part := threeHours(t)
	remove(t, filepath.Join(part, "MANIFEST"))
	remove(t, filepath.Join(part, "CLEAN"))
	c := newClock(noon.Add(3 * time.Hour))
	o := testOptions(t, c)
	o.Retention = 12 * time.Hour
	s := mustOpen(t, dir, o)
	for _, tt := range []struct {
		add  time.Duration
		want int
	}{{0, 3}, {24 * time.Hour, 0}} {
		c.Add(tt.add)
		if err := s.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if st, err := s.Status(); err != nil || len(st.Partitions) != tt.want {
			t.Errorf("after %v: got %d partitions, %v, want %d", tt.add, len(st.Partitions), err, tt.want)
		}
	}
	if m, _ := filepath.Glob(filepath.Join(dir, "2026*")); len(m) != 0 {
		t.Errorf("left on disk: %v", m)
	}
}

// TestInterruptedDeletion leaves a directory half deleted, as a crash would.
func TestInterruptedDeletion(t *testing.T) {
	t.Parallel()
	dir, part := threeHours(t)
	if err := os.Rename(part, part+".deleting"); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, dir, testOptions(t, nil))
	if seen, st := scanIDs(t, s, store.Query{}); len(seen) != 20 || !st.Complete() {
		t.Errorf("got %d traces, %+v, want 20", len(seen), st)
	}
	if _, err := os.Stat(part + ".deleting"); !os.IsNotExist(err) {
		t.Errorf("the rest of the deleted partition is still there (%v)", err)
	}
}
