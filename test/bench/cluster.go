package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// storeTook is the simulated duration of a request to the bucket's store, typical within one
// region.
const storeTook = 30 * time.Millisecond

// sharedBucket measures queries of a day of a page in a bucket, with many traces compared with a
// tenth of them and with a directory, and the cost of requests and bytes. The store runs in the
// same process, with added latency.
func sharedBucket(ctx context.Context, traces []trace, count, rounds int, progress io.Writer) ([]figure, error) {
	fakebucket.Env(func(key, value string) { _ = os.Setenv(key, value) })
	r, err := newReplay(traces)
	if err != nil {
		return nil, err
	}
	page := r.decoded[0].Context.Page
	var small, large *inBucket
	for _, f := range []struct {
		to **inBucket
		n  int
	}{{&small, count / 10}, {&large, count}} {
		fmt.Fprintf(progress, "bench: put %d traces of 24 hours into a bucket …\n", f.n)
		if *f.to, err = fillBucket(ctx, r, f.n, 24, 4); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "fieldtrie-bench")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	fmt.Fprintf(progress, "bench: store %d traces of 24 hours in a directory …\n", count)
	inDirectory, err := fillDay(ctx, r, filepath.Join(dir, "day"), count)
	if err != nil {
		return nil, err
	}
	var fewer, more []day
	var onDisk asked
	for range rounds {
		a, err := small.ask(ctx, page)
		b, err2 := large.ask(ctx, page)
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		fewer, more = append(fewer, a), append(more, b)
	}
	if onDisk, err = inDirectory.ask(ctx, page, 24*time.Hour, rounds); err != nil {
		return nil, err
	}
	of := func(list []day, f func(day) float64) float64 {
		var out []float64
		for _, d := range list {
			out = append(out, f(d))
		}
		return median(out)
	}
	cold := func(d day) float64 { return d.cold }
	figures := []figure{
		{"cluster/day_cold_gets", of(more, func(d day) float64 { return d.coldGets }), "requests", "<= 50"},
		{"cluster/day_cold_ms", of(more, cold) * 1000, "ms", "<= 300"},
		{"cluster/day_10x_traces_vs_1x", of(more, cold) / of(fewer, cold), "times the time", "<= 1.5"},
		{"cluster/day_warm_gets", of(more, func(d day) float64 { return d.warmGets }), "requests", ""},
		{"cluster/day_warm_ms", of(more, func(d day) float64 { return d.warm }) * 1000, "ms", ""},
		{"cluster/day_directory_ms", onDisk.wall * 1000, "ms", ""},
		{"cluster/day_traces", of(more, func(d day) float64 { return d.traces }), "traces", ""},
		{"cluster/roll_us_per_trace", large.roll / float64(count) * 1e6, "µs CPU", "<= 150"},
	}
	fmt.Fprintln(progress, "bench: an hour of segments, rolled up every 15 s …")
	costs, err := bucketCosts(ctx, r, count)
	return append(figures, costs...), err
}

// inBucket is a bucket in memory that is filled with traces, with the requests that filled it.
type inBucket struct {
	filled
	server *fakebucket.Server
	wrote  objects.Requests
	bytes  float64 // in the bucket, after unneeded objects are deleted
}

// fillBucket stores n traces over some hours, with perHour rollups an hour.
func fillBucket(ctx context.Context, r *replay, n, hours, perHour int) (*inBucket, error) {
	f := &inBucket{server: fakebucket.New(1), filled: filled{now: filling()}}
	f.server.Now = f.clock
	if err := f.open(ctx, f.server.Client().Bucket(f.clock)); err != nil {
		return nil, err
	}
	r.sent.Store(0)
	r.perRelease = uint64(n/2 + 1)
	which := r.random(n, r.all)
	steps := hours * perHour
	for step := range steps {
		f.now = filling().Add(time.Duration(step) * time.Hour / time.Duration(perHour))
		if err := f.append(ctx, r, which[n*step/steps:n*(step+1)/steps]); err != nil {
			return nil, err
		}
		f.rollUp(ctx)
	}
	f.settle(ctx)
	if c := f.node.Counters(); c.RolledUp < uint64(n) || c.LostRaces > 0 {
		return nil, fmt.Errorf("%d of %d traces are rolled up, and %d races lost", c.RolledUp, n, c.LostRaces)
	}
	f.wrote = f.place.Requests()
	var err error
	f.bytes, err = f.weigh(ctx, "raw/", "hours/", "days/")
	return f, err
}

// day is the cost of a query for 24 hours, with a cold and with a warm cache.
type day struct{ cold, coldGets, warm, warmGets, traces float64 }

func (f *inBucket) ask(ctx context.Context, page string) (d day, err error) {
	f.server.Took = storeTook
	defer func() { f.server.Took = 0 }()
	b := f.server.Client().Bucket(f.clock)
	r, err := shared.OpenReader(ctx, b, shared.Options{})
	if err != nil {
		return d, err
	}
	sel := selection.Selection{Page: page, Since: filling(), Lag: 10 * time.Second}
	ask := func() (took, gets float64, err error) {
		before, begin := b.Requests(), time.Now()
		result, err := query.Local{Reader: r}.Profile(ctx, sel, nil)
		if err == nil && len(result.Stats.Warnings) > 0 {
			err = fmt.Errorf("the result is not complete: %s", result.Stats.Warnings[0])
		}
		if err != nil {
			return 0, 0, err
		}
		d.traces = float64(result.Profile.Traces)
		after := b.Requests()
		return time.Since(begin).Seconds(), float64(after.Get + after.List - before.Get - before.List), nil
	}
	if d.cold, d.coldGets, err = ask(); err != nil {
		return d, err
	}
	d.warm, d.warmGets, err = ask()
	return d, err
}

// Prices of S3 Standard in dollars, and assumptions.
const (
	putPrice, getPrice = 5e-6, 0.4e-6 // of a request; a list is a put
	bytePrice          = 0.023 / 1e9  // for a month
	segmentsPerSecond  = 4            // of a machine
	keptDays           = 7
)

// bucketCosts counts the requests of an hour in which nodes store segments and roll up every 15 s,
// and returns the cost of a million traces at some rates.
func bucketCosts(ctx context.Context, r *replay, count int) ([]figure, error) {
	n := max(count/4, 240)
	f, err := fillBucket(ctx, r, n, 1, 240)
	if err != nil {
		return nil, err
	}
	segments := float64(240 * ((n/240 + perSegment - 1) / perSegment))
	bytes := f.bytes / float64(n)
	puts, gets := float64(f.wrote.Put+f.wrote.List)-segments, float64(f.wrote.Get)-segments
	out := []figure{
		{"cluster/rolling_puts_per_hour", puts, "PUT and LIST", ""},
		{"cluster/rolling_gets_per_hour", gets, "GET", ""},
		{"cluster/bucket_bytes_per_trace", bytes, "bytes", ""},
	}
	for _, x := range []struct{ rate, machines float64 }{{1000, 2}, {5000, 3}, {10_000, 4}} {
		stored := x.machines * segmentsPerSecond * 3600
		hourly := (puts+stored)*putPrice + (gets+stored*x.machines)*getPrice
		perTrace := hourly/(3600*x.rate) + bytes*bytePrice*keptDays/30
		out = append(out, figure{fmt.Sprintf("cluster/dollars_a_million_at_%.0f_per_s", x.rate),
			perTrace * 1e6, "$", ""})
	}
	return out, nil
}
