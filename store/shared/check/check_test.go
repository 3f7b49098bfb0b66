package check

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/test/layouttest"
)

func TestMain(m *testing.M) {
	fakebucket.Env(func(key, value string) { _ = os.Setenv(key, value) }) // cannot fail for these names
	os.Exit(m.Run())
}

const testHour = "20261125T10"

// newTestBucket returns a bucket with a manifest that change has modified.
func newTestBucket(t *testing.T, change func(b *layout.Bucket, m *layout.Manifest)) *layout.Bucket {
	t.Helper()
	b := layouttest.NewBucket(t, fakebucket.New(1).Client().Bucket(time.Now), 1)
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

// rowsOf returns traces of /a that were received in the test hour, such as "x 0" for the first
// chunk of view x.
func rowsOf(traces ...string) (out []layouttest.Row) {
	start, _ := layout.ParseHour(testHour) // testHour is valid
	for _, trace := range traces {
		row := layouttest.Row{Page: "/a", At: start.UnixMicro(), Release: "r1", Samples: []string{"f", "f;g"}}
		_, _ = fmt.Sscan(trace, &row.View, &row.Chunk)
		out = append(out, row)
	}
	return out
}

// putRun puts a run with some traces, and returns its entry for a manifest.
func putRun(t *testing.T, b *layout.Bucket, id string, traces ...string) layout.File {
	t.Helper()
	run := layouttest.Run{Rows: rowsOf(traces...)}
	f := run.File(id)
	f.Size = layouttest.Put(t, b, layout.RunKey(0, testHour, id), &run)
	return f
}

// putRollups puts the rollups of some traces, and returns their entry for a manifest.
func putRollups(t *testing.T, b *layout.Bucket, id string, traces ...string) layout.File {
	t.Helper()
	rollups := layouttest.Rollups{Rows: rowsOf(traces...)}
	return layout.File{ID: id, Size: layouttest.Put(t, b, layout.HourKey(0, testHour, id), &rollups)}
}

// A run must have exactly as many traces as the manifest states.
func TestTracesOfRun(t *testing.T) {
	for _, tt := range []struct {
		rows int // number of traces in the manifest
		ok   bool
	}{{2, false}, {3, true}, {4, false}} {
		b := newTestBucket(t, func(*layout.Bucket, *layout.Manifest) {})
		putRun(t, b, "run", "x 0", "x 1", "x 2")
		o, err := b.Open(t.Context(), layout.RunKey(0, testHour, "run"))
		if err != nil {
			t.Fatal(err)
		}
		h := &hourCheck{v: &verifier{b: b}, name: testHour}
		err = h.checkRun(t.Context(), o, layout.File{ID: "run", Rows: tt.rows})
		if errors.Is(err, block.ErrDamaged) == tt.ok || h.v.out.Traces != 3 {
			t.Errorf("the manifest has %d instead of 3 traces: got %v, and %d traces were read", tt.rows, err,
				h.v.out.Traces)
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
		putRun(t, b, "run", "x 0", "x 1", "x 2")
		run, err := b.Open(t.Context(), layout.RunKey(0, testHour, "run"))
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := b.Manifest(t.Context(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		h := &hourCheck{v: &verifier{b: b}, m: m, name: testHour, hour: m.Hours[testHour]}
		putRollups(t, b, "sum", "x 0", "x 1", "x 2")
		sum, err := b.Open(t.Context(), layout.HourKey(0, testHour, "sum"))
		if err != nil {
			t.Fatal(err)
		}
		why, err := h.compare(t.Context(), []*layout.Object{run}, []*layout.Object{sum})
		if err != nil || (why == "") != (traces == 3) {
			t.Errorf("the manifest has %d instead of 3 traces: got %q, %v", traces, why, err)
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
