package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"

	"github.com/google/pprof/profile"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

// rollupSizes are the sizes of the stored data.
type rollupSizes struct {
	traces int // of the larger day
	days   int // of the month
	stacks int // of the month
}

// rollups measures queries of a day with many traces, compared with a day with a tenth of
// them and with merging as many pprofs, and queries of a month of one page with many
// stacks.
func rollups(ctx context.Context, traces []trace, sizes rollupSizes, rounds int, progress io.Writer) ([]figure, error) {
	count := sizes.traces
	r, err := newReplay(traces)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fieldtrie-bench")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	page := r.decoded[0].Context.Page
	var small, large *field
	for _, f := range []struct {
		to   **field
		name string
		n    int
	}{{&small, "small", count / 10}, {&large, "large", count}} {
		fmt.Fprintf(progress, "bench: store %d traces of 24 hours …\n", f.n)
		if *f.to, err = fillDay(ctx, r, filepath.Join(dir, f.name), f.n); err != nil {
			return nil, err
		}
	}
	fewer, err := small.ask(ctx, page, 24*time.Hour, rounds)
	if err != nil {
		return nil, err
	}
	more, err := large.ask(ctx, page, 24*time.Hour, rounds)
	if err != nil {
		return nil, err
	}
	peer, merged, err := mergePprofs(traces, page, int(more.traces)/100)
	if err != nil {
		return nil, err
	}
	scaled := peer * float64(more.traces) / float64(merged)
	figures := []figure{
		{"rollups/day_10x_traces_vs_1x", more.wall / fewer.wall, "times the time", "<= 1.5"},
		{"rollups/day_ms", more.wall * 1000, "ms", ""},
		{"rollups/day_cpu_vs_pprof", scaled / more.cpu, "times less", ">= 1000"},
		{"rollups/day_traces", float64(more.traces), "traces", ""},
		{"rollups/roll_us_per_trace", large.roll / float64(count) * 1e6, "µs CPU", ""},
		{"rollups/bytes_per_trace", large.bytes / float64(count), "bytes", ""},
	}
	tree, err := large.tree(ctx)
	if err != nil {
		return nil, err
	}
	figures = append(figures, tree...)
	fmt.Fprintf(progress, "bench: store %d days of a page with %d stacks …\n", sizes.days, sizes.stacks)
	month, err := fillMonth(ctx, filepath.Join(dir, "month"), sizes.days, sizes.stacks)
	if err != nil {
		return nil, err
	}
	cold, err := month.cold(ctx, rounds)
	if err != nil {
		return nil, err
	}
	warm, err := month.ask(ctx, monthPage, 30*24*time.Hour, rounds)
	if err != nil {
		return nil, err
	}
	return append(figures,
		figure{"rollups/month_cold_ms", cold * 1000, "ms", ""},
		figure{"rollups/month_warm_ms", warm.wall * 1000, "ms", "<= 300"},
		figure{"rollups/month_nodes", float64(warm.nodes), "nodes", ""},
	), nil
}

// filling begins at noon, so that a query of 24 hours uses hourly rollups.
func filling() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// fillDay stores n traces received within 24 hours, the last of them just now.
func fillDay(ctx context.Context, r *replay, dir string, n int) (*field, error) {
	r.sent.Store(0)
	r.perRelease = uint64(n/2 + 1) // two releases, whatever the number of traces
	which := r.random(n, r.all)
	const steps = 24 * 12
	return fillDirectory(ctx, dir, func(f *field) error {
		for step := range steps {
			f.now = filling().Add(time.Duration(step) * 5 * time.Minute)
			if err := f.append(ctx, r, which[n*step/steps:n*(step+1)/steps]); err != nil {
				return err
			}
			f.rollUp(ctx)
		}
		return nil
	})
}

// asked is the cost of a query.
type asked struct {
	wall, cpu float64 // s
	traces    int64
	nodes     int
}

// ask measures a query of one page with everything open and in memory.
func (f *field) ask(ctx context.Context, page string, age time.Duration, rounds int) (out asked, err error) {
	r, err := f.reader(ctx)
	if err != nil {
		return out, err
	}
	sel := selection.Selection{Page: page, Since: f.now.Add(-age)}
	var walls, cpus []float64
	for i := range rounds + 1 {
		var result query.Result
		u, err := measure(func() (err error) {
			result, err = query.Local{Reader: r}.Profile(ctx, sel, nil)
			return err
		})
		if err != nil {
			return out, err
		}
		if w := result.Stats.Warnings; len(w) > 0 {
			return out, fmt.Errorf("the result is not complete: %s", w[0])
		}
		if result.Profile.Traces == 0 {
			return out, fmt.Errorf("no traces of %s", page)
		}
		if i > 0 {
			walls, cpus = append(walls, u.wall), append(cpus, u.cpu)
		}
		out.traces, out.nodes = result.Profile.Traces, len(result.Profile.Nodes)
	}
	out.wall, out.cpu = median(walls), median(cpus)
	return out, nil
}

// cold measures the query of a month with nothing in memory: it drops the page cache, if
// allowed, and opens the directory.
func (f *field) cold(ctx context.Context, rounds int) (float64, error) {
	var walls []float64
	for range rounds {
		_ = os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0) // best effort
		begin := time.Now()
		r, err := f.reader(ctx)
		if err != nil {
			return 0, err
		}
		_, err = query.Local{Reader: r}.Profile(ctx, selection.Selection{Page: monthPage,
			Since: f.now.Add(-30 * 24 * time.Hour)}, nil)
		if err != nil {
			return 0, err
		}
		walls = append(walls, time.Since(begin).Seconds())
	}
	return median(walls), nil
}

// mergePprofs returns the processor time to parse and merge n pprofs of a page.
func mergePprofs(traces []trace, page string, n int) (cpu float64, merged int, err error) {
	forms, err := encodeAll(traces)
	if err != nil {
		return 0, 0, err
	}
	var of [][]byte
	for i, t := range traces {
		decoded, err := encode.DecodeTraceJSON(t.json, encode.Limits{})
		if err != nil {
			return 0, 0, err
		}
		if decoded.Context.Page == page {
			of = append(of, forms[i].pprof)
		}
	}
	n = max(n, 1)
	u, err := measure(func() error {
		profiles := make([]*profile.Profile, n)
		for i := range profiles {
			if profiles[i], err = profile.Parse(bytes.NewReader(of[i%len(of)])); err != nil {
				return err
			}
		}
		_, err := profile.Merge(profiles)
		return err
	})
	return u.cpu, n, err
}

const monthPage = "/month"

// fillMonth stores traces of one page over some days, with the given number of stacks in
// total.
func fillMonth(ctx context.Context, dir string, days, stacks int) (*field, error) {
	rng := rand.New(rand.NewPCG(1, 1))
	return fillDirectory(ctx, dir, func(f *field) error {
		for hour := range days * 24 {
			f.now = filling().Add(time.Duration(hour) * time.Hour)
			var recs []store.Record
			for range 20 {
				rec, err := syntheticTrace(rng, stacks)
				if err != nil {
					return err
				}
				recs = append(recs, rec)
			}
			if _, err := f.node.Append(ctx, recs); err != nil {
				return err
			}
			f.rollUp(ctx)
		}
		return nil
	})
}

// syntheticTrace returns a trace with 200 of the stacks, some more frequent than others.
// Stack k is stack k/3 with another call on top, so stacks share callers.
func syntheticTrace(rng *rand.Rand, stacks int) (store.Record, error) {
	t := &trie.Trace{Trie: *trie.New()}
	var id store.ID
	binary.BigEndian.PutUint64(id.View[:], rng.Uint64())
	binary.BigEndian.PutUint64(id.View[8:], rng.Uint64())
	c := &t.Context
	c.Page, c.ViewID, c.Interval, c.Release = monthPage, string(id.View[:]), 10_000, "r"+fmt.Sprint(rng.IntN(2))
	c.Labels = trie.MakeLabels("device", []string{"mobile-low", "desktop-high"}[rng.IntN(2)])
	time := int64(0)
	for range 200 {
		k := rng.IntN(stacks)
		if rng.IntN(2) == 0 {
			k = rng.IntN(max(stacks/20, 1))
		}
		var stack []trie.Frame
		for ; k > 0; k /= 3 {
			stack = append([]trie.Frame{{Name: fmt.Sprintf("f%d", k), Resource: "https://x.example/app.js",
				Line: uint32(k), Column: 1}}, stack...)
		}
		time += 5000 + rng.Int64N(10_000)
		t.Samples = append(t.Samples, trie.Sample{Time: time, Node: t.Insert(stack...)})
	}
	payload, err := encode.EncodeTrace(t)
	return store.Record{ID: id, Pages: []string{monthPage}, Payload: payload}, err
}
