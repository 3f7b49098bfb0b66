package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/store"
)

// grace is how long requests in flight may take once the daemon is told to stop: longer
// than a client has to send its body.
const grace = 12 * time.Second

// serve runs the daemon until ctx is done.
func (c *config) serve(ctx context.Context, log *slog.Logger) (err error) {
	rules, err := c.rules()
	if err != nil {
		return fmt.Errorf("page rules: %w", err)
	}
	// Listening comes first: a port that is taken ends the program before it touches
	// anything.
	public, err := net.Listen("tcp", c.listen)
	if err != nil {
		return err
	}
	defer func() { _ = public.Close() }()
	private, err := net.Listen("tcp", c.queryListen)
	if err != nil {
		return err
	}
	defer func() { _ = private.Close() }()
	options := c.storeOptions()
	options.Logger = log
	s, err := store.Open(c.data, options)
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
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), storeMetrics{s})
	handler := collect.New(collect.Options{
		Store: s, Pages: rules, KnownPages: knownPages(ctx, s), Origins: c.origins, FirstParty: c.firstParty,
		Limits: c.limits, Metrics: registry, Logger: log,
	})
	var draining atomic.Bool
	inner := privateHandler(s, registry, &draining)

	d := daemon{log: log, store: s, draining: &draining, failed: make(chan error, 3)}
	d.start(public, handler)
	d.start(private, inner)
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

// knownPages returns the pages of this hour, so that a restart does not begin the count
// of distinct pages anew.
func knownPages(ctx context.Context, s *store.Store) []string {
	now := time.Now()
	catalog, err := query.Local{Reader: s.Reader}.Catalog(ctx, now.Truncate(time.Hour), now)
	if err != nil {
		return nil // the count only bounds growth
	}
	var pages []string
	for _, e := range catalog.Pages() {
		pages = append(pages, e.Page)
	}
	return pages
}

// privateHandler serves what is not for the internet.
func privateHandler(s *store.Store, registry *prometheus.Registry, draining *atomic.Bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/api/v1/", query.Handler(query.Local{Reader: s.Reader}, time.Now))
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		switch err := s.Err(); {
		case draining.Load():
			http.Error(w, "shutting down", http.StatusServiceUnavailable)
		case err != nil:
			http.Error(w, "the store takes no traces: "+err.Error(), http.StatusServiceUnavailable)
		default:
			fmt.Fprintln(w, "ready")
		}
	})
	return mux
}

// daemon is the running servers.
type daemon struct {
	log      *slog.Logger
	store    *store.Store
	draining *atomic.Bool
	servers  []*http.Server
	failed   chan error
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
	var cause error
	for running := true; running; {
		select {
		case cause = <-d.failed:
			running = false
		case <-ctx.Done():
			d.log.Info("shutting down", "cause", context.Cause(ctx))
			running = false
		case <-tick.C:
			if err := d.store.Maintain(ctx); err != nil {
				d.log.Error("maintain store", "err", err)
			}
			if cause = d.store.Err(); cause != nil {
				running = false
			}
		}
	}
	d.draining.Store(true)
	return errors.Join(cause, d.drain(context.WithoutCancel(ctx)))
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
