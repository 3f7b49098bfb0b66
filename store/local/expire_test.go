package local_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
)

// fillRolled stores n traces an hour for some hours and rolls them up.
func fillRolled(t *testing.T, s *local.Store, c *clock, hours, n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	for range hours {
		var recs []store.Record
		for range n {
			var id store.ID
			for i := range id.View {
				id.View[i] = byte(r.Uint32())
			}
			rec := traceRecord(t, fieldTrace(r, id), id)
			// What can not be compressed, so that there is something to measure.
			rec.Tags = append(rec.Tags, store.Tag{Key: "release", Value: id.String()})
			recs = append(recs, rec)
		}
		mustAppend(t, s, recs...)
		c.Add(time.Hour)
		maintainAndRoll(t, s)
	}
}

// kinds returns how many partitions there are of each kind, and the bytes of all.
func kinds(t *testing.T, s *local.Store) (of map[string]int, bytes int64) {
	t.Helper()
	st, err := s.Status()
	if err != nil {
		t.Fatal(err)
	}
	of = map[string]int{}
	for _, p := range st.Partitions {
		of[p.Holds]++
	}
	return of, st.Bytes
}

// What is old goes, the space with it, and what it sums up to still answers.
func TestExpiry(t *testing.T) {
	t.Parallel()
	c := newClock(noon.Truncate(24 * time.Hour))
	o := testOptions(t, c)
	o.RollEvery, o.RollTraces = time.Nanosecond, 1
	o.Retention, o.HourRetention, o.DayRetention = 7*24*time.Hour, 30*24*time.Hour, 400*24*time.Hour
	dir := t.TempDir()
	s := mustOpen(t, dir, o)
	fillRolled(t, s, c, 26, 20)
	q := store.Query{Page: "/feed"}
	want, _ := answer(t, s.Reader, q, true)
	entries, _, err := s.Catalog(t.Context(), time.Time{}, time.Time{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, full := kinds(t, s)
	for _, step := range []struct {
		after time.Duration
		want  map[string]int
	}{
		{9 * 24 * time.Hour, map[string]int{"hours": 2, "days": 1}},
		{33 * 24 * time.Hour, map[string]int{"days": 1}},
	} {
		c.Set(noon.Truncate(24 * time.Hour).Add(step.after))
		maintainAndRoll(t, s)
		of, bytes := kinds(t, s)
		if len(of) != len(step.want) || of["hours"] != step.want["hours"] || of["days"] != step.want["days"] {
			t.Errorf("after %v: got %v, want %v", step.after, of, step.want)
		}
		if bytes > full/2 { // of so few traces: sums of a day are as large as twenty of them
			t.Errorf("after %v there are %d of %d bytes", step.after, bytes, full)
		}
		got, stats := answer(t, s.Reader, q, false)
		if got != want || !stats.Complete() {
			t.Errorf("after %v:\n%s\n%+v", step.after, differences(got, want), stats)
		}
		again, _, err := s.Catalog(t.Context(), time.Time{}, time.Time{}, 0)
		if err != nil || len(again) != len(entries) {
			t.Errorf("after %v: the catalogue has %d entries of %d, %v", step.after, len(again), len(entries), err)
		}
		// Of a part of an hour or day there is no more than the whole.
		_, stats = answer(t, s.Reader, store.Query{Page: "/feed", Until: noon.Truncate(24 * time.Hour).Add(90 * time.Minute)}, false)
		if whole := step.want["hours"] == 0; (len(stats.Widened) > 0) != whole {
			t.Errorf("after %v: widened %+v", step.after, stats.Widened)
		}
		mustClose(t, s)
		s = mustOpen(t, dir, o)
	}
	c.Set(noon.Add(500 * 24 * time.Hour))
	maintainAndRoll(t, s)
	if of, bytes := kinds(t, s); len(of) != 0 || bytes != 0 {
		t.Errorf("in the end there is %v, %d bytes", of, bytes)
	}
}

// Traces are not deleted before they are rolled up.
func TestExpiryWaitsForRollups(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	o := testOptions(t, c)
	o.RollEvery, o.Retention = time.Minute, 30*time.Hour
	s := mustOpen(t, t.TempDir(), o)
	id := traceID(1)
	mustAppend(t, s, traceRecord(t, fieldTrace(rand.New(rand.NewPCG(1, 1)), id), id))
	c.Add(48 * time.Hour)
	if err := s.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(names(t, s), " "); got != "20261121T12 closed" {
		t.Errorf("before rolling up: %s", got)
	}
	maintainAndRoll(t, s)
	if got := strings.Join(names(t, s), " "); got != "202611.days.sums closed 20261121.hours.sums closed" {
		t.Errorf("after rolling up: %s", got)
	}
}

// Over the byte budget the oldest traces go first.
func TestBudget(t *testing.T) {
	t.Parallel()
	c := newClock(noon.Truncate(24 * time.Hour))
	o := testOptions(t, c)
	o.RollEvery, o.RollTraces = time.Nanosecond, 1
	dir := t.TempDir()
	s := mustOpen(t, dir, o)
	fillRolled(t, s, c, 6, 50)
	q := store.Query{Page: "/feed"}
	want, _ := answer(t, s.Reader, q, true)
	_, full := kinds(t, s)
	mustClose(t, s)
	o.MaxDisk = full * 2 / 3
	s = mustOpen(t, dir, o)
	maintainAndRoll(t, s)
	of, bytes := kinds(t, s)
	if bytes > o.MaxDisk || of["traces"] == 0 || of["traces"] >= 6 || of["hours"] != 1 {
		t.Errorf("%d of %d bytes with a budget of %d: %v", bytes, full, o.MaxDisk, of)
	}
	if got := names(t, s); strings.HasPrefix(got[0], "20261121T00") {
		t.Errorf("the oldest is still there: %v", got)
	}
	if got, stats := answer(t, s.Reader, q, false); got != want || !stats.Complete() {
		t.Errorf("%s\n%+v", differences(got, want), stats)
	}
}
