package store

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// rolledOptions are those of a store whose clock is set and that rolls up at once.
func rolledOptions(t testing.TB, c *clock) Options {
	o := testOptions(t, c)
	o.RollEvery, o.RollTraces = time.Nanosecond, 1
	return o
}

// daysLater is when the days of rolledDir are over and rolled up.
var daysLater = noon.Add(72 * time.Hour)

// rolledDir returns a data directory with traces of that many hours, rolled up by hours
// and days, and what there is to answer about it.
func rolledDir(t testing.TB, parts int) (dir, want string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	c := newClock(noon.Add(-8 * time.Hour))
	s := mustOpen(t, dir, rolledOptions(t, c))
	r := rand.New(rand.NewPCG(7, 7))
	for h := range parts {
		var recs []Record
		for i := range 30 {
			id := ID{}
			id.View[0], id.View[1], id.View[15] = byte(r.IntN(256)), byte(h), byte(i)
			recs = append(recs, traceRecord(t, fieldTrace(r, id), id))
		}
		mustAppend(t, s, recs...)
		mustRoll(t, s)
		c.Add(time.Hour)
	}
	c.Set(daysLater)
	if err := s.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustRoll(t, s)
	want, stats := answer(t, s.Reader, Query{}, false)
	if stats.Days == 0 || !stats.Complete() {
		t.Fatalf("not rolled up: %+v", stats)
	}
	mustClose(t, s)
	return dir, want
}

func mustRoll(t testing.TB, s *Store) {
	t.Helper()
	rollAll(t, s)
}

// wantAnswer opens dir, and checks that it answers as it should by rollups and by traces,
// before and after it has rolled up once more.
func wantAnswer(t testing.TB, dir, want string) {
	t.Helper()
	s := mustOpen(t, dir, rolledOptions(t, newClock(daysLater)))
	defer s.Close()
	check := func(when string) {
		t.Helper()
		for _, none := range []bool{false, true} {
			got, stats := answer(t, s.Reader, Query{}, none)
			if got != want {
				t.Errorf("%s, traces only %t:\n%s\n%+v", when, none, differences(got, want), stats)
			}
		}
	}
	check("at first")
	mustRoll(t, s)
	check("rolled up again")
	_, stats := answer(t, s.Reader, Query{}, false)
	if stats.Days == 0 || stats.Partitions != 0 || !stats.Complete() {
		t.Errorf("not by rollups, or not complete: %+v", stats)
	}
}

// damages are done to a partition of rollups. Each returns what it did.
var damages = map[string]func(t *testing.T, part string, r *rand.Rand){
	"table flipped": func(t *testing.T, part string, r *rand.Rand) {
		path := anyFile(t, part, "*.sst", r)
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		flip(t, path, r.IntN(int(fi.Size())))
	},
	"table truncated": func(t *testing.T, part string, r *rand.Rand) {
		path := anyFile(t, part, "*.sst", r)
		fi, err := os.Stat(path)
		if err == nil {
			err = os.Truncate(path, r.Int64N(fi.Size()))
		}
		if err != nil {
			t.Fatal(err)
		}
	},
	"table deleted":     func(t *testing.T, part string, r *rand.Rand) { mustRemove(t, anyFile(t, part, "*.sst", r)) },
	"manifest flipped":  func(t *testing.T, part string, r *rand.Rand) { flip(t, filepath.Join(part, "MANIFEST"), 8+r.IntN(20)) },
	"manifest deleted":  func(t *testing.T, part string, _ *rand.Rand) { mustRemove(t, filepath.Join(part, "MANIFEST")) },
	"manifest cut off":  func(t *testing.T, part string, _ *rand.Rand) { sized(t, filepath.Join(part, "MANIFEST"), 0) },
	"CLEAN deleted":     func(t *testing.T, part string, _ *rand.Rand) { mustRemove(t, filepath.Join(part, cleanFile)) },
	"partition deleted": func(t *testing.T, part string, _ *rand.Rand) { mustRemove(t, part) },
	"all tables deleted after a crash": func(t *testing.T, part string, _ *rand.Rand) {
		if err := os.Rename(filepath.Join(part, cleanFile), filepath.Join(part, openedFile)); err != nil {
			t.Fatal(err)
		}
		all, _ := filepath.Glob(filepath.Join(part, "*.sst"))
		for _, path := range append(all, filepath.Join(part, "MANIFEST")) {
			mustRemove(t, path)
		}
	},
}

func anyFile(t *testing.T, part, pattern string, r *rand.Rand) string {
	t.Helper()
	m, err := filepath.Glob(filepath.Join(part, pattern))
	if err != nil || len(m) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	return m[r.IntN(len(m))]
}

func mustRemove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// checkDamaged opens dir and asks: what is answered is right, or said not to be complete.
// It does so before and after all is rolled up again, and returns what the last answer was.
func checkDamaged(t *testing.T, dir, want string, traces bool) (right bool, stats ScanStats) {
	t.Helper()
	s := mustOpen(t, dir, rolledOptions(t, newClock(daysLater)))
	defer s.Close()
	for range 3 {
		got, st := answer(t, s.Reader, Query{}, false)
		if right, stats = got == want, st; !right && st.Complete() {
			t.Errorf("a wrong answer that is called complete:\n%s\n%+v", differences(got, want), st)
		}
		if got, st := answer(t, s.Reader, Query{}, true); traces && (got != want || len(st.Gaps) > 0) {
			t.Errorf("by traces, a wrong answer:\n%s\n%+v", differences(got, want), st)
		}
		if err := s.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Roll(t.Context()); err != nil {
			t.Log(err)
		}
	}
	return right, stats
}

// TestDamagedRollups damages partitions of rollups. As long as there are the traces, the
// answer is right in the end, also after another start; without them, what is missing is
// said.
func TestDamagedRollups(t *testing.T) {
	from, want := rolledDir(t, 4)
	times := rounds(t, "SOAK_DAMAGES", 1)
	for name, damage := range damages {
		for _, parts := range [][]string{{"20261121.hours"}, {"202611.days"}, {"20261121.hours", "202611.days"}} {
			for _, traces := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s of %s, traces %t", name, parts, traces), func(t *testing.T) {
					t.Parallel()
					for seed := range times {
						dir := filepath.Join(t.TempDir(), fmt.Sprint(seed))
						if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
							t.Fatal(err)
						}
						if !traces {
							all, _ := filepath.Glob(filepath.Join(dir, "20261121T*"))
							for _, path := range all {
								mustRemove(t, path)
							}
						}
						if name == "partition deleted" && !traces {
							continue // nothing is left that could know
						}
						for _, part := range parts {
							damage(t, filepath.Join(dir, part), rand.New(rand.NewPCG(uint64(seed), 9)))
						}
						checkDamaged(t, dir, want, traces)
						right, stats := checkDamaged(t, dir, want, traces)
						if traces && !right {
							t.Errorf("the traces are there, and the answer is not right: %+v", stats)
						}
						if !traces && right && len(parts) == 2 && name != "CLEAN deleted" && name != "table flipped" {
							t.Error("the answer is right, and nothing is left that could give it: the test misses its aim")
						}
					}
				})
			}
		}
	}
}

// TestDamagedFresh flips a byte in each of the values of which the rollups of the open
// partition are made: records, stacks and marks. The traces are read instead.
func TestDamagedFresh(t *testing.T) {
	from := filepath.Join(t.TempDir(), "data")
	c := newClock(noon)
	s := mustOpen(t, from, rolledOptions(t, c))
	r := rand.New(rand.NewPCG(3, 3))
	for i := range 60 {
		id := ID{}
		id.View[0], id.View[15] = byte(r.IntN(256)), byte(i)
		mustAppend(t, s, traceRecord(t, fieldTrace(r, id), id))
		if i%15 == 14 {
			mustRoll(t, s)
		}
	}
	want, _ := answer(t, s.Reader, Query{}, true)
	mustClose(t, s)
	kinds := []byte{kindRollup, kindStacks, kindMark}
	step := 4
	if rounds(t, "SOAK_DAMAGES", 0) > 0 {
		step = 1
	}
	for n := 0; n < len(valuesOf(t, filepath.Join(from, "20261121T12"), kinds)); n += step {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		part := filepath.Join(dir, "20261121T12")
		key := flipValue(t, part, kinds, n, r)
		for _, at := range []time.Time{noon.Add(time.Minute), noon.Add(90 * time.Minute), daysLater} {
			s := mustOpen(t, dir, rolledOptions(t, newClock(at)))
			for range 2 {
				got, st := answer(t, s.Reader, Query{}, false)
				if got != want {
					t.Errorf("value of %q damaged, at %v: %s\n%+v", key, at, differences(got, want), st)
				}
				if err := s.Maintain(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := s.Roll(t.Context()); err != nil && !strings.Contains(err.Error(), "damaged") {
					t.Error(err)
				}
			}
			mustClose(t, s)
		}
	}
}

// valuesOf returns the keys of some kinds in a partition that is closed.
func valuesOf(t *testing.T, part string, kinds []byte) (keys [][]byte) {
	t.Helper()
	db, err := openBadger(badgerOptions(part, smallMem, true, slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if slices.Contains(kinds, it.Item().Key()[0]) {
				keys = append(keys, it.Item().KeyCopy(nil))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// flipValue flips a bit in the n-th value of some kinds, behind the store's back.
func flipValue(t *testing.T, part string, kinds []byte, n int, r *rand.Rand) (key []byte) {
	t.Helper()
	key = valuesOf(t, part, kinds)[n]
	c, err := readClean(part)
	if err != nil {
		t.Fatal(err)
	}
	db, err := openBadger(badgerOptions(part, smallMem, false, slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(txn *badger.Txn) error {
		item, err := txn.Get(key)
		if err != nil {
			return err
		}
		v, err := item.ValueCopy(nil)
		if err != nil {
			return err
		}
		v[r.IntN(len(v))] ^= 1 << r.IntN(8)
		return txn.Set(key, v)
	})
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, db)
	if _, err := writeClean(part, c); err != nil {
		t.Fatal(err)
	}
	return key
}
