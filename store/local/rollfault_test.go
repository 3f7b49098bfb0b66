package local_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
	"github.com/fieldtrie/fieldtrie/trie"
)

// wideTrace returns a trace with as many functions, whose names can not be compressed.
func wideTrace(r *rand.Rand, id store.ID, frames int) *trie.Trace {
	t := &trie.Trace{Trie: *trie.New()}
	c := &t.Context
	c.Page, c.ViewID, c.Interval = "/feed", string(id.View[:]), 10_000
	for i := range frames {
		name := make([]byte, 120)
		for k := range name {
			name[k] = byte(' ' + r.IntN(95))
		}
		n := t.Insert(trie.Frame{Name: string(name), Resource: "https://x.example/app.js", Line: 1})
		t.Samples = append(t.Samples, trie.Sample{Time: int64(i) * 100, Node: n})
	}
	return t
}

// The rollup of a page may be larger than a transaction, and its stacks end somewhere.
func TestLargeRollup(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	o := rolledOptions(t, c)
	o.Rollups.Bytes = 4 << 20
	s := mustOpen(t, t.TempDir(), o)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 20 {
		mustAppend(t, s, traceRecord(t, wideTrace(r, traceID(i), 3000), traceID(i)))
	}
	for range 2 {
		if err := s.Roll(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, stats := answer(t, s.Reader, store.Query{Page: "/feed"}, false)
		want, _ := answer(t, s.Reader, store.Query{Page: "/feed"}, true)
		if got[len(got)-40:] != want[len(want)-40:] || !stats.Complete() || stats.RolledUp != 20 {
			t.Errorf("got …%s, want …%s; %+v", got[len(got)-40:], want[len(want)-40:], stats)
		}
		if len(got) > len(want)*3/4 {
			t.Errorf("%d bytes of stacks are in the rollup, of %d", len(got), len(want))
		}
		c.Add(2 * time.Hour)
		if err := s.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// rolledDay is a store with a day that is over and rolled up, and what there is to answer.
func rolledDay(t *testing.T, dir string, o local.Options, c *clock) (s *local.Store, want string) {
	t.Helper()
	s = mustOpen(t, dir, o)
	fillRolled(t, s, c, 24, 5)
	c.Add(time.Hour)
	maintainAndRoll(t, s)
	want, _ = answer(t, s.Reader, store.Query{Page: "/feed"}, false)
	return s, want
}

// A rollup of a day is not made again of less, when what it was made of is partly gone.
func TestDayStaysWhole(t *testing.T) {
	t.Parallel()
	start := noon.Truncate(24 * time.Hour)
	for name, keep := range map[string]struct{ traces, hours, days time.Duration }{
		"hours are lost":          {traces: 7 * 24 * time.Hour},
		"hours are kept for less": {traces: 40 * 24 * time.Hour, hours: 24 * time.Hour, days: 400 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClock(start)
			o := rolledOptions(t, c)
			o.Retention, o.HourRetention, o.DayRetention = keep.traces, keep.hours, keep.days
			dir := t.TempDir()
			s, want := rolledDay(t, dir, o, c)
			for _, h := range []time.Duration{0, 12, 24} {
				c.Set(start.Add(keep.traces + h*time.Hour + 30*time.Minute))
				maintainAndRoll(t, s)
				mustClose(t, s)
				if keep.hours == 0 && h == 12 {
					if err := os.Rename(filepath.Join(dir, "20261121.hours.sums"), filepath.Join(dir, "20261121.hours.sums.corrupt")); err != nil {
						t.Fatal(err)
					}
				}
				s = mustOpen(t, dir, o)
				maintainAndRoll(t, s)
				if got, stats := answer(t, s.Reader, store.Query{Page: "/feed"}, false); got != want {
					t.Errorf("%v later:\n%s\n%+v", h*time.Hour, differences(got, want), stats)
				}
			}
		})
	}
}

// What is damaged costs what it says, and neither the store nor the rollups of the rest.
func TestDamageStopsNothing(t *testing.T) {
	t.Parallel()
	c := newClock(noon.Truncate(24 * time.Hour))
	o := rolledOptions(t, c)
	dir := t.TempDir()
	s := mustOpen(t, dir, o)
	fillRolled(t, s, c, 2, 5)
	file := filepath.Join(dir, "20261121.hours.sums")
	flip(t, file, int(sizeOf(t, file))/2)
	// In the open partition: a count of page views, and how far a page is rolled up.
	r := rand.New(rand.NewPCG(2, 2))
	mustAppend(t, s, traceRecord(t, fieldTrace(r, traceID(1)), traceID(1)))
	s.CountViews("/feed", "unsampled", 5)
	c.Add(time.Minute)
	if err := s.Roll(t.Context()); err != nil {
		t.Log(err)
	}
	bad := []byte("damaged damaged damaged damag")
	err := s.Parts().Current().Put([]record.Pair{
		{Key: record.AppendOutcomeKey(nil, "/feed", "unsampled"), Value: bad},
		{Key: record.AppendMarkKey(nil, "/feed"), Value: bad},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.ForgetPages()
	s.CountViews("/feed", "unsampled", 7)
	mustAppend(t, s, traceRecord(t, fieldTrace(r, traceID(2)), traceID(2)))
	for range 30 {
		c.Add(time.Hour)
		if err := s.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Roll(t.Context()); err != nil {
			t.Log(err)
		}
	}
	got, stats := answer(t, s.Reader, store.Query{Page: "/feed"}, false)
	want, _ := answer(t, s.Reader, store.Query{Page: "/feed"}, true)
	if got != want || stats.Days != 1 || s.Err() != nil {
		t.Errorf("%v\n%s\n%+v", s.Err(), differences(got, want), stats)
	}
}

// A day that is made again is there until the new one takes its place, also after a kill.
func TestDayMadeAgain(t *testing.T) {
	t.Parallel()
	start := noon.Truncate(24 * time.Hour)
	c := newClock(start)
	dir := t.TempDir()
	s, want := rolledDay(t, dir, rolledOptions(t, c), c)
	check := func(s *local.Store) {
		t.Helper()
		if got, stats := answer(t, s.Reader, store.Query{Page: "/feed"}, false); got != want || stats.Days != 1 || !stats.Complete() {
			t.Errorf("%s\n%+v", differences(got, want), stats)
		}
	}
	w, err := s.Sums().Edit(rollups.Days, uint32(start.Unix()/60))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	check(s)
	killed := mustOpen(t, copyDir(t, dir), rolledOptions(t, c))
	check(killed)
	maintainAndRoll(t, killed)
	check(killed)
}
