package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/store"
)

// grace is how long requests in flight may take once the daemon is told to stop: longer
// than a client has to send its body.
const grace = 12 * time.Second

// serve runs the daemon until ctx is done.
func (c *config) serve(ctx context.Context, log *slog.Logger) (err error) {
	options, err := c.collectOptions()
	if err != nil {
		return err
	}
	budgets, err := c.readBudgets()
	if err != nil {
		return err
	}
	options.Features = budgets.Features
	registry := prometheus.NewRegistry()
	private, err := c.private(registry, log)
	if err != nil {
		return err
	}
	hangUp := c.hangUps()
	defer signal.Stop(hangUp)
	// Listening comes first: a port that is taken ends the program before it touches
	// anything.
	public, err := net.Listen("tcp", c.listen)
	if err != nil {
		return err
	}
	defer func() { _ = public.Close() }()
	if err := private.listen(c.queryListen, log); err != nil {
		return err
	}
	defer func() { _ = private.Close() }()
	storeOptions := c.storeOptions()
	storeOptions.Logger = log
	s, err := store.Open(c.data, storeOptions)
	if err != nil {
		return hinted(err)
	}
	defer func() {
		if e := s.Close(); e != nil {
			err = errors.Join(err, fmt.Errorf("close store: %w", e))
		}
		log.Info("closed", "data", c.data)
	}()
	socket, err := listenSocket(c.data)
	if err != nil {
		log.Warn("no socket, so aggregate --data can not ask this daemon; use aggregate --addr", "err", err)
	}
	reads := newReads()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), storeMetrics{s}, reads)
	board := c.board(s, budgets, registry)
	options.Store, options.KnownPages, options.Metrics, options.Logger = s, knownPages(ctx, s), registry, log
	if c.demo && len(options.Origins) > 0 { // else all may send
		options.Origins = append(options.Origins, private.url())
	}
	collector := collect.New(options)
	d := daemon{log: log, store: s, heap: c.heap, failed: make(chan error, 3), hangUp: hangUp, reread: reread{c, collector, private.guard, board, reads, log}.all}
	outer := publicHandler(collector)
	inner := privateHandler(s, registry, &d.draining, log)
	gate := query.NewGate(query.GateOptions{Metrics: registry})
	answers{query.Local{Reader: s.Reader, Recent: query.NewRecent()}, gate, c.heap, c.site}.add(inner)
	if c.demo {
		addDemo(outer, inner, urlOf(public.Addr()))
		log.Info("demo", "url", private.url()+"/demo/")
	}
	inner.Handle("/api/v1/budgets", gate.Measure("/api/v1/budgets", board))
	var background sync.WaitGroup
	backgroundCtx, stop := context.WithCancel(ctx)
	background.Go(func() { d.roll(backgroundCtx) })
	background.Go(func() { evaluate(backgroundCtx, board, log) })
	defer func() { stop(); background.Wait() }()
	d.start(public, outer)
	d.start(private, private.handler(inner))
	if socket != nil {
		d.start(socket, inner)
	}
	log.Info("listening", "public", public.Addr().String(), "private", private.Addr().String(), "data", c.data)
	return d.wait(ctx)
}

// hinted adds what to do to errors of opening the store.
func hinted(err error) error {
	if x, ok := errors.AsType[*store.InUseError](err); ok {
		return fmt.Errorf("%w; one daemon serves a directory, so stop that one or use another --data", x)
	}
	return err
}

// listenSocket listens on the socket through which aggregate finds the daemon. One that
// is there is a leftover: who opened the store holds its lock.
func listenSocket(dir string) (net.Listener, error) {
	path := filepath.Join(dir, query.SocketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o660); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// daemon is the running servers.
type daemon struct {
	log      *slog.Logger
	store    *store.Store
	heap     *heap
	draining atomic.Bool
	servers  []*http.Server
	failed   chan error
	hangUp   chan os.Signal // for reread
	reread   func()
}

// start answers requests on ln.
func (d *daemon) start(ln net.Listener, h http.Handler) {
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(d.log.Handler(), slog.LevelDebug), // clients that hang up
	}
	d.servers = append(d.servers, srv)
	go func() { d.failed <- srv.Serve(ln) }()
}

// wait returns when ctx is done and what was in flight is answered, or a server fails,
// or the store does: a daemon that can not store must not look alive.
func (d *daemon) wait(ctx context.Context) error {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	failing := time.NewTicker(time.Second)
	defer failing.Stop()
	var cause error
	for running := true; running; {
		select {
		case cause = <-d.failed:
			running = false
		case <-ctx.Done():
			d.log.Info("shutting down", "cause", context.Cause(ctx))
			running = false
		case <-d.hangUp:
			d.reread()
		case <-tick.C:
			d.heap.shrink(time.Now())
			if err := d.store.Maintain(ctx); err != nil {
				d.log.Error("maintain store", "err", err)
			}
		case <-failing.C:
			if cause = d.store.Err(); cause != nil {
				running = false
			}
		}
	}
	d.draining.Store(true)
	return errors.Join(cause, d.drain(context.WithoutCancel(ctx)))
}

// roll keeps the rollups up to date until ctx is done.
func (d *daemon) roll(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var said time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := d.store.Roll(ctx); err != nil && ctx.Err() == nil && time.Since(said) > time.Minute {
			d.log.Error("roll up traces; queries read the traces instead, and it is tried again", "err", err)
			said = time.Now()
		}
	}
}

// drain finishes what is in flight, for at most grace, and then cuts off the rest: the
// store is closed next.
func (d *daemon) drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	ended := make(chan error, len(d.servers))
	for _, srv := range d.servers {
		go func() {
			err := srv.Shutdown(ctx)
			if err != nil {
				err = errors.Join(fmt.Errorf("finish requests: %w", err), srv.Close())
			}
			ended <- err
		}()
	}
	var err error
	for range d.servers {
		err = errors.Join(err, <-ended)
	}
	return err
}
