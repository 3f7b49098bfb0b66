package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/test/loadgen"
)

// manyTimeout is how long to wait for a response if another daemon can be tried. A
// daemon gives a segment up after 8 s.
const manyTimeout = 10 * time.Second

// measure loads daemons and reports the results.
func (c *config) measure(ctx context.Context, stderr io.Writer) (r *report, err error) {
	x := c.running()
	if len(c.options.Addrs) == 0 {
		dir, err := os.MkdirTemp("", "fieldtrie-load")
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		x, err = c.startCluster(ctx, dir, stderr)
		defer x.end()
		if err != nil {
			return nil, err
		}
	}
	o := c.options
	o.Addrs = x.public
	if len(x.public) > 1 {
		o.Timeout = manyTimeout
	}
	g, err := loadgen.New(o)
	if err != nil {
		return nil, usageError{err}
	}
	r = newReport(c)
	diskBefore := diskUse(x.disk)
	since := time.Now()
	if err := c.load(ctx, g, x, r, stderr); err != nil {
		return nil, err
	}
	if err := x.rollUp(context.WithoutCancel(ctx), r, stderr); err != nil {
		return nil, err
	}
	if c.verify {
		if err := c.verifyAll(context.WithoutCancel(ctx), g, x, since, r, stderr); err != nil {
			return nil, err
		}
	}
	if c.again {
		did, err := c.restart(context.WithoutCancel(ctx), x, stderr)
		if err != nil {
			return nil, err
		}
		r.Restarted = &did
	}
	r.DiskLiveBytes = diskUse(x.disk) - diskBefore
	if len(x.nodes) > 0 {
		calm := c.attackAgain(ctx, x)
		began := time.Now()
		if err := x.stop(); err != nil {
			return nil, err
		}
		r.StopSeconds = round(time.Since(began).Seconds())
		calm()
		r.DiskBytes = diskUse(x.disk) - diskBefore
	}
	if x.group != nil {
		r.MemoryBytes, r.PeakGroupBytes = c.memory, x.group.peak()
	}
	r.perTrace()
	return r, nil
}

// rollUp waits until all traces are rolled up, because the CPU time of rollups belongs to the load.
func (x *cluster) rollUp(ctx context.Context, r *report, stderr io.Writer) error {
	took, err := x.settle(ctx, stderr)
	if err != nil {
		return errors.Join(err, x.logged())
	}
	r.SettleSeconds, r.CPUSeconds = round(took.Seconds()), 0
	for _, w := range x.watches {
		w.look()
		r.CPUSeconds = round(r.CPUSeconds + w.used().Seconds())
	}
	return nil
}

// verifyAll checks that all acknowledged traces are stored.
func (c *config) verifyAll(ctx context.Context, g *loadgen.Generator, x *cluster, since time.Time, r *report,
	stderr io.Writer) error {
	scope := loadgen.Scope{QueryAddrs: x.private, Pages: c.verifyPages}
	if len(x.private) > 1 {
		scope.Everywhere = c.everywhere
	}
	if !x.fresh || len(c.attack.modes) > 0 { // the catalogue has other pages, too
		scope.Since = since
	}
	fmt.Fprintln(stderr, "load: verifying …")
	began := time.Now()
	v, err := g.Verify(ctx, scope)
	if err != nil {
		err = fmt.Errorf("verify: %w", err)
		if errors.Is(err, context.DeadlineExceeded) {
			return errors.Join(err, x.goroutines())
		}
		return errors.Join(err, x.logged())
	}
	r.addVerdict(v, time.Since(began))
	return nil
}

// load runs the generator in parallel with the monitoring of daemons and the fault injection.
func (c *config) load(ctx context.Context, g *loadgen.Generator, x *cluster, r *report, stderr io.Writer) error {
	own := &watch{pid: os.Getpid}
	for _, w := range append(x.watches, own) {
		w.begin()
	}
	polling, stop := context.WithCancel(ctx)
	defer stop()
	over := make(chan struct{})
	go func() {
		g.Run(polling)
		close(over)
	}()
	attacked := c.attack.start(polling, x.public[0], x.private[0], c.options.Networks > 0)
	asked := func() *cheap { return nil }
	if c.asks() {
		asked = startCheap(polling, x.private[0])
	}
	polled := c.dashboards.start(polling, x.private[0], c.options.Pages, c.options.Zipf)
	h := startHealth(polling, x, g)
	did, calm := c.trouble.start(x, g, h)
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	hung := stall{limit: c.stall}
	if hung.limit > 0 {
		hung.limit += c.trouble.longest(len(x.public))
	}
	p := progress{g: g, w: stderr, mode: c.mode(), started: time.Now(), of: c.options.For}
	for running := true; running; {
		select {
		case <-over:
			running = false
		case <-tick.C:
			for _, w := range x.watches {
				w.look()
			}
			p.show()
			if n := g.Counts(); hung.look(time.Now(), n, g.UnderWay()) {
				err := hung.stalled(ctx, x, n.Acknowledged)
				stop()
				return errors.Join(err, calm()) // otherwise it could restart a daemon after the final stop
			}
		}
	}
	for _, w := range append(x.watches, own) {
		w.look()
	}
	stop()
	r.Dashboards, r.Attack, r.Cheap = polled(), attacked(), asked()
	err := calm() // before the watches are read: restarting a daemon updates them
	r.addLoad(g, x.watches, own)
	r.UsualP99MS = median(p.p99s)
	if err != nil {
		return errors.Join(err, x.logged())
	}
	h.last.Wait()
	r.addTrouble(x, did, h)
	return nil
}

// progress shows the progress of the load.
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

// show writes a line every second, on long runs every ten.
func (p *progress) show() {
	now := time.Since(p.started)
	every := time.Second
	if p.of > 2*time.Minute {
		every = 10 * time.Second
	}
	if now-p.shown < every-50*time.Millisecond { // a tick may be early
		return
	}
	c := p.g.Counts()
	rate := float64(c.Acknowledged-p.last.Acknowledged) / (now - p.shown).Seconds()
	p.shown, p.last = now, c
	fmt.Fprintf(p.w, "load: %s, %3.0f s  %9d traces acknowledged, %6.0f/s", p.mode, now.Seconds(), c.Acknowledged, rate)
	if n := sum(c.Refused) + c.Broken + c.Unconnected; n > 0 {
		fmt.Fprintf(p.w, ", %d requests refused, %d not answered, %d not connected", sum(c.Refused), c.Broken,
			c.Unconnected)
	}
	p99 := milliseconds(p.g.Recent.Percentile(0.99))
	p.p99s = append(p.p99s, p99)
	fmt.Fprintf(p.w, "; p50 %.1f ms, p99 %.1f\n", milliseconds(p.g.Recent.Percentile(0.5)), p99)
	p.g.Recent.Reset()
}

// median returns the median of values, 0 if there are none.
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

// emptyDir reports whether a directory is empty or missing.
func emptyDir(dir string) bool {
	entries, err := os.ReadDir(dir)
	return len(entries) == 0 && (err == nil || errors.Is(err, os.ErrNotExist))
}
