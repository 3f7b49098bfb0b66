package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/loadgen"
)

// measure loads a daemon and reports what came of it.
func (c *config) measure(ctx context.Context, stderr io.Writer) (r *report, err error) {
	var d *daemon
	if c.options.Addr == "" {
		dir, err := os.MkdirTemp("", "fieldtrie-load")
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if d, err = c.startDaemon(ctx, dir, stderr); err != nil {
			return nil, err
		}
		defer func() {
			d.kill() // which does nothing once it was stopped
			if d.group != nil {
				d.group.remove()
			}
		}()
		c.options.Addr, c.queryAddr = d.public, d.private
	}
	fresh := d != nil && d.fresh
	g, err := loadgen.New(c.options)
	if err != nil {
		return nil, usageError{err}
	}
	r = newReport(c)
	diskBefore := diskUse(c.data)
	since := time.Now()
	if err := c.load(ctx, g, d, r, stderr); err != nil {
		return nil, err
	}
	if c.killEvery == 0 { // a daemon that is started anew counts from nothing
		x, err := readRolling(ctx, c.queryAddr)
		if err != nil {
			return nil, err
		}
		r.RollCPUShare, r.RollCPUPerTraceMS = x.share, x.perTrace
	}
	if c.verify {
		scope := loadgen.Scope{QueryAddr: c.queryAddr, Pages: c.verifyPages, Late: c.late}
		if !fresh || len(c.attack.modes) > 0 { // pages of others are in the catalogue
			scope.Since = since
		}
		fmt.Fprintln(stderr, "load: verifying …")
		began := time.Now()
		v, err := g.Verify(context.WithoutCancel(ctx), scope)
		if err != nil {
			err = fmt.Errorf("verify: %w", err)
			if d != nil && errors.Is(err, context.DeadlineExceeded) {
				return nil, fmt.Errorf("%w\nthe goroutines of ingest:\n%s", err, d.goroutines())
			}
			return nil, errors.Join(err, d.logged())
		}
		r.addVerdict(v, time.Since(began))
	}
	r.DiskLiveBytes = diskUse(c.data) - diskBefore
	if d != nil {
		if err := d.stop(); err != nil {
			return nil, err
		}
		r.DiskBytes = diskUse(c.data) - diskBefore
	}
	if d != nil && d.group != nil {
		r.MemoryBytes, r.PeakGroupBytes = c.memory, d.group.peak()
	}
	r.perTrace()
	return r, nil
}

// load runs the generator, and beside it whatever watches or kills the daemon.
func (c *config) load(ctx context.Context, g *loadgen.Generator, d *daemon, r *report, stderr io.Writer) error {
	pid := func() int { return c.pid }
	if d != nil {
		pid = d.pid
	}
	w := watch{pid: pid, self: os.Getpid()}
	w.begin()
	polling, stop := context.WithCancel(ctx)
	defer stop()
	over := make(chan struct{})
	go func() {
		g.Run(polling)
		close(over)
	}()
	attacked := c.attack.start(polling, c.options.Addr, c.options.Networks > 0)
	polled := c.dashboards.start(polling, c.queryAddr, c.options.Pages, c.options.Zipf)
	var killed chan error
	if c.killEvery > 0 {
		killed = make(chan error, 1)
		go func() { killed <- d.killOften(c.killEvery, g, &w) }()
	}
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	hung := stall{limit: c.stall}
	p := progress{g: g, w: stderr, mode: c.mode(), started: time.Now(), of: c.options.For}
	for running := true; running; {
		select {
		case <-over:
			running = false
		case <-tick.C:
			w.look()
			p.show()
			if n := g.Counts(); hung.look(time.Now(), n, g.UnderWay()) {
				err := c.stalled(ctx, d, n.Acknowledged)
				stop()
				if killed != nil { // or it could start the daemon again when nobody stops that any more
					err = errors.Join(err, <-killed)
				}
				return err
			}
		}
	}
	w.look()
	stop()
	r.Dashboards, r.Attack = polled(), attacked()
	r.addLoad(g, &w)
	r.UsualP99MS = median(p.p99s)
	if killed != nil {
		if err := <-killed; err != nil {
			return err
		}
		r.Kills, r.RestartSeconds = d.kills, round(d.slowest.Seconds())
	}
	return nil
}

// progress tells how far the load is.
type progress struct {
	g       *loadgen.Generator
	w       io.Writer
	mode    string
	started time.Time
	of      time.Duration
	shown   time.Duration
	last    loadgen.Counts
	p99s    []float64 // in ms, a line each
}

// show writes a line, once a second or, on long runs, ten.
func (p *progress) show() {
	now := time.Since(p.started)
	every := time.Second
	if p.of > 2*time.Minute {
		every = 10 * time.Second
	}
	if now-p.shown < every-50*time.Millisecond { // a tick may come early
		return
	}
	c := p.g.Counts()
	rate := float64(c.Acknowledged-p.last.Acknowledged) / (now - p.shown).Seconds()
	p.shown, p.last = now, c
	fmt.Fprintf(p.w, "load: %s, %3.0f s  %9d traces acknowledged, %6.0f/s", p.mode, now.Seconds(), c.Acknowledged, rate)
	if n := sum(c.Refused) + c.Broken + c.Unconnected; n > 0 {
		fmt.Fprintf(p.w, ", %d requests refused, %d not answered, %d not connected", sum(c.Refused), c.Broken, c.Unconnected)
	}
	p99 := milliseconds(p.g.Recent.Percentile(0.99))
	p.p99s = append(p.p99s, p99)
	fmt.Fprintf(p.w, "; p50 %.1f ms, p99 %.1f\n", milliseconds(p.g.Recent.Percentile(0.5)), p99)
	p.g.Recent.Reset()
}

// median returns the middle one of values, 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

func sum(m map[int]uint64) (n uint64) {
	for _, v := range m {
		n += v
	}
	return n
}

// emptyDir reports whether there is nothing in a directory, or no directory.
func emptyDir(dir string) bool {
	entries, err := os.ReadDir(dir)
	return len(entries) == 0 && (err == nil || errors.Is(err, os.ErrNotExist))
}
