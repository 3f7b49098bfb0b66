package shared

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// aged is a directory of some days: of the first the rollups of the day are left, of the second those of its hours, and of
// the third the traces.
type aged struct {
	t    testing.TB
	path string
	now  time.Time
	rnd  *rand.Rand
	sent []store.Record // those of the last hours
}

// newAged makes a directory that began some days ago.
func newAged(t testing.TB, seed uint64) *aged {
	a := &aged{t: t, path: t.TempDir(), now: time.Date(2026, 11, 18, 10, 10, 0, 0, time.UTC), rnd: rand.New(rand.NewPCG(seed, 2))}
	a.fill(0, 0, time.Hour, 22*time.Hour+30*time.Minute, time.Hour, 13*time.Hour+20*time.Minute, 0, 7*time.Hour, time.Hour)
	return a
}

// fill appends something after each of some times, and closes the directory.
func (a *aged) fill(after ...time.Duration) {
	a.t.Helper()
	now := func() time.Time { return a.now }
	s, err := local.Open(a.path, local.Options{Now: now, MinFree: -1, Retention: 12 * time.Hour, HourRetention: 30 * time.Hour})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, d := range after {
		a.now = a.now.Add(d)
		a.settle(s)
		if len(a.sent) > 60 {
			a.sent = nil
		}
		for range 2 {
			recs := a.records(10 + a.rnd.IntN(20))
			if _, err := s.Append(a.t.Context(), recs); err != nil {
				a.t.Fatal(err)
			}
			a.sent = append(a.sent, recs...)
			v := rollup.Vital{Name: "lcp", Labels: trie.MakeLabels("release", "r1")}
			v.Add(int64(a.rnd.IntN(5_000_000)), int64(1+a.rnd.IntN(9)))
			s.CountVitals("/feed", []rollup.Vital{v})
			s.CountViews("/cart", "unsampled", int64(1+a.rnd.IntN(9)))
			a.now = a.now.Add(time.Minute)
		}
	}
	a.settle(s)
	if err := s.Close(); err != nil {
		a.t.Fatal(err)
	}
}

func (a *aged) settle(s *local.Store) {
	a.t.Helper()
	for range 2 {
		a.now = a.now.Add(time.Minute)
		if err := s.Maintain(a.t.Context()); err != nil {
			a.t.Fatal(err)
		}
		if err := s.Roll(a.t.Context()); err != nil {
			a.t.Fatal(err)
		}
	}
}

// records returns traces, of page views of which there are some already.
func (a *aged) records(n int) (out []store.Record) {
	for range n {
		var id store.ID
		binary.BigEndian.PutUint64(id.View[:], uint64(a.rnd.IntN(40))*0x9E3779B97F4A7C15)
		binary.BigEndian.PutUint64(id.View[8:], uint64(a.now.Unix()/3600))
		id.Chunk = uint32(a.rnd.IntN(1000))
		out = append(out, recordOf(id, a.rnd))
	}
	return out
}

func (a *aged) open() *local.Reader {
	a.t.Helper()
	r, err := local.OpenReader(a.path, local.Options{Now: func() time.Time { return a.now }})
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = r.Close() })
	return r
}

// node opens a bucket.
func nodeOn(t testing.TB, c *fakebucket.Client, now func() time.Time) *Node {
	t.Helper()
	n, err := Open(t.Context(), c.Bucket(now), Options{Shards: 3, Flush: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	n.b.Pause = func(ctx context.Context, attempts int, _ time.Duration) error {
		if attempts > 2 {
			return fakebucket.ErrCut
		}
		return ctx.Err()
	}
	return n
}

func quietly(int, int, uint64) {}

// TestImport moves a directory, and asks it and the bucket the same.
func TestImport(t *testing.T) {
	a := newAged(t, 1)
	r := a.open()
	list, unreadable := r.Stretches()
	text := ""
	for _, x := range list {
		text += fmt.Sprintf("%s %v %v\n", x.Name, x.HasTraces, len(x.Hours))
	}
	if len(list) != 6 || len(unreadable) > 0 || strings.Count(text, "true") != 3 || !strings.Contains(text, "days") {
		t.Fatalf("the directory is not what the test is about:\n%s%v", text, unreadable)
	}
	s := fakebucket.New(1)
	s.Now = func() time.Time { return a.now }
	n := nodeOn(t, s.Client(), s.Now)
	calls := 0
	stats, err := n.Import(t.Context(), r, func(int, int, uint64) { calls++ })
	if err != nil || len(stats.Left) > 0 || stats.Traces == 0 || stats.Duplicates > 0 || stats.Hours+stats.Days != len(list) || stats.Known > 0 || calls == 0 {
		t.Fatalf("%+v, %v", stats, err)
	}
	b := &both{t: t, now: a.now, dir: &local.Store{Reader: r}, node: n, coarse: time.Microsecond}
	b.same("imported")
	again, err := n.Import(t.Context(), r, quietly)
	if err != nil || again.Traces > 0 || again.Known != len(list) || len(again.Left) > 0 {
		t.Errorf("once more: %+v, %v", again, err)
	}
	for range 2 {
		n.round(t.Context(), roll.Work{Close: true, Sweep: true})
	}
	b.same("imported, and rolled up")
	if again, err = n.Import(t.Context(), r, quietly); err != nil || again.Traces > 0 || again.Known != len(list) || len(again.Left) > 0 {
		t.Errorf("once more, days later: %+v, %v", again, err)
	}
}

// whole says all that a bucket answers.
func whole(t testing.TB, b *both) string {
	t.Helper()
	out, err := b.answers(t.Context(), query.Local{Reader: b.node.Reader}, selection.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "\n")
}

// TestImportCut cuts an import off at many points, and begins again.
func TestImportCut(t *testing.T) {
	a := newAged(t, 3)
	r := a.open()
	now := func() time.Time { return a.now }
	want := ""
	for cut := 1000; cut > 0; {
		s := fakebucket.New(1)
		s.Now = now
		setup := nodeOn(t, s.Client(), now)
		c := s.Client()
		n := nodeOn(t, c, now)
		before := total(s)
		c.CutAfter(cut)
		_, err := n.Import(t.Context(), r, quietly)
		took := total(s) - before
		if want != "" && err == nil {
			t.Fatalf("it was not cut after %d requests", cut)
		}
		n = setup
		if _, err := n.Import(t.Context(), r, quietly); err != nil {
			t.Fatalf("cut after %d requests: %v", cut, err)
		}
		b := &both{t: t, now: a.now, node: n, coarse: time.Microsecond}
		got := whole(t, b)
		if want == "" {
			want, cut = got, took
		}
		if got != want {
			t.Fatalf("cut after %d requests:\n%s\nwant\n%s", cut, around(got, want), around(want, got))
		}
		cut -= step(cut)
	}
}

func total(s *fakebucket.Server) (n int) {
	for _, x := range s.Requests() {
		n += x
	}
	return n
}

// TestImportBeside imports while nodes take traces, some of them the same ones: those of the last hours were sent to
// both. Late is a day after that, when the bucket has closed the day.
func TestImportBeside(t *testing.T) {
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprint("late: ", late), func(t *testing.T) { importBeside(t, late) })
	}
}

func importBeside(t *testing.T, late bool) {
	a := newAged(t, 5)
	r := a.open()
	s := fakebucket.New(1)
	s.Now = func() time.Time { return a.now }
	live := nodeOn(t, s.Client(), s.Now)
	again, fresh := slices.Clone(a.sent[len(a.sent)-20:]), a.records(15)
	ctx := t.Context()
	if _, err := live.Append(ctx, append(slices.Clone(again), fresh...)); err != nil {
		t.Fatal(err)
	}
	live.CountViews("/cart", "unsampled", 5)
	live.round(ctx, roll.Work{})
	atOnce := a.now
	for i := 0; i < 2 && late; i++ {
		a.now = a.now.Add(15 * time.Hour)
		live.round(ctx, roll.Work{Close: true})
		live.round(ctx, roll.Work{Close: true})
	}
	last := 0
	stats, err := nodeOn(t, s.Client(), s.Now).Import(ctx, r, func(done, _ int, _ uint64) {
		if done > last { // another node commits, too
			last = done
			if !late { // or they would count again
				if _, err := live.Append(ctx, fresh[:1+done%5]); err != nil {
					t.Error(err)
				}
			}
			live.round(ctx, roll.Work{Close: true})
		}
	})
	if err != nil || stats.Duplicates == 0 || len(stats.Left) > 0 {
		t.Fatalf("%+v, %v", stats, err)
	}
	if live.Counters().Shards != 3 {
		t.Errorf("of 3 shards the machine rolls %d up; an import does not take them away", live.Counters().Shards)
	}
	for range 3 {
		a.now = a.now.Add(25 * time.Hour)
		live.round(ctx, roll.Work{Close: true, Sweep: true})
	}
	if v := verified(t, live); len(v.Findings) > 0 {
		t.Errorf("%+v", v.Findings)
	}
	// A directory that got both has to say the same.
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	a.now = atOnce
	d, err := local.Open(a.path, local.Options{Now: func() time.Time { return a.now }, MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if _, err := d.Append(ctx, append(again, fresh...)); err != nil {
		t.Fatal(err)
	}
	d.CountViews("/cart", "unsampled", 5)
	a.settle(d)
	a.now = a.now.Add(time.Hour)
	a.settle(d)
	b := &both{t: t, now: a.now, dir: d, node: live, coarse: time.Hour} // what came twice was received at two times
	b.same("beside")
}

// TestImportLeaves imports hours of which the bucket has something, and the traces are gone on one side or the other.
func TestImportLeaves(t *testing.T) {
	for _, at := range []struct {
		time string
		o    Options
		left string
	}{
		{"2026-11-19T09:10:00Z", Options{}, "20261119.hours.sums 2026-11-19T09:00: the bucket has something of that hour, and its traces are gone"},
		{"2026-11-18T10:10:00Z", Options{}, "202611.days.sums 2026-11-18T00:00: the bucket has something of that day, and its hours are gone"},
		{"2026-11-20T07:10:00Z", Options{Retention: 3 * time.Hour}, "20261120T07: the bucket has sums of it alone"},
		{"2026-11-20T07:10:00Z", Options{Retention: 3 * time.Hour, HourRetention: 4 * time.Hour, DayRetention: 1e6 * time.Hour}, "20261120T07: the bucket has sums of its day alone"},
	} {
		a := newAged(t, 5)
		now := a.now
		var err error
		if a.now, err = time.Parse(time.RFC3339, at.time); err != nil {
			t.Fatal(err)
		}
		s := fakebucket.New(1)
		s.Now = func() time.Time { return a.now }
		at.o.Shards = 1
		live, err := Open(t.Context(), s.Client().Bucket(s.Now), at.o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := live.Append(t.Context(), a.records(20)); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			live.round(t.Context(), roll.Work{Close: true})
			a.now = a.now.Add(20 * time.Hour)
		}
		a.now = now.Add(100 * time.Hour)
		live.round(t.Context(), roll.Work{Close: true})
		stats, err := live.Import(t.Context(), a.open(), quietly)
		if err != nil || len(stats.Left) != 1 || !strings.HasPrefix(stats.Left[0], at.left) {
			t.Errorf("%s: %v, %q\nwant %q", at.time, err, stats.Left, at.left)
		}
	}
}

// TestImportGrown imports a directory that was written to after it was imported first, as one that was restored from a
// backup is.
func TestImportGrown(t *testing.T) {
	a := newAged(t, 15)
	s := fakebucket.New(1)
	s.Now = func() time.Time { return a.now }
	n := nodeOn(t, s.Client(), s.Now)
	r := a.open()
	if _, err := n.Import(t.Context(), r, quietly); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	a.fill(0, time.Hour)
	r = a.open()
	stats, err := n.Import(t.Context(), r, quietly)
	if err != nil || stats.Traces == 0 || stats.Duplicates == 0 || len(stats.Left) > 0 {
		t.Fatalf("%+v, %v", stats, err)
	}
	b := &both{t: t, now: a.now, dir: &local.Store{Reader: r}, node: n, coarse: time.Microsecond}
	b.same("grown")
	if again, err := n.Import(t.Context(), r, quietly); err != nil || again.Traces > 0 || len(again.Left) > 0 {
		t.Errorf("once more: %+v, %v", again, err)
	}
	for range 3 {
		n.round(t.Context(), roll.Work{Close: true, Sweep: true})
		a.now = a.now.Add(2 * time.Hour)
	}
	if v := verified(t, n); len(v.Findings) > 0 {
		t.Errorf("%+v", v.Findings)
	}
}

// TestImportFaults imports while the store refuses, loses answers, tears and delays, and begins again each time that it
// is given up.
func TestImportFaults(t *testing.T) {
	a := newAged(t, 17)
	r := a.open()
	want := ""
	for seed := range uint64(5) {
		s := fakebucket.New(seed)
		s.Now = func() time.Time { return a.now }
		n := nodeOn(t, s.Client(), s.Now)
		s.Faults = 0.05 * float64(seed)
		for range 300 {
			if _, err := n.Import(t.Context(), r, quietly); err == nil {
				break
			}
		}
		s.Faults = 0
		s.Deliver()
		n = nodeOn(t, s.Client(), s.Now)
		if _, err := n.Import(t.Context(), r, quietly); err != nil {
			t.Fatal(err)
		}
		got := whole(t, &both{t: t, now: a.now, node: n, coarse: time.Microsecond})
		if seed == 0 {
			want = got
		}
		if got != want {
			t.Errorf("seed %d:\n%s\nwant\n%s", seed, around(got, want), around(want, got))
		}
		if v := verified(t, n); len(v.Findings) > 0 {
			t.Errorf("seed %d: %+v", seed, v.Findings)
		}
	}
}
