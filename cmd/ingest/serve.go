package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/store"
)

// serve runs the daemon until ctx is done.
func (c *config) serve(ctx context.Context, log *slog.Logger) error {
	options, err := c.collectOptions()
	if err != nil {
		return err
	}
	budgets, err := c.readBudgets()
	if err != nil {
		return err
	}
	options.Features = budgets.Features
	owners, err := c.readOwners()
	if err != nil {
		return err
	}
	links, err := c.links()
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	private, err := c.private(registry, log)
	if err != nil {
		return err
	}
	supervisor, err := findSupervisor(os.Getenv, log)
	if err != nil {
		log.Warn("the service manager is not told how the daemon is", "err", err)
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
	symbols, err := c.openSymbols(s, log)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	socket, err := listenSocket(c.data)
	if err != nil {
		log.Warn("no socket, so aggregate --data can not ask this daemon; use aggregate --addr", "err", err)
	}
	reads, surplus := newReads(), newSurplus()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), storeMetrics{s}, symbols, reads, surplus)
	source := query.Local{Reader: s.Reader, Memory: query.NewMemory(memoryForAnswers), Recent: query.NewRecent(ctx), Fine: query.NewFine(),
		Symbols: symbols.symbolizer(), Owners: owners, Links: links}
	board := c.board(query.Local{Reader: s.Reader, Symbols: source.Symbols, Owners: owners}, budgets, registry)
	options.Store, options.Metrics, options.Logger = s, registry, log
	options.KnownPages, options.Established = storedNames(ctx, s)
	if c.demo && len(options.Origins) > 0 { // else all may send
		options.Origins = append(options.Origins, private.url())
	}
	collector := collect.New(options)
	d := daemon{
		log: log, data: c.data, store: s, heap: c.heap, supervisor: supervisor, exitWhenStuck: c.exitWhenStuck, surplus: surplus,
		failed: make(chan error, 3), hangUp: hangUp, reread: reread{c, collector, private.guard, board, reads, log}.all,
	}
	outer := publicHandler(collector)
	inner := privateHandler(s, registry, &d.draining, log)
	gate := query.NewGate(query.GateOptions{Metrics: registry})
	answers{source, gate, c.heap, c.site}.add(inner)
	symbols.add(inner)
	addDashboard(inner, private.guard)
	if c.demo {
		addDemo(outer, inner, urlOf(public.Addr()))
		log.Info("demo", "url", private.url()+"/demo/")
	}
	inner.Handle("/api/v1/budgets", gate.Measure("/api/v1/budgets", board))
	inner.Handle("GET /api/v1/answers", query.Together(inner))
	d.work(ctx, d.maintain, d.roll, symbols.sweep, func(ctx context.Context) { evaluate(ctx, board, log) })
	d.start(public, outer, shareOf(c.maxConnections, descriptors(), 2))
	d.start(private, private.handler(inner), shareOf(maxPrivateConnections, descriptors(), 8))
	if socket != nil {
		d.start(socket, inner, shareOf(maxPrivateConnections, descriptors(), 8))
	}
	log.Info("listening", "public", public.Addr().String(), "private", private.Addr().String(), "data", c.data)
	return d.run(ctx) // which closes the store
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
