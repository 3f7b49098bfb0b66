package check

import (
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/trie"
)

func TestMain(m *testing.M) {
	fakebucket.Env(func(key, value string) { _ = os.Setenv(key, value) }) // this never fails
	os.Exit(m.Run())
}

const testHour = "20261125T10"

// newTestBucket returns a bucket with a manifest that change has changed.
func newTestBucket(t *testing.T, change func(b *layout.Bucket, m *layout.Manifest)) *layout.Bucket {
	t.Helper()
	store := fakebucket.New(1).Client().Bucket(time.Now)
	b, err := layout.Create(t.Context(), store, layout.Options{Shards: 1, GiveUp: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	r := roll.New(b, "0123456789ab", roll.Options{Logger: slog.New(slog.DiscardHandler)}).Shards[0]
	if err := r.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := r.Manifest.Clone()
	change(b, next)
	if err := r.Replace(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	return b
}

// putRun puts a run with so many traces.
func putRun(t *testing.T, b *layout.Bucket, id string, rows int) {
	t.Helper()
	w := layout.NewRunWriter(b.Codec)
	for i := range rows {
		x := &trie.Trace{Trie: *trie.New(), Context: trie.Context{Page: "/a", Chunk: uint32(i), Interval: 10_000}}
		payload, err := encode.EncodeTrace(x)
		if err != nil {
			t.Fatal(err)
		}
		row := layout.Row{Page: "/a", Received: 1, Payload: payload}
		row.ID.Chunk = uint32(i)
		if err := w.Add(&row); err != nil {
			t.Fatal(err)
		}
	}
	key := layout.RunKey(0, testHour, id)
	body, err := w.Finish(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.PutObject(t.Context(), key, body); err != nil {
		t.Fatal(err)
	}
}

// A run must have exactly as many traces as the manifest says.
func TestTracesOfRun(t *testing.T) {
	for _, tt := range []struct {
		rows int // that the manifest says
		ok   bool
	}{{2, false}, {3, true}, {4, false}} {
		b := newTestBucket(t, func(*layout.Bucket, *layout.Manifest) {})
		putRun(t, b, "run", 3)
		o, err := b.Open(t.Context(), layout.RunKey(0, testHour, "run"))
		if err != nil {
			t.Fatal(err)
		}
		h := &hourCheck{v: &verifier{b: b}, name: testHour}
		err = h.checkRun(t.Context(), o, layout.File{ID: "run", Rows: tt.rows})
		if errors.Is(err, block.ErrDamaged) == tt.ok || h.v.out.Traces != 3 {
			t.Errorf("the manifest says %d of 3 traces: got %v, and %d traces were read", tt.rows, err, h.v.out.Traces)
		}
	}
}

// Verify finds an hour with a wrong number of traces in the manifest.
func TestTracesOfHour(t *testing.T) {
	for _, traces := range []uint64{2, 3, 4} {
		b := newTestBucket(t, func(_ *layout.Bucket, m *layout.Manifest) {
			m.Hour(testHour).Runs = []layout.File{{ID: "run", Rows: 3}}
			m.Hour(testHour).Traces = traces
		})
		putRun(t, b, "run", 3)
		run, err := b.Open(t.Context(), layout.RunKey(0, testHour, "run"))
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := b.Manifest(t.Context(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		h := &hourCheck{v: &verifier{b: b}, m: m, name: testHour, hour: m.Hours[testHour]}
		rollups := layout.NewRollupWriter(b.Codec, true)
		if _, err := b.FromTraces(t.Context(), []*layout.Object{run}, rollups.Add); err != nil {
			t.Fatal(err)
		}
		key := layout.HourKey(0, testHour, "sum")
		body, err := rollups.Finish(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.PutObject(t.Context(), key, body); err != nil {
			t.Fatal(err)
		}
		sum, err := b.Open(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		why, err := h.compare(t.Context(), []*layout.Object{run}, []*layout.Object{sum})
		if err != nil || (why == "") != (traces == 3) {
			t.Errorf("the manifest counts %d of 3 traces: got %q, %v", traces, why, err)
		}
	}
}

// A day can be rebuilt if the rollups of all its hours are sound.
func TestDayOfSoundHours(t *testing.T) {
	const day, second = "20261125", "20261125T11"
	key := layout.DayKey(0, day, "day")
	b := newTestBucket(t, func(_ *layout.Bucket, m *layout.Manifest) {
		m.Days[day] = &layout.Day{Rollups: []layout.File{{ID: "day"}}, Sources: []string{testHour, second}}
	})
	if err := b.PutObject(t.Context(), key, []byte("damaged")); err != nil {
		t.Fatal(err)
	}
	m, _, err := b.Manifest(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ first, second, mends bool }{
		{true, true, true}, {true, false, false}, {false, true, false}, {false, false, false},
	} {
		v := &verifier{b: b}
		if err := v.day(t.Context(), m, 0, day, map[string]bool{testHour: tt.first, second: tt.second}); err != nil {
			t.Fatal(err)
		}
		if len(v.out.Findings) != 1 || v.out.Findings[0].Object != key || v.out.Findings[0].Mends != tt.mends {
			t.Errorf("hours are sound: %t, %t: got %+v, want one finding, and the day can be rebuilt: %t",
				tt.first, tt.second, v.out.Findings, tt.mends)
		}
	}
}
