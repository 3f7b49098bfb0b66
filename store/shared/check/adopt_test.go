package check

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/layouttest"
)

// adopt adopts all unnamed runs, and returns the new manifest.
func adopt(t *testing.T, b *layout.Bucket) *layout.Manifest {
	t.Helper()
	n := roll.New(b, "0123456789ab", roll.Options{Rows: 100, Logger: slog.New(slog.DiscardHandler)})
	if err := (mender{n.Detached(0)}).adopt(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, _, err := b.Manifest(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// tracesOf returns the traces in the runs that a manifest names, and the page views and traces in
// its rollups. It fails the test if a trace is stored twice.
func tracesOf(t *testing.T, b *layout.Bucket, m *layout.Manifest) (traces []string, views, summed int64) {
	t.Helper()
	for name, h := range m.Hours {
		for _, f := range h.Runs {
			run, err := layouttest.DecodeRun(t.Context(), b, layout.RunKey(0, name, f.ID))
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range run.Rows {
				traces = append(traces, fmt.Sprint(row.View, " ", row.Chunk))
			}
		}
		for _, f := range h.Rollups {
			pages, _, err := layouttest.DecodeRollups(t.Context(), b, layout.HourKey(0, name, f.ID))
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range pages {
				views, summed = views+p.Views, summed+p.Traces
			}
		}
	}
	slices.Sort(traces)
	if n := len(traces); n != len(slices.Compact(slices.Clone(traces))) {
		t.Errorf("duplicate traces: %q", traces)
	}
	return traces, views, summed
}

// Adopting a run adds the traces that no other run has, as identified by page view and chunk.
func TestAdopt(t *testing.T) {
	b := newTestBucket(t, func(b *layout.Bucket, m *layout.Manifest) {
		h := m.Hour(testHour)
		h.Runs = []layout.File{putRun(t, b, "named", "x 0", "y 0")}
		h.Rollups = []layout.File{putRollups(t, b, "sum", "x 0", "y 0")}
		h.Traces, h.First, h.Last = 2, h.Runs[0].First, h.Runs[0].Last
	})
	m, _, err := b.Manifest(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := mender{roll.New(b, "", roll.Options{}).Detached(0)}
	for _, tt := range []struct {
		traces []string
		want   int
	}{
		{[]string{"x 0"}, 0}, {[]string{"x 0", "y 0"}, 0}, {[]string{"x 0", "x 1", "z 0"}, 2}, {[]string{"z 0"}, 1},
	} {
		putRun(t, b, "other", tt.traces...)
		if got, err := r.lacks(t.Context(), m, layout.RunKey(0, testHour, "other")); got != tt.want || err != nil {
			t.Errorf("%q: got %d missing traces, %v; want %d", tt.traces, got, err, tt.want)
		}
	}
	putRun(t, b, "other", "x 0", "x 1", "z 0")
	putRun(t, b, "third", "z 0", "z 1")
	if err := b.PutObject(t.Context(), layout.RunKey(0, testHour, "damaged"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing to adopt
		traces, views, summed := tracesOf(t, b, adopt(t, b))
		if want := []string{"x 0", "x 1", "y 0", "z 0", "z 1"}; !slices.Equal(traces, want) ||
			views != 3 || summed != 5 {
			t.Errorf("got %q, with %d page views and %d traces in rollups, want %q, 3 and 5",
				traces, views, summed, want)
		}
	}
}

// A run is not adopted if the traces that were counted are unknown, or if it has expired.
func TestNotAdopted(t *testing.T) {
	const day = "20261125"
	for name, change := range map[string]func(m *layout.Manifest){
		"traces of the hour have expired": func(m *layout.Manifest) { m.Hour(testHour).Traces = 1 },
		"the hour has expired": func(m *layout.Manifest) {
			m.Days[day] = &layout.Day{Sources: []string{testHour}}
		},
		"the run was removed": func(m *layout.Manifest) { m.Remove(time.Now(), layout.RunKey(0, testHour, "run")) },
		"the run has expired": func(m *layout.Manifest) { m.Kept = &layout.Retention{Traces: int64(time.Hour)} },
	} {
		b := newTestBucket(t, func(_ *layout.Bucket, m *layout.Manifest) { change(m) })
		putRun(t, b, "run", "x 0")
		if traces, _, _ := tracesOf(t, b, adopt(t, b)); len(traces) > 0 {
			t.Errorf("%s: adopted %q, want none", name, traces)
		}
	}
}

// A quarantined object is used again once it can be read, and its traces count once, whether or not
// rollups count them.
func TestRelease(t *testing.T) {
	quarantine := func(h *layout.Hour, key string, f layout.File, lost int) {
		h.Quarantined = append(h.Quarantined, layout.Quarantined{Key: key, File: f, At: 1, Why: "damaged", Lost: lost})
	}
	run := func(id string) string { return layout.RunKey(0, testHour, id) }
	sums := layout.HourKey(0, testHour, "bad")
	for _, tt := range []struct {
		name   string
		change func(b *layout.Bucket, h *layout.Hour)
		traces []string
		summed int64
		left   int      // that stay quarantined
		taken  []string // keys of removed objects
	}{
		{"a run that the rollups count", func(b *layout.Bucket, h *layout.Hour) {
			h.Rollups[0] = putRollups(t, b, "sum", "x 0", "y 0")
			quarantine(h, run("bad"), putRun(t, b, "bad", "y 0"), 0)
		}, []string{"x 0", "y 0"}, 2, 0, nil},
		{"a run that no rollup counts", func(b *layout.Bucket, h *layout.Hour) {
			quarantine(h, run("bad"), putRun(t, b, "bad", "y 0", "y 1"), 2)
		}, []string{"x 0", "y 0", "y 1"}, 3, 0, []string{run("bad")}},
		{"a run that was saved in part", func(b *layout.Bucket, h *layout.Hour) {
			quarantine(h, run("bad"), putRun(t, b, "bad", "x 0", "y 1"), 1)
		}, []string{"x 0", "y 1"}, 2, 0, []string{run("bad")}},
		{"a run that is still missing", func(_ *layout.Bucket, h *layout.Hour) {
			quarantine(h, run("bad"), layout.File{ID: "bad", Rows: 1}, 1)
		}, []string{"x 0"}, 1, 1, nil},
		{"a run that is still damaged", func(b *layout.Bucket, h *layout.Hour) {
			f := putRun(t, b, "bad", "y 0")
			if err := b.PutObject(t.Context(), run("worse"), []byte("x")); err != nil {
				t.Fatal(err)
			}
			quarantine(h, run("worse"), f, 1)
			quarantine(h, run("bad"), f, 1) // it stays in use
		}, []string{"x 0", "y 0"}, 2, 1, []string{run("bad")}},
		{"rollups that were rebuilt", func(b *layout.Bucket, h *layout.Hour) {
			quarantine(h, sums, putRollups(t, b, "bad", "x 0"), 0)
		}, []string{"x 0"}, 1, 0, []string{sums}},
		{"rollups of an hour without traces", func(b *layout.Bucket, h *layout.Hour) {
			h.Runs, h.Rollups = nil, nil
			quarantine(h, sums, putRollups(t, b, "bad", "x 0", "y 0"), 0)
		}, nil, 2, 0, nil},
	} {
		b := newTestBucket(t, func(b *layout.Bucket, m *layout.Manifest) {
			h := m.Hour(testHour)
			h.Runs = []layout.File{putRun(t, b, "named", "x 0")}
			h.Rollups = []layout.File{putRollups(t, b, "sum", "x 0")}
			h.Traces, h.First, h.Last = 1, h.Runs[0].First, h.Runs[0].Last
			tt.change(b, h)
		})
		m := adopt(t, b)
		traces, _, summed := tracesOf(t, b, m)
		if !slices.Equal(traces, tt.traces) || summed != tt.summed || len(m.Quarantined()) != tt.left {
			t.Errorf("%s: got %q, %d in rollups, and %+v are quarantined; want %q, %d and %d of them",
				tt.name, traces, summed, m.Quarantined(), tt.traces, tt.summed, tt.left)
		}
		taken := map[string]bool{}
		for _, x := range m.Removed {
			taken[x.Key] = true
		}
		if got := slices.Sorted(maps.Keys(taken)); !slices.Equal(got, tt.taken) {
			t.Errorf("%s: removed %q, want %q", tt.name, got, tt.taken)
		}
	}
}
