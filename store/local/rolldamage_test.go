package local_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

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
		var recs []store.Record
		for i := range 30 {
			id := store.ID{}
			id.View[0], id.View[1], id.View[15] = byte(r.IntN(256)), byte(h), byte(i)
			recs = append(recs, traceRecord(t, fieldTrace(r, id), id))
		}
		mustAppend(t, s, recs...)
		rollAll(t, s)
		c.Add(time.Hour)
	}
	c.Set(daysLater)
	if err := s.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	rollAll(t, s)
	want, stats := answer(t, s.Reader, store.Query{}, false)
	if stats.Days == 0 || !stats.Complete() {
		t.Fatalf("not rolled up: %+v", stats)
	}
	mustClose(t, s)
	return dir, want
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
			got, stats := answer(t, s.Reader, store.Query{}, none)
			if got != want {
				t.Errorf("%s, traces only %t:\n%s\n%+v", when, none, differences(got, want), stats)
			}
		}
	}
	check("at first")
	rollAll(t, s)
	check("rolled up again")
	_, stats := answer(t, s.Reader, store.Query{}, false)
	if stats.Days == 0 || stats.Partitions != 0 || !stats.Complete() {
		t.Errorf("not by rollups, or not complete: %+v", stats)
	}
}

// What a crash has left of a file of sums that was being written does no harm, and goes.
func TestHalfMadeSums(t *testing.T) {
	t.Parallel()
	dir, want := rolledDir(t, 3)
	for _, name := range []string{"20261121.hours.sums.tmp", "202611.days.sums.tmp", "20261122.hours.sums.tmp"} {
		whole, err := os.ReadFile(filepath.Join(dir, "20261121.hours.sums"))
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{0, 7, len(whole) / 2, len(whole)} {
			if err := os.WriteFile(filepath.Join(dir, name), whole[:size], 0o600); err != nil {
				t.Fatal(err)
			}
			wantAnswer(t, dir, want)
			if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
				t.Errorf("%s of %d bytes: %v is left", name, size, left)
			}
		}
	}
	if set, _ := filepath.Glob(filepath.Join(dir, "*.corrupt*")); len(set) > 0 {
		t.Errorf("set aside: %s", set)
	}
}

// damages are done to a file of sums. Each says whether what it had can still be known.
var damages = map[string]func(t *testing.T, file string, r *rand.Rand){
	"flipped":         func(t *testing.T, file string, r *rand.Rand) { flip(t, file, r.IntN(int(sizeOf(t, file)))) },
	"truncated":       func(t *testing.T, file string, r *rand.Rand) { cut(t, file, r.Int64N(sizeOf(t, file))) },
	"half of it":      func(t *testing.T, file string, _ *rand.Rand) { cut(t, file, sizeOf(t, file)/2) },
	"without its end": func(t *testing.T, file string, _ *rand.Rand) { cut(t, file, sizeOf(t, file)-1) },
	"empty":           func(t *testing.T, file string, _ *rand.Rand) { cut(t, file, 0) },
	"zeros": func(t *testing.T, file string, _ *rand.Rand) {
		size := sizeOf(t, file)
		cut(t, file, 0)
		cut(t, file, size)
	},
	"deleted": func(t *testing.T, file string, _ *rand.Rand) { mustRemove(t, file) },
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fi.Size()
}

func mustRemove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// checkDamaged opens dir and asks: what is answered is right, or said not to be complete.
// It does so before and after all is rolled up again, and returns what the last answer was.
func checkDamaged(t *testing.T, dir, want string, traces bool) (right bool, stats store.ScanStats) {
	t.Helper()
	s := mustOpen(t, dir, rolledOptions(t, newClock(daysLater)))
	defer s.Close()
	for range 3 {
		got, st := answer(t, s.Reader, store.Query{}, false)
		if right, stats = got == want, st; !right && st.Complete() {
			t.Errorf("a wrong answer that is called complete:\n%s\n%+v", differences(got, want), st)
		}
		if got, st := answer(t, s.Reader, store.Query{}, true); traces && (got != want || len(st.Gaps) > 0) {
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

// TestDamagedSums damages files of sums. As long as there are the traces, the
// answer is right in the end, also after another start; without them, what is missing is
// said.
func TestDamagedSums(t *testing.T) {
	t.Parallel()
	from, want := rolledDir(t, 4)
	times := rounds(t, "SOAK_DAMAGES", 1)
	for name, damage := range damages {
		for _, files := range [][]string{{"20261121.hours.sums"}, {"202611.days.sums"}, {"20261121.hours.sums", "202611.days.sums"}} {
			for _, traces := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s of %s, traces %t", name, files, traces), func(t *testing.T) {
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
						if name == "deleted" && !traces {
							continue // nothing is left that could know
						}
						for _, file := range files {
							damage(t, filepath.Join(dir, file), rand.New(rand.NewPCG(uint64(seed), 9)))
						}
						checkDamaged(t, dir, want, traces)
						right, stats := checkDamaged(t, dir, want, traces)
						if traces && !right {
							t.Errorf("the traces are there, and the answer is not right: %+v", stats)
						}
						if !traces && right && len(files) == 2 && name != "flipped" {
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
	t.Parallel()
	from := filepath.Join(t.TempDir(), "data")
	c := newClock(noon)
	s := mustOpen(t, from, rolledOptions(t, c))
	r := rand.New(rand.NewPCG(3, 3))
	for i := range 60 {
		id := store.ID{}
		id.View[0], id.View[15] = byte(r.IntN(256)), byte(i)
		mustAppend(t, s, traceRecord(t, fieldTrace(r, id), id))
		if i%15 == 14 {
			rollAll(t, s)
		}
	}
	want, _ := answer(t, s.Reader, store.Query{}, true)
	mustClose(t, s)
	kinds := []byte{record.KindRollup, record.KindStacks, record.KindMark}
	step := 4
	if rounds(t, "SOAK_DAMAGES", 0) > 0 {
		step = 1
	}
	keys := valuesOf(t, filepath.Join(from, "20261121T12"), kinds...)
	for n := 0; n < len(keys); n += step {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		part := filepath.Join(dir, "20261121T12")
		flipValue(t, part, keys[n], r)
		for _, at := range []time.Time{noon.Add(time.Minute), noon.Add(90 * time.Minute), daysLater} {
			s := mustOpen(t, dir, rolledOptions(t, newClock(at)))
			for range 2 {
				got, st := answer(t, s.Reader, store.Query{}, false)
				if got != want {
					t.Errorf("value of %q damaged, at %v: %s\n%+v", keys[n], at, differences(got, want), st)
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

// What was read of a file of sums that was set aside is not taken for what the file has that
// takes its place, although that has as many hours.
func TestCacheAfterSetAside(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	dir := t.TempDir()
	s := mustOpen(t, dir, rolledOptions(t, c))
	fillRolled(t, s, c, 2, 30) // 12 and 13
	q := store.Query{Page: "/feed"}
	for range 3 { // the cache takes its time
		if _, st := answer(t, s.Reader, q, false); st.Hours != 2 {
			t.Fatalf("not read from sums: %+v", st)
		}
	}
	// The file turns out to be damaged, and the traces of the first hour are gone.
	if err := s.Sums().SetAside(s.Sums().Files()[0], store.ErrDamaged); err != nil {
		t.Fatal(err)
	}
	s.Parts().Remove("20261121T12")
	if err := s.Sums().Remove("20261121.hours.sums.corrupt"); err != nil {
		t.Fatal(err)
	}
	maintainAndRoll(t, s)
	fillRolled(t, s, c, 1, 30) // 14: now as many hours as before
	want, _ := answer(t, s.Reader, q, true)
	for range 3 {
		if got, st := answer(t, s.Reader, q, false); got != want || st.Hours != 2 || !st.Complete() {
			t.Errorf("%s\n%+v", differences(got, want), st)
		}
	}
}
