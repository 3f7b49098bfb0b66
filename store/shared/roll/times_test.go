package roll

import (
	"encoding/binary"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// The traces of an hour expire once the whole hour is older than the retention. An open hour
// expires as well, unless it has segments that wait to be rolled up.
func TestTracesExpire(t *testing.T) {
	at := time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC)
	const hour = "20261125T10"
	for _, tt := range []struct {
		what            string
		sealed, waiting bool
		age             time.Duration // since the hour began
		stays           bool
	}{
		{"a closed hour", true, false, 7*time.Hour + time.Second, false},
		{"a closed hour that has not expired", true, false, 7 * time.Hour, true},
		{"a closed hour with a late segment", true, true, 7*time.Hour + time.Second, false},
		{"an hour that cannot be closed", false, false, 7*time.Hour + time.Second, false},
		{"an hour that cannot be closed and has not expired", false, false, 7 * time.Hour, true},
		{"an open hour with a segment that waits", false, true, 7*time.Hour + time.Second, true},
	} {
		n := newTestRoller(t, fakebucket.New(1).Client().Bucket(time.Now))
		n.SetRetentionPolicy(RetentionPolicy{Retention: layout.Retention{Traces: int64(6 * time.Hour)}})
		m := newTestManifest()
		m.Hours[hour] = &layout.Hour{Sealed: tt.sealed, Runs: []layout.File{{ID: "run"}},
			Rollups: []layout.File{{ID: "sum"}}}
		l := &layout.Listing{At: at.Add(tt.age)}
		if tt.waiting {
			l.List = append(l.List, layout.Listed{Segment: layout.Segment{Hour: hour,
				Instance: "ba9876543210", Seq: 1}})
		}
		n.Shards[0].expire(m, l)
		if got := len(m.Hours[hour].Runs) > 0; got != tt.stays {
			t.Errorf("%s: kept: got %t, want %t", tt.what, got, tt.stays)
		}
		if removed := len(m.Removed); removed > 0 == tt.stays {
			t.Errorf("%s: %d objects are removed", tt.what, removed)
		}
	}
}

func newTestManifest() *layout.Manifest {
	return &layout.Manifest{
		Instances: map[string]*layout.Consumed{}, Hours: map[string]*layout.Hour{}, Days: map[string]*layout.Day{},
	}
}

// The first and last times of a day are the extremes of all its hours: a later hour may contain
// traces that arrived late.
func TestDayTimes(t *testing.T) {
	n := newTestRoller(t, fakebucket.New(1).Client().Bucket(time.Now))
	m := newTestManifest()
	m.Hours["20261125T08"] = &layout.Hour{Sealed: true, Traces: 1} // without times
	m.Hours["20261125T09"] = &layout.Hour{Sealed: true, Traces: 2, First: 900, Last: 950}
	m.Hours["20261125T10"] = &layout.Hour{Sealed: true, Traces: 4, First: 100, Last: 990}
	m.Hours["20261125T11"] = &layout.Hour{Sealed: true, Traces: 8, First: 960, Last: 970}
	m.Hours["20261126T00"] = &layout.Hour{Sealed: true, Traces: 16, First: 1, Last: 2000}
	if err := n.Shards[0].CloseDay(t.Context(), m, "20261125"); err != nil {
		t.Fatal(err)
	}
	d := m.Days["20261125"]
	if d.First != 100 || d.Last != 990 || d.Traces != 15 || len(d.Sources) != 4 {
		t.Errorf("got %d traces of %v from %d to %d, want 15 of four hours from 100 to 990",
			d.Traces, d.Sources, d.First, d.Last)
	}
}

// A sweep keeps the objects that the manifest names, and those recently removed from it, which
// queries may still read.
func TestSweepLeavesWhatIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestRoller(t, fakebucket.New(1).Client().Bucket(time.Now))
		n.SetRetentionPolicy(RetentionPolicy{Retention: layout.Retention{Traces: int64(time.Hour)}})
		r := n.Shards[0]
		hour := layout.HourOf(n.Bucket.Now())
		key := func(id string) string { return layout.RunKey(0, hour, id) }
		if err := r.Begin(t.Context()); err != nil { // writes the first manifest
			t.Fatal(err)
		}
		for _, id := range []string{"named", "removed", "unnamed"} {
			if err := n.Bucket.PutObject(t.Context(), key(id), []byte(id)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(30 * time.Hour)
		if err := n.Bucket.PutObject(t.Context(), key("young"), []byte("young")); err != nil {
			t.Fatal(err)
		}
		next := r.Manifest.Clone()
		next.Hour(hour).Runs = []layout.File{{ID: "named"}}
		next.Remove(n.Bucket.Now(), key("removed"))
		if err := r.Commit(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		if err := r.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		var left []string
		for e, err := range n.Bucket.ListNamed(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			left = append(left, e.Key[strings.LastIndex(e.Key, "/")+1:])
		}
		slices.Sort(left)
		if want := []string{"named.run", "removed.run", "young.run"}; !slices.Equal(left, want) {
			t.Errorf("got %v, want %v", left, want)
		}
	})
}

// AsOf of a manifest is at most the time of the first listed segment that is not in it.
func TestAsOfWhenMoreIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestRoller(t, fakebucket.New(1).Client().Bucket(time.Now))
		n.opts.Rows = 1
		payload := testPayload(t, "/a")
		for seq := range uint64(3) {
			x := layout.Row{Page: "/a", Received: n.Bucket.Now().UnixMicro(), Payload: payload}
			binary.BigEndian.PutUint64(x.ID.View[:], seq+1)
			putSegment(t, n.Bucket, seq+1, &layout.Batch{Rows: []layout.Row{x}})
			time.Sleep(time.Minute)
		}
		l, err := n.Bucket.ListSegments(t.Context())
		if err != nil || len(l.List) != 3 {
			t.Fatalf("got %d segments and error %v, want 3", len(l.List), err)
		}
		r := n.Shards[0]
		for round, want := range []time.Time{l.List[1].Modified, l.List[2].Modified, l.At} {
			more, err := r.Cycle(t.Context(), l)
			if err != nil || more != (round < 2) {
				t.Fatalf("round %d: got more %t and error %v", round, more, err)
			}
			if got := time.UnixMicro(r.Manifest.AsOf); got.Sub(want).Abs() > time.Millisecond {
				t.Errorf("round %d: it is as of %v, want %v", round, got, want)
			}
		}
	})
}

// The roller does not write a manifest if a sweep may already have deleted its first object.
func TestGiveUpLateCommit(t *testing.T) {
	for _, tt := range []struct {
		took time.Duration
		ok   bool
	}{{0, true}, {giveUpAfter - time.Minute, true}, {giveUpAfter + time.Minute, false}, {sweepAfter, false}} {
		synctest.Test(t, func(t *testing.T) {
			n := newTestRoller(t, fakebucket.New(1).Client().Bucket(time.Now))
			r := n.Shards[0]
			if err := r.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			hour := layout.HourOf(n.Bucket.Now())
			if err := r.put(t.Context(), layout.RunKey(0, hour, "first"), []byte("x")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(tt.took)
			if err := r.put(t.Context(), layout.RunKey(0, hour, "second"), []byte("x")); err != nil {
				t.Fatal(err)
			}
			nonce := r.Manifest.Nonce
			err := r.Commit(t.Context(), r.Manifest.Clone())
			m, _, merr := n.Bucket.Manifest(t.Context(), 0, 0)
			if merr != nil {
				t.Fatal(merr)
			}
			if (err == nil) != tt.ok || (m.Nonce != nonce) != tt.ok || errors.Is(err, ErrLost) {
				t.Errorf("after %v: got error %v, and a new manifest: %t, want one: %t", tt.took, err,
					m.Nonce != nonce, tt.ok)
			}
		})
	}
}

// aloneStore is a store that is used by one process only.
type aloneStore struct{ objects.Store }

func (aloneStore) Exclusive() bool { return true }

// Rolling up uses half of the processors if the same process serves requests, and all of them once
// a segment has waited for a minute.
func TestProcessorsThatRollUp(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	at := time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		alone bool
		waits []time.Duration
		want  int
	}{
		{true, nil, 2},
		{true, []time.Duration{maxAge - time.Second, time.Second}, 2},
		{true, []time.Duration{maxAge, time.Second}, 4},
		{true, []time.Duration{time.Hour}, 4},
		{false, nil, 4},
		{false, []time.Duration{time.Second}, 4},
	} {
		store := objects.Store(fakebucket.New(1).Client().Bucket(time.Now))
		if tt.alone {
			store = aloneStore{store}
		}
		n := New(&layout.Bucket{Store: store, Shards: 1}, "0123456789ab",
			Options{Logger: slog.New(slog.DiscardHandler)})
		l := &layout.Listing{At: at}
		for _, waits := range tt.waits {
			l.List = append(l.List, layout.Listed{Modified: at.Add(-waits)})
		}
		if got := n.together(l); got != tt.want {
			t.Errorf("alone %t, segments wait for %v: got %d processors of 4, want %d", tt.alone, tt.waits,
				got, tt.want)
		}
	}
}

// A day is closed once, some minutes after its end, if all its hours are closed and none of its
// segments wait.
func TestDaysToClose(t *testing.T) {
	end := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	const day, hour = "20261125", "20261125T10"
	for _, tt := range []struct {
		what         string
		after        time.Duration // after the end of the day
		open, closed bool
		waits        string // hour of a segment that is not rolled up
		want         bool
	}{
		{"just after its end", dayAfter - time.Second, false, false, "", false},
		{"a while after its end", dayAfter, false, false, "", true},
		{"an hour of it is open", dayAfter, true, false, "", false},
		{"the day is already closed", dayAfter, false, true, "", false},
		{"a segment of one of its hours waits", dayAfter, false, false, hour, false},
		{"a segment of another of its hours waits", dayAfter, false, false, "20261125T23", false},
		{"a segment of the next day waits", dayAfter, false, false, "20261126T00", true},
	} {
		m := newTestManifest()
		m.Hours[hour] = &layout.Hour{Sealed: true}
		m.Hours["20261125T11"] = &layout.Hour{Sealed: !tt.open}
		if tt.closed {
			m.Days[day] = &layout.Day{}
		}
		l := &layout.Listing{At: end.Add(tt.after)}
		m.Take(layout.Segment{Hour: hour, Instance: "ba9876543210", Seq: 1}, end)
		l.List = append(l.List, layout.Listed{Segment: layout.Segment{Hour: hour, Instance: "ba9876543210", Seq: 1}})
		if tt.waits != "" {
			waits := layout.Segment{Hour: tt.waits, Instance: "ba9876543210", Seq: 2}
			l.List = append(l.List, layout.Listed{Segment: waits})
		}
		if got := slices.Contains(daysToClose(m, l), day); got != tt.want {
			t.Errorf("%s: the day is to be closed: got %t, want %t", tt.what, got, tt.want)
		}
	}
}

// A sweep may delete an unnamed object if it is older than the retention of its kind, or if this
// process wrote it for a manifest that was not stored.
func TestDeletable(t *testing.T) {
	n := newTestRoller(t, fakebucket.New(1).Client().Bucket(time.Now))
	keeps := layout.Retention{Traces: int64(5 * time.Hour), Hours: int64(50 * time.Hour), Days: int64(500 * time.Hour)}
	n.SetRetentionPolicy(RetentionPolicy{Retention: keeps})
	r := n.Shards[0]
	r.abandoned = map[string]bool{"raw/000/20261125T10/abandoned.run": true}
	end := time.Date(2026, 11, 25, 11, 0, 0, 0, time.UTC) // of the hour
	midnight := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		key  string
		now  time.Time
		want bool
	}{
		{layout.RunKey(0, "20261125T10", "x"), end.Add(5 * time.Hour), false},
		{layout.RunKey(0, "20261125T10", "x"), end.Add(5*time.Hour + 1), true},
		{layout.HourKey(0, "20261125T10", "x"), end.Add(50 * time.Hour), false},
		{layout.HourKey(0, "20261125T10", "x"), end.Add(50*time.Hour + 1), true},
		{layout.DayKey(0, "20261125", "x"), midnight.Add(500 * time.Hour), false},
		{layout.DayKey(0, "20261125", "x"), midnight.Add(500*time.Hour + 1), true},
		{"other/000/20261125T10/x", end.Add(1000 * time.Hour), false},
		{"raw/000/20261125T10/abandoned.run", end, true},
	} {
		if got := r.deletable(newTestManifest(), tt.key, tt.now); got != tt.want {
			t.Errorf("%s at %s: got %t, want %t", tt.key, tt.now.Format(time.DateTime), got, tt.want)
		}
	}
	kept := layout.Retention{Traces: int64(6 * time.Hour)} // another node is configured with a longer retention
	m := newTestManifest()
	if m.Kept = &kept; r.deletable(m, layout.RunKey(0, "20261125T10", "x"), end.Add(5*time.Hour+1)) {
		t.Error("a run is deleted that another node keeps")
	}
}

// A duplicate has the same page, view and chunk.
func TestNewRows(t *testing.T) {
	n := newTestRoller(t, fakebucket.New(1).Client().Bucket(time.Now))
	row := func(page string, view byte, chunk uint32, received int64) (x layout.Row) {
		x.Page, x.Received, x.ID.Chunk = page, received, chunk
		x.ID.View[0] = view
		return x
	}
	rows := []layout.Row{
		row("/b", 2, 0, 5), row("/a", 1, 0, 5), row("/a", 1, 1, 5), row("/a", 2, 0, 5), // others
		row("/a", 1, 0, 7), row("/a", 1, 0, 4), row("/b", 2, 0, 6), // repeats
	}
	got, err := n.Shards[0].NewRows(t.Context(), newTestManifest(), "20261125T10", rows)
	if err != nil {
		t.Fatal(err)
	}
	want := []layout.Row{row("/a", 1, 0, 4), row("/a", 1, 1, 5), row("/a", 2, 0, 5), row("/b", 2, 0, 5)}
	if !slices.EqualFunc(got, want, func(a, b layout.Row) bool {
		return a.Page == b.Page && a.ID == b.ID && a.Received == b.Received
	}) {
		t.Errorf("got %v, want %v", got, want)
	}
}
